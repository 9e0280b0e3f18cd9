"""`autoj calibrate` as a user meets it."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from autoj.datasets import open_cases
from autoj.jsonl import write_records
from autoj.judges import load_card
from autoj.records import Failure, JudgeCard, Request
from autoj.runs import judge_run, make_spec, open_run

from ..scripted import CARD, Killed, Recorder

N = 240
CARD_TEXT = """\
title: A script  # that reads lengths
backend: scripted
model: script
wrapper: none
protocols: [pairwise-by-rating, pairwise-verdict]
context_tokens: 4096
"""


def by_words(request: Request) -> str | tuple[float, ...]:
    """Longer is better: a rating around the number of words, or odds of what the page shows."""
    page = request.messages[0].content
    if len(request.choices or ()) == 10:
        n_words = page.count("word")
        return tuple(-0.5 * (rating - n_words) ** 2 for rating in range(1, 11))
    if request.choices is None:
        return "So, the final decision is Tie."
    first, second = page.split("[Response 1]")[1].split("[Response 2]")
    # The first on the page is liked a little better; a tie has always the same chance.
    gap = 0.3 * (first.count("word") - second.count("word")) + 0.1
    return (gap / 2, -gap / 2, -1.0)


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    """Labelled pairs: people like the longer response, not always, and near ones often tie."""
    draw = random.Random(3)
    rows = []
    for number in range(N):
        n_words = draw.randint(1, 9), draw.randint(1, 9)
        gap = 0.5 * (n_words[0] - n_words[1]) + draw.gauss(0, 1)
        rows.append(
            {
                "id": f"case-{number}",
                "query": f"Question {number}?",
                "responses": [" ".join(["word"] * n) for n in n_words],
                "label": "tie" if abs(gap) < 0.4 else "a" if gap > 0 else "b",
            }
        )
    write_records(tmp_path / "val.jsonl", rows)
    return tmp_path / "val.jsonl"


def judged(
    data: Path, folder: str, protocol: str = "pairwise-by-rating", **settings: object
) -> str:
    """A finished run in a folder beside the data."""
    card = settings.pop("card", CARD)
    answer = settings.pop("answer", by_words)
    assert isinstance(card, JudgeCard)
    spec = make_spec("judge", card, protocol=protocol, **settings)  # type: ignore[arg-type]
    with open_run(data.parent / folder, spec, open_cases(data)) as opened:
        judge_run(opened, spec, Recorder(answer))  # type: ignore[arg-type]
    return folder


@pytest.mark.parametrize("protocol", ["pairwise-by-rating", "pairwise-verdict"])
def test_the_fit_is_shown_as_of_the_pairs_it_was_fitted_on(run, pairs, protocol):
    code, out, _ = run("calibrate", judged(pairs, "val", protocol))
    assert code == 0
    told = " ".join(out.split())
    for text in (
        f"script ({protocol})", "val.jsonl: ", "weighted to 30", "on the pairs it was fitted on",
        "in-sample", "before after held out", "--write CARD", "log-loss", "Brier",
    ):  # fmt: skip
        assert text in told
    assert max(map(len, out.splitlines())) <= 80
    assert ("log-odds" in told or "exactly level" in told) == (protocol == "pairwise-verdict")


def test_surface_of_other_pairs_counts_beside_the_judge(run, pairs, tmp_path):
    judged(pairs, "val")
    (tmp_path / "mine.yaml").write_text(CARD_TEXT, encoding="utf-8")
    draw = random.Random(4)
    others = []
    for number in range(700):
        n_lines = draw.randint(1, 9), draw.randint(1, 9)
        others.append(
            {
                "query": f"Another {number}?",
                "responses": ["\n".join(["word"] * n) for n in n_lines],
                "label": "a" if n_lines[0] + draw.gauss(0, 1) > n_lines[1] else "b",
            }
        )
    own = json.loads(pairs.read_text(encoding="utf-8").splitlines()[0])
    tie = {"query": "Level?", "responses": ["one", "two"], "label": "tie"}
    write_records(tmp_path / "others.jsonl", [*others, own, tie])
    code, out, err = run("calibrate", "val", "--surface", "others.jsonl", "--write", "mine.yaml")
    assert code == 0
    assert "1 rows of others.jsonl ask a query of the run: left out" in err
    assert "style features characters" in " ".join(out.split())
    fitted = load_card(str(tmp_path / "mine.yaml")).calibration["pairwise-by-rating"]
    assert "lines" in fitted.surface
    assert (fitted.fitted_on or "").endswith("; style features: 700 decided pairs of others.jsonl")


def test_too_few_pairs_for_surface_are_told(run, pairs):
    judged(pairs, "val")
    code, _, err = run("calibrate", "val", "--surface", "val.jsonl")
    assert code == 2
    assert "found 0" in err


def test_json_holds_the_fit(run, pairs):
    judged(pairs, "val", "pairwise-verdict")
    code, out, _ = run("calibrate", "val", "--tie-share", "file", "--json")
    assert code == 0
    found = json.loads(out)
    rows = [json.loads(line) for line in pairs.read_text().splitlines()]
    labels = [row["label"] for row in rows]
    fit = found["fit"]
    assert fit["n"] == {name: labels.count(name) for name in ("a", "b", "tie")}
    assert fit["tie_share"] == labels.count("tie") / N
    assert (found["protocol"], found["card"]) == ("pairwise-verdict", None)
    assert fit["after"]["log_loss"] < fit["before"]["log_loss"]
    assert fit["after"]["brier"] < fit["before"]["brier"]
    assert str(pairs.parent) not in out.replace(json.dumps(found["run"]), "")


def test_written_into_the_card_it_makes_the_next_verdicts(run, pairs, tmp_path):
    judged(pairs, "val")
    (tmp_path / "judge").mkdir()
    card = tmp_path / "judge" / "judge.yaml"
    card.write_text(CARD_TEXT)
    code, out, err = run("calibrate", "val", "--write", "judge")
    assert code == 0
    assert "was written to judge/judge.yaml" in err
    assert "--write CARD" not in out
    assert card.read_text().startswith(CARD_TEXT)
    fitted = load_card("judge").calibration["pairwise-by-rating"]
    assert f"{fitted.temperature:g}" in out
    assert fitted.fitted_on is not None
    assert fitted.fitted_on.startswith("val.jsonl: ")
    # The same fit comes of a run that a calibration was at work in.
    judged(pairs, "again", card=load_card("judge"))
    code, out, _ = run("calibrate", "again", "--json")
    assert json.loads(out)["fit"]["calibration"]["temperature"] == fitted.temperature
    code, out, _ = run("show", "again")
    assert "calibrated: temperature" in " ".join(out.split())
    assert "val.jsonl" in out
    code, out, _ = run("show", "again", "case-0")
    assert "Calibrated: P(a)" in out
    assert "a alone" in out


def test_the_bench_says_whose_ties_they_are_and_searches_no_other(run, pairs, tmp_path):
    card = tmp_path / "judge.yaml"
    card.write_text(CARD_TEXT)
    judged(pairs, "val")
    run("calibrate", "val", "--write", card, "--tie-share", "0.5")
    judged(pairs, "new", card=load_card(str(card)))
    code, out, _ = run("bench", "pairs", pairs, "--run", "new")
    told = " ".join(out.split())
    assert code == 0
    assert "ties by the card's calibration" in told
    assert "fitted on val.jsonl: " in told
    assert "in-sample" not in told
    assert "agreement Not applicable: each response is rated alone." in told
    code, out, _ = run("bench", "pairs", pairs, "--run", "new", "--json")
    found = json.loads(out)
    figures = {estimate["name"]: estimate["value"] for estimate in found["estimates"]}
    verdicts = [json.loads(line) for line in Path("new/verdicts.jsonl").read_text().splitlines()]
    labels = [json.loads(line)["label"] for line in pairs.read_text().splitlines()]
    winners = [verdict["winner"] for verdict in verdicts]
    assert winners.count("tie") > sum(len(set(verdict["ratings"])) == 1 for verdict in verdicts)
    right = sum(winner == label for winner, label in zip(winners, labels, strict=True))
    assert figures["averaged accuracy"] == pytest.approx(right / N)
    assert figures["accuracy"] is None
    # Without the calibration the same ratings have no ties but equal ones, and say so.
    code, out, _ = run("bench", "pairs", pairs, "--run", "val")
    assert "equal ratings are a tie" in " ".join(out.split())
    assert "tie band chosen in-sample" in out


def test_a_calibrated_judge_takes_no_tie_band(run, pairs, monkeypatch, tmp_path):
    judged(pairs, "old")
    card = tmp_path / "judge.yaml"
    card.write_text(CARD_TEXT.replace("model: script", "model: old"))
    with card.open("a") as stream:
        stream.write("calibration: {pairwise-by-rating: {temperature: 1, tie: 1}}\n")
    code, _, err = run("bench", "pairs", pairs, "--judge", card, "--validation", pairs)
    assert code == 2
    assert "this judge's card has a calibration" in err


def test_a_calibrated_pairwise_judge_keeps_its_raw_orders(run, pairs, tmp_path):
    judged(pairs, "raw", "pairwise-verdict")
    card = tmp_path / "judge.yaml"
    card.write_text(CARD_TEXT)
    run("calibrate", "raw", "--write", card, "--tie-share", "0.4")
    judged(pairs, "new", "pairwise-verdict", card=load_card(str(card)))
    figures = {}
    for name in ("raw", "new"):
        _, out, _ = run("bench", "pairs", pairs, "--run", name, "--json")
        found = json.loads(out)
        figures[name] = {estimate["name"]: estimate["value"] for estimate in found["estimates"]}
    for name in ("accuracy", "agreement", "consistency", "kappa"):
        assert figures["raw"][name] == figures["new"][name]
    assert figures["raw"]["averaged accuracy"] != figures["new"]["averaged accuracy"]
    assert "each order's raw verdict" in found["notes"][0]
    _, out, _ = run("show", "new", "case-1")
    assert "Averaged over the orders and calibrated" in out


def test_win_rates_by_the_rules_of_orders_say_that_there_are_none(run, pairs):
    code, out, _ = run("show", judged(pairs, "val"), "--convention", "all")
    assert code == 0
    assert "each response was rated alone" in " ".join(out.split())


def test_a_run_by_ratings_is_shown_in_80_columns(run, pairs):
    folder = judged(pairs, "val")
    code, out, _ = run("show", folder)
    assert code == 0
    assert max(map(len, out.splitlines())) <= 80
    assert "a, b rated" in out
    assert "accuracy (verdict = label)" in out
    assert "consistency" not in out
    _, out, _ = run("show", folder, "case-0")
    assert "Ratings of a and b: " in out
    assert "the ratings decide" in " ".join(out.split())


def fails(request: Request) -> Failure:
    return Failure(key=request.key, error="Down", message="down", retryable=True, attempts=1)


def test_a_judgment_that_failed_is_left_out_and_counted(run, pairs):
    def sometimes(request: Request) -> object:
        return fails(request) if "Question 7?" in request.messages[0].content else by_words(request)

    judged(pairs, "val", answer=sometimes)
    code, out, _ = run("calibrate", "val")
    assert code == 0
    assert f"{N - 1}; 1 more have no label, or an unreadable judgment" in " ".join(out.split())


def test_runs_that_cannot_be_fitted_say_what_is_needed(run, pairs, tmp_path):
    def refused(*arguments: object) -> str:
        code, out, err = run("calibrate", *arguments)
        assert (code, out) == (2, "")
        assert "Traceback" not in err
        return " ".join(err.split())

    assert "is not a run folder" in refused(".")
    written = judged(pairs, "written", "pairwise")
    assert "gives no probabilities and so no preferences" in refused(written)
    one = judged(pairs, "one", "pairwise-verdict", orders="one")
    assert "was judged in one order" in refused(one)
    spec = make_spec("rate", CARD)
    with open_run(tmp_path / "rated", spec, open_cases(pairs)) as folder:
        judge_run(folder, spec, Recorder(by_words))
    assert "is a run of autoj rate" in refused("rated")
    spec = make_spec("judge", CARD, protocol="pairwise-by-rating")
    with (
        pytest.raises(Killed),
        open_run(tmp_path / "half", spec, open_cases(pairs)) as folder,
    ):
        judge_run(folder, spec, Recorder(by_words, dies_after=9))
    assert "is not finished" in refused("half")
    write_records(tmp_path / "bare.jsonl", [{"query": "Q?", "responses": ["word", "x"]}])
    assert "has no labels" in refused(judged(tmp_path / "bare.jsonl", "bare"))
    assert "needs at least 100 pairs" in refused(judged(pairs, "few", limit=20))
    fine = judged(pairs, "fine")
    for share in ("1.5", "nan", "0"):
        assert "between 0 and 1" in refused(fine, "--tie-share", share)
    assert "expected a number between 0 and 1, or file" in refused(fine, "--tie-share", "many")
    assert "has no judge.yaml" in refused(fine, "--write", ".")
    assert "expected a card's file" in refused(fine, "--write", "embedded")
    assert "no such judge card" in refused(fine, "--write", "none.yaml")
    (tmp_path / "other.yaml").write_text(CARD_TEXT.replace("script\n", "other\n"))
    assert "the card of another judge" in refused(fine, "--write", "other.yaml")


def test_ties_that_are_not_there_are_named(run, pairs, tmp_path):
    rows = [json.loads(line) for line in pairs.read_text().splitlines()]
    decided = [row for row in rows if row["label"] != "tie"]
    write_records(tmp_path / "decided.jsonl", decided)
    judged(tmp_path / "decided.jsonl", "decided")
    code, _, err = run("calibrate", "decided")
    assert code == 2
    assert "no pair is labelled a tie" in err
    assert "--tie-share file" in err
    code, out, _ = run("calibrate", "decided", "--tie-share", "file")
    assert code == 0
    assert "so there is no tie band" in " ".join(out.split())


def test_the_command_has_help_with_an_example(run):
    code, out, _ = run("calibrate", "--help")
    assert code == 0
    assert "Example: autoj calibrate" in " ".join(out.split())
