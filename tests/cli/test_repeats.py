"""`--samples` and `--temperature` as a user meets them: votes, means, and how far draws agree."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from autoj.datasets import open_cases
from autoj.records import Request
from autoj.runs import judge_run, make_spec, open_run

from ..scripted import CARD, Recorder

DRAWN = {"samples": 3, "temperature": 0.7}


def record(tmp_path: Path, pairs_file: Path, task: str, answer) -> str:
    """A judge that replays a run in which each question was drawn three times."""
    protocol = {"judge": "pairwise", "rate": "single"}[task]
    spec = make_spec(task, CARD, protocol=protocol, **DRAWN)
    with open_run(tmp_path / "old", spec, open_cases(pairs_file)) as folder:
        judge_run(folder, spec, Recorder(answer))
    return f"scripted:{tmp_path / 'old'}"


def decision(request: Request) -> str:
    """Response a by two draws of three; case-1 splits, and case-2 is mostly unreadable."""
    first = "1" if request.shown == (0, 1) else "2"
    other = {"1": "2", "2": "1"}[first]
    menu = [f"Response {first}", f"Response {other}", f"Response {first}"]
    if request.case_id == "case-1":
        menu[2] = "Tie"
    if request.case_id == "case-2":
        menu[:2] = ["Response 7", "Response 8"]
    return f"- point: it is clear.\n\nSo, the final decision is {menu[request.sample]}."


@pytest.fixture
def judged(run, tmp_path, pairs_file):
    judge = record(tmp_path, pairs_file, "judge", decision)
    arguments = ("--judge", judge, "--protocol", "pairwise", "--samples", 3, "--temperature", 0.7)
    return run("judge", pairs_file, *arguments, "--out", "run")


def test_the_table_and_the_summary_show_the_votes(judged):
    code, out, _ = judged
    assert code == 0
    assert max(map(len, out.splitlines())) <= 80
    lines = {line.split()[0]: line for line in out.splitlines() if line.strip()}
    assert "votes" in lines["case"]
    assert "P(tie)" not in lines["case"]
    assert lines["case-0"].split()[1:5] == ["a", "a", "0.67,", "0.67"]
    assert lines["case-1"].split()[1:5] == ["split", "b", "0.33,", "0.33"]
    assert lines["case-2"].split()[1:5] == ["unknown", "a", "-,", "-"]
    said = " ".join(out.split())
    assert "3 of each question; 66.7 % of the readable ones agree with their vote" in said
    assert "2 votes without a majority" in said
    assert "4 and 0" in said  # unreadable draws


def test_json_holds_the_spread(run, judged):
    rows = [json.loads(line) for line in Path("run/verdicts.jsonl").read_text().splitlines()]
    by_case = {row["case_id"]: row for row in rows}
    assert by_case["case-0"]["vote_shares"] == pytest.approx([2 / 3, 2 / 3])
    assert by_case["case-1"]["rule"] == "split"
    assert (by_case["case-2"]["rule"], by_case["case-2"]["n_unreadable"]) == ("incomplete", 4)
    _, out, _ = run("show", "run", "--json")
    summary = json.loads(out)["summary"]
    assert (summary["n_split"], summary["vote_share"]) == (2, pytest.approx(2 / 3))
    assert summary["rating_sd"] is None


def test_a_case_shows_each_draw_and_its_vote(run, judged):
    code, out, _ = run("show", "run", "case-0")
    assert code == 0
    assert max(map(len, out.splitlines())) <= 80
    for text in ("a then b, sample 1", "b then a, sample 3", "Vote on a then b: a, by 66.7 %"):
        assert text in out
    assert "Vote on b then a: no majority; at most 33.3 %" in run("show", "run", "case-1")[1]
    assert "Vote on a then b: too few readable samples" in run("show", "run", "case-2")[1]
    assert "(no decision has more than half of an order's" in run("show", "run", "case-1")[1]


def test_ratings_are_shown_with_their_deviation(run, tmp_path, pairs_file):
    judge = record(
        tmp_path, pairs_file, "rate", lambda request: f"Good. Rating: [[{5 + request.sample}]]"
    )
    arguments = ("--judge", judge, "--protocol", "single", "--samples", 3, "--temperature", 0.7)
    code, out, _ = run("rate", pairs_file, *arguments, "--out", "run")
    assert code == 0
    assert max(map(len, out.splitlines())) <= 80
    assert "rating ± sd" in out
    assert "6.0 ± 1.0" in out
    assert "standard deviation of a rating 1.00 on average" in " ".join(out.split())
    _, out, _ = run("show", "run", "case-0")
    assert "Rating: 6.0 ± 1.0, 6.0 ± 1.0 (mean ± standard deviation of the samples)" in out
    row = json.loads(Path("run/verdicts.jsonl").read_text().splitlines()[0])
    assert (row["ratings"], row["rating_sds"]) == ([6, 6], [1, 1])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--protocol", "pairwise", "--samples", 3), "Add --temperature 0.7"),
        (
            ("--protocol", "pairwise-verdict", "--samples", 3, "--temperature", 1),
            "scores choices and samples no text",
        ),
    ],
)
def test_draws_that_would_be_the_same_are_one_clear_error(run, pairs_file, arguments, message):
    code, out, err = run("judge", pairs_file, "--judge", "scripted:none", *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert not Path("runs").exists()


@pytest.mark.parametrize("arguments", [("--samples", 0), ("--temperature", -1)])
def test_numbers_below_the_least_are_refused(run, pairs_file, arguments):
    assert run("judge", pairs_file, *arguments)[0] == 2
