"""`autoj bench eval-r` as a user meets it: tables, JSON, grading, going on, errors."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from autoj.cli.bench_eval_r import eval_r
from autoj.errors import ConfigError, DataError, UnknownComponent
from autoj.jsonl import write_records
from autoj.metrics.result import read_result
from autoj.records import Request
from autoj.tasks import engine

from ..scripted import CARD, Recorder

app = typer.Typer()
app.command()(eval_r)


@app.callback()
def several() -> None:
    """More than one command, so that the name is given."""


def by_length(request: Request) -> str:
    """Rates a response by its length; one text cannot be read."""
    text = request.messages[-1].content
    if "unreadable" in text:
        return "I cannot say."
    return f"Fine.\n\nRating: [[{1 + text.count('very')}]]"


@pytest.fixture
def judge(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Recorder:
    """A scripted judge with a card in the folder; what it was asked is noted."""
    recorder = Recorder(by_length, CARD)
    monkeypatch.setattr(engine, "load_backend", lambda card: recorder)
    card = (
        "{title: s, backend: scripted, model: s, wrapper: chatml, context_tokens: 4096, "
        "protocols: [baseline-single]}\n"
    )
    for name in ("script", "other"):
        (tmp_path / f"{name}.yaml").write_text(card.replace("model: s", f"model: {name}"))
    return recorder


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.delenv("AUTOJ_DATA", raising=False)
    monkeypatch.setenv("AUTOJ_CACHE", str(tmp_path / "cache"))

    def command(*arguments: object) -> Result:
        return CliRunner().invoke(app, ["eval-r", *map(str, arguments)])

    return command


def candidates(folder: Path, scores: bool = True) -> Path:
    """Six queries, four candidates each: the more often it says "very", the better."""
    rows = [
        {
            "id": f"q{number}",
            "query": f"Question {number}?",
            "responses": [
                {
                    "text": "unreadable"
                    if (number, n_very) == (0, 3)
                    else "very " * n_very + "good",
                    **({"reference_score": n_very + number / 10} if scores else {}),
                }
                for n_very in ((0, 2, 1, 3) if number % 2 else (1, 0, 3, 2))
            ],
        }
        for number in range(6)
    ]
    write_records(folder / "candidates.jsonl", rows)
    return folder / "candidates.jsonl"


def released(folder: Path) -> Path:
    """Three queries of two base models, in the released layout; no reference scores."""
    rows = [
        {
            "scenario": "planning",
            "prompt": f"Question {number}?",
            "outputs": {
                name: {
                    "outputs": [f"{name} {number}", f"very {name} {number}"],
                    "logprobs": [-2.0, -1.0],
                    "scores": {"autoj": [6.0, 6.0 + number % 2]},
                }
                for name in ("small-7b", "large-13b")
            },
        }
        for number in range(3)
    ]
    write_records(folder / "selection.jsonl", rows)
    return folder / "selection.jsonl"


def test_without_a_judge_it_shows_what_reads_nothing(run: Any, tmp_path: Path) -> None:
    done = run("--data", candidates(tmp_path), "--n", "2,4")
    assert done.exit_code == 0
    rows = [line.split()[0] for line in done.stdout.splitlines() if line]
    assert rows[:5] == ["all", "oracle", "random", "longest", "first"]
    # Of four, the best says "very" thrice, plus 0.25 on average.
    assert re.search(r"oracle .* 3\.250", done.stdout)
    assert re.search(r"random .* 1\.750", done.stdout)


def test_a_judge_is_run_and_asked_nothing_the_second_time(
    run: Any, judge: Recorder, tmp_path: Path
) -> None:
    arguments = ("--data", candidates(tmp_path), "--n", "2,4", "--judge", "script.yaml")
    first = run(*arguments, "--out", "r")
    assert first.exit_code == 0
    n_asked = len(judge.asked)
    # Equal texts under equal queries are one request.
    assert n_asked == 24
    second = run(*arguments, "--out", "r")
    assert second.stdout == first.stdout
    assert len(judge.asked) == n_asked
    assert max(map(len, first.stdout.splitlines())) <= 80
    for text in ("unreadable, failed  1 and 0", "best of 4", "less longest", "Spearman"):
        assert text in first.stdout
    result = read_result(tmp_path / "r" / "eval-r.json")
    best = result.estimate("best of 4")
    assert best is not None
    # All find the best but for the query whose best could not be read: 2 in its place of 3.
    assert best.value == pytest.approx(3.25 - 1 / 6)
    stored = run("--data", tmp_path / "candidates.jsonl", "--n", "2,4", "--run", "r")
    assert stored.exit_code == 0
    assert len(judge.asked) == n_asked
    assert [line for line in stored.stdout.splitlines() if "script" in line][2:] == [
        line for line in first.stdout.splitlines() if "script" in line
    ][2:]


def test_json_holds_all_judges_and_the_trivial_ones(
    run: Any, judge: Recorder, tmp_path: Path
) -> None:
    done = run(
        "--data", candidates(tmp_path), "--n", "4", "--judge", "script.yaml,other.yaml", "--json"
    )  # fmt: skip
    assert done.exit_code == 0
    found = json.loads(done.stdout)
    assert [one["judge"] for one in found["results"]] == ["script", "other"]
    assert [one["judge"] for one in found["trivial"]] == ["oracle", "random", "longest", "first"]
    names = [one["name"] for one in found["results"][0]["estimates"]]
    assert names == [
        "best of 4", "pearson", "spearman", "pearson of all responses", "spearman of all responses",
    ]  # fmt: skip
    assert len(list((tmp_path / "runs").iterdir())) == 2


def test_published_ratings_and_a_grader_measure_the_released_layout(
    run: Any, judge: Recorder, tmp_path: Path
) -> None:
    arguments = (
        "--data", released(tmp_path), "--n", "1,2", "--published", "autoj",
        "--grader", "script.yaml", "--out", "r",
    )  # fmt: skip
    done = run(*arguments)
    assert done.exit_code == 0
    # Only what someone picks is graded, each once: here every response is picked by someone.
    assert len(judge.asked) == 12
    assert all(len(request.shown) == 1 for request in judge.asked)
    assert {request.protocol for request in judge.asked} == {"baseline-single"}
    assert "script graded 12 picked responses" in done.stdout
    for text in ("small-7b", "large-13b", "all responses"):
        assert text in done.stdout
    # The likelier of equal ratings, which is the second in each case.
    assert re.search(r"autoj +1\.000.* +2\.000", done.stdout)
    n_asked = len(judge.asked)
    again = run(*arguments, "--save", "kept.json")
    assert (again.stdout, len(judge.asked)) == (done.stdout, n_asked)
    kept = read_result(tmp_path / "kept.json")
    assert set(kept.parts["base model"]) == {"small-7b", "large-13b"}


def test_without_reference_scores_it_says_what_to_do(run: Any, tmp_path: Path) -> None:
    done = run("--data", released(tmp_path), "--n", "2", "--published", "autoj")
    assert isinstance(done.exception, ConfigError)
    assert "no reference scores" in str(done.exception)
    assert "--grader" in str(done.exception)
    assert "autoj" in str(done.exception.hint)


@pytest.mark.parametrize(
    ("arguments", "kind", "told"),
    [
        (("--n", "8"), ConfigError, "best of 8 needs 8 candidates"),
        (("--n", "two"), ConfigError, "whole numbers"),
        (("--n", ""), ConfigError, "each at least 1"),
        (("--run", "nowhere"), DataError, "not a run folder"),
        (("--published", "autoj"), ConfigError, "has no ratings of its responses"),
        (("--judge", "nobody"), UnknownComponent, "no judge 'nobody'"),
        (("--save", "x.json"), ConfigError, "one judge"),
    ],
)
def test_bad_input_is_told(
    run: Any, tmp_path: Path, arguments: tuple[str, ...], kind: type[Exception], told: str
) -> None:
    done = run("--data", candidates(tmp_path), *(("--n", "4") if "--n" not in arguments else ()),
               *arguments)  # fmt: skip
    assert isinstance(done.exception, kind)
    assert told in str(done.exception)


def test_a_run_of_another_set_is_refused(run: Any, judge: Recorder, tmp_path: Path) -> None:
    done = run("--data", candidates(tmp_path), "--n", "4", "--judge", "script.yaml", "--out", "r")
    assert done.exit_code == 0
    other = run("--data", released(tmp_path), "--n", "2", "--run", "r")
    assert isinstance(other.exception, DataError)
    assert "not a run of this set" in str(other.exception)


def test_only_candidates_that_a_size_picks_from_are_rated(
    run: Any, judge: Recorder, tmp_path: Path
) -> None:
    path = candidates(tmp_path)
    done = run("--judge", "script.yaml", "--data", path, "--n", "2", "--out", "two")
    assert done.exit_code == 0, done.output
    asked = {(request.case_id, request.shown) for request in judge.asked}
    assert asked == {(f"q{number}", (index,)) for number in range(6) for index in range(2)}
    # Another size is another run, and says so.
    other = run("--judge", "script.yaml", "--data", path, "--n", "4", "--out", "two")
    assert other.exit_code != 0
    assert "derivation" in str(other.exception)


def test_a_run_serves_every_size_up_to_what_it_rated(
    run: Any, judge: Recorder, tmp_path: Path
) -> None:
    path = candidates(tmp_path)
    run("--judge", "script.yaml", "--data", path, "--n", "3", "--out", "three")
    judged = run("--judge", "script.yaml", "--data", path, "--n", "2", "--out", "two")
    looked_up = run("--run", "three", "--data", path, "--n", "2")
    assert looked_up.exit_code == 0, looked_up.output
    figures = [
        [line for line in done.output.splitlines() if line.startswith("script")]
        for done in (judged, looked_up)
    ]
    assert figures[0]
    assert figures[0] == figures[1]
    too_many = run("--run", "three", "--data", path, "--n", "4")
    assert isinstance(too_many.exception, ConfigError)
    assert "rated the first 3 candidates" in str(too_many.exception)


def test_judge_and_grader_draw_on_one_cap(run: Any, judge: Recorder, tmp_path: Path) -> None:
    arguments = (
        "--data", candidates(tmp_path), "--n", "2,4", "--judge", "script.yaml",
        "--grader", "other.yaml", "--out", "r",
    )  # fmt: skip
    for cap, n_asked in ((10, 10), (26, 26)):
        stopped = run(*arguments, "--max-requests", cap)
        assert (stopped.exit_code, stopped.stdout) == (1, "")
        assert f"--max-requests {cap} is reached" in stopped.stderr
        assert len(judge.asked) == n_asked
    done = run(*arguments, "--max-requests", 100)
    assert done.exit_code == 0
    assert "best of 4" in done.stdout
