"""`autoj select` as a user meets it: picks, all ratings kept, going on, errors."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from autoj.cli import _console
from autoj.cli.select import select
from autoj.errors import AutojError, ConfigError, SpecMismatch, UnknownComponent
from autoj.jsonl import read_records, whole_lines, write_records
from autoj.records import Failure, JudgeCard, Request, Verdict
from autoj.reports.show import shown
from autoj.runs import RunFolder
from autoj.tasks import engine as loading
from autoj.tasks.selection_folder import PickedResponse
from autoj.verdicts.knockout import Match

from ..scripted import Killed, Recorder

app = typer.Typer()
app.command()(select)
QUALITY = re.compile(r"quality (\d+)")


@app.callback()
def several() -> None:
    """More than one command, so that the name is given."""


def by_quality(request: Request) -> str | tuple[float, ...]:
    """Knows what each response is worth from its own words; 0 cannot be read."""
    found = [int(number) for number in QUALITY.findall(request.messages[-1].content)]
    if len(found) == 2:
        if request.choices is None:
            winner = "no" if 0 in found else f"Response {1 if found[0] > found[1] else 2}"
            return f"So, the final decision is {winner}."
        return (0.1 * found[0], 0.1 * found[1], -1.0)
    if request.messages[-1].role == "assistant":
        return f"{found[0] - 20}.5"
    return f"Rating: [[{found[0]}]]" if found[0] else "I cannot say."


class Judges:
    """One scripted judge: what it answers, when it dies, what it was asked."""

    def __init__(self) -> None:
        self.answer: Callable[[Request], Any] = by_quality
        self.dies_after: int | None = None
        self.n_loaded = 0
        self.asked: list[Request] = []

    def load(self, card: JudgeCard) -> Recorder:
        self.n_loaded += 1
        found = Recorder(lambda request: self.answer(request), card, self.dies_after)
        found.asked = self.asked
        return found


@pytest.fixture
def judges(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Judges:
    found = Judges()
    monkeypatch.setattr(loading, "load_backend", found.load)
    card = (
        "{title: s, backend: scripted, model: s, wrapper: chatml, context_tokens: 4096, "
        "protocols: [PROTOCOLS]}\n"
    )
    (tmp_path / "script.yaml").write_text(
        card.replace("PROTOCOLS", "pairwise-verdict, single, pairwise")
    )
    (tmp_path / "reward.yaml").write_text(card.replace("PROTOCOLS", "scalar"))
    return found


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Result]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")

    def command(*arguments: object) -> Result:
        return CliRunner().invoke(app, ["select", *map(str, arguments)])

    return command


QUALITIES = ((3, 8, 5), (0, 2), (7,), (0,), (4, 9, 1, 9, 6, 2))
"""Of the responses of each case; the rows have different numbers of them."""


@pytest.fixture
def candidates(tmp_path: Path) -> Path:
    path = tmp_path / "candidates.jsonl"
    rows = [
        {
            "id": f"case-{number}",
            "query": f"Question {number}?",
            "responses": [
                {"text": f"quality {its} ({place})", "model": f"m{place}", "logprob": -place - 1.0}
                for place, its in enumerate(qualities)
            ],
        }
        for number, qualities in enumerate(QUALITIES)
    ]
    write_records(path, rows)
    return path


def picked(folder: str) -> dict[str, PickedResponse]:
    return {it.id: it for it in read_records(Path(folder) / "picks.jsonl", PickedResponse)}


def verdicts(folder: str) -> dict[str, Verdict]:
    return {it.case_id: it for it in read_records(Path(folder) / "verdicts.jsonl", Verdict)}


def test_the_highest_rating_is_picked_and_all_are_kept(run, judges, candidates):
    done = run(candidates, "--judge", "script.yaml", "--out", "r")
    assert done.exit_code == 0, done.output
    found = verdicts("r")
    assert found["case-0"].ratings == (3.0, 8.0, 5.0)
    assert found["case-1"].ratings == (None, 2.0)
    assert {name: it.selected for name, it in found.items()} == {
        "case-0": 1, "case-1": 1, "case-2": 0, "case-3": None, "case-4": 1,
    }  # fmt: skip
    picks = picked("r")
    assert list(picks) == ["case-0", "case-1", "case-2", "case-4"]
    assert picks["case-0"] == PickedResponse(
        id="case-0",
        query="Question 0?",
        response="quality 8 (1)",
        model="m1",
        rating=8.0,
        selected=1,
        n_responses=3,
        rule="rating",
    )
    assert picks["case-4"].rule == "output probability"
    assert max(map(len, done.stdout.splitlines())) <= 80
    words = " ".join(done.stdout.split())
    assert "case-0 3 2 m1 8.00 3.00 Question 0?" in words
    assert "case-3 1 unreadable - - Question 3?" in words
    assert "4, no basis for a pick in 1" in words
    assert "without a rating 2 responses" in words
    assert "mean rating of picks 6.50" in words


def test_json_holds_picks_verdicts_and_figures(run, judges, candidates):
    done = run(candidates, "--judge", "script.yaml", "--out", "r", "--json")
    found = json.loads(done.stdout)
    assert found["run"] == "r"
    assert [pick["id"] for pick in found["picks"]] == list(picked("r"))
    assert [row["selected"] for row in found["verdicts"]] == [1, 1, 0, None, 1]
    summary = found["summary"]
    assert (summary["n_cases"], summary["n_picked"], summary["n_unrated"]) == (5, 4, 2)
    assert summary["rules"] == {"rating": 3, "output probability": 1}
    assert found["session"]["n_answered"] == sum(map(len, QUALITIES))


def test_a_second_start_loads_and_asks_nothing(run, judges, candidates):
    for by in ("ratings", "pairs"):
        arguments = (candidates, "--judge", "script.yaml", "--by", by)
        first = run(*arguments)
        assert first.exit_code == 0
        judges.n_loaded = 0
        second = run(*arguments)
        assert second.stdout == first.stdout
        assert "no new requests were needed" in second.stderr
        assert judges.n_loaded == 0
    assert len(list(Path("runs").iterdir())) == 2


def test_pairs_are_a_knockout_and_every_match_is_kept(run, judges, candidates):
    done = run(candidates, "--judge", "script.yaml", "--by", "pairs", "--out", "r")
    assert done.exit_code == 0, done.output
    assert judges.n_loaded == 1
    # In case-4 the two best are level; the first of them is likelier.
    assert [it.selected for it in verdicts("r").values()] == [1, 1, 0, 0, 1]
    n_matches = sum(len(qualities) - 1 for qualities in QUALITIES)
    matches = list(read_records(Path("r") / "matches.jsonl", Match))
    assert len(matches) == n_matches
    assert len(judges.asked) == 2 * n_matches
    (level,) = [match for match in matches if match.rule != "verdict"]
    assert (level.pair, level.winner, level.rule) == ((1, 3), 1, "output probability")
    assert picked("r")["case-0"].rule == "wins"
    assert picked("r")["case-2"].rule == "only"
    assert picked("r")["case-0"].rating is None
    assert max(map(len, done.stdout.splitlines())) <= 80
    words = " ".join(done.stdout.split())
    assert "case-0 3 2 m1 2 of 2 0.5" in words
    assert f"matches {n_matches}, 0 failed or unreadable" in words


def test_unreadable_matches_are_no_defeat(run, judges, candidates):
    arguments = ("--judge", "script.yaml", "--by", "pairs", "--protocol", "pairwise")
    done = run(candidates, *arguments, "--out", "r")
    assert done.exit_code == 0, done.output
    found = verdicts("r")
    assert found["case-1"].selected is None
    assert found["case-1"].n_unreadable == 2
    assert found["case-0"].selected == 1
    assert "case-1" not in picked("r")
    assert "1 failed or unreadable" in " ".join(done.stdout.split())


def state(path: Path) -> list[bytes]:
    """What must be the same however often a tournament was killed."""
    names = ["verdicts.jsonl", "picks.jsonl", "matches.jsonl", "pairs/plan.jsonl"]
    files = [(path / name).read_bytes() for name in names]
    return [*files, *sorted(whole_lines(path / "pairs" / "ledger.jsonl"))]


def test_a_tournament_killed_anywhere_goes_on_and_asks_nothing_twice(run, judges, candidates):
    arguments = (candidates, "--judge", "script.yaml", "--by", "pairs")
    assert run(*arguments, "--out", "whole").exit_code == 0
    n_asked = len(judges.asked)
    for k in range(n_asked):
        judges.asked.clear()
        judges.dies_after = k
        with pytest.raises(Killed):
            run(*arguments, "--out", f"killed-{k}")
        judges.dies_after = None
        assert run(*arguments, "--out", f"killed-{k}").exit_code == 0
        assert len(judges.asked) == len({request.key for request in judges.asked}) == n_asked
        assert state(Path(f"killed-{k}")) == state(Path("whole"))


def test_a_failed_match_is_asked_again_and_later_rounds_follow(run, judges, candidates):
    arguments = (candidates, "--judge", "script.yaml", "--by", "pairs")
    assert run(*arguments, "--out", "whole").exit_code == 0
    n_asked = len(judges.asked)
    judges.asked.clear()

    def flaky(request: Request) -> Any:
        # The match that the later winner of case-4 would win first.
        if request.case_id == "case-4/1-2":
            return Failure(key=request.key, error="Down", message="", retryable=True, attempts=1)
        return by_quality(request)

    judges.answer = flaky
    done = run(*arguments, "--out", "r")
    assert done.exit_code == 1
    first = {request.key for request in judges.asked}
    assert verdicts("r")["case-4"].n_failed == 2
    assert verdicts("r")["case-4"].selected == 1
    judges.answer = by_quality
    judges.asked.clear()
    assert run(*arguments, "--out", "r").exit_code == 0
    # What failed is asked again, and nothing that was answered.
    assert {request.case_id for request in judges.asked} >= {"case-4/1-2"}
    again = {request.key for request in judges.asked}
    assert len(again & first) == 2
    assert len(judges.asked) == len(again) < n_asked
    for name in ("verdicts.jsonl", "picks.jsonl", "matches.jsonl"):
        assert (Path("r") / name).read_bytes() == (Path("whole") / name).read_bytes()


def test_a_reward_models_scores_pick_on_their_own_scale(run, judges, candidates):
    done = run(candidates, "--judge", "reward.yaml", "--out", "r")
    assert done.exit_code == 0, done.output
    assert verdicts("r")["case-0"].ratings == (-17.5, -12.5, -15.5)
    assert verdicts("r")["case-0"].selected == 1
    assert "mean score of picks" in done.stdout


def test_failures_are_no_scores_and_end_with_1(run, judges, candidates):
    def down(request: Request) -> Failure:
        return Failure(key=request.key, error="Down", message="down", retryable=True, attempts=1)

    judges.answer = down
    for by in ("ratings", "pairs"):
        done = run(candidates, "--judge", "script.yaml", "--by", by, "--out", by)
        assert done.exit_code == 1
        assert "failed" in done.stdout
    assert {it.selected for it in verdicts("ratings").values()} == {None}
    assert list(picked("ratings")) == []
    # Where there is one response alone, there is nobody to be compared with.
    assert list(picked("pairs")) == ["case-2", "case-3"]


def error_of(done: Result) -> AutojError:
    assert isinstance(done.exception, AutojError), done.exception
    return done.exception


@pytest.mark.parametrize("by", ["ratings", "pairs"])
def test_a_cap_stops_and_a_higher_one_goes_on(run, judges, candidates, by):
    free = run(candidates, "--judge", "script.yaml", "--by", by, "--out", "free")
    assert free.exit_code == 0
    n_all = len({request.key for request in judges.asked})
    judges.asked.clear()
    for cap in (5, 5, n_all - 1):
        found = run(
            candidates, "--judge", "script.yaml", "--by", by, "--out", "run", "--max-requests", cap
        )
        assert found.exit_code == 1
        assert f"--max-requests {cap} is reached" in found.stderr
        assert len(judges.asked) == cap
    found = run(
        candidates, "--judge", "script.yaml", "--by", by, "--out", "run", "--max-requests", n_all
    )
    assert found.exit_code == 0
    assert len(judges.asked) == n_all
    assert picked("run") == picked("free")


def test_money_is_capped_for_judges_with_prices_alone(run, judges, candidates):
    for by in ("ratings", "pairs"):
        found = run(candidates, "--judge", "script.yaml", "--by", by, "--max-usd", 1)
        assert isinstance(found.exception, ConfigError)
        assert "needs prices" in str(found.exception)
    assert judges.n_loaded == 0


def test_mistakes_are_said(run, judges, candidates, tmp_path):
    judge = ("--judge", "script.yaml")
    done = run(candidates, *judge, "--orders", "one")
    assert isinstance(error_of(done), ConfigError)
    assert "--orders needs --by pairs" in str(error_of(done))
    assert isinstance(error_of(run(candidates, "--judge", "embeded")), UnknownComponent)
    done = run(candidates, "--judge", "reward.yaml", "--by", "pairs")
    assert "has no protocol that judges a pair" in str(error_of(done))
    assert run(candidates, *judge, "--out", "r").exit_code == 0
    done = run(candidates, *judge, "--by", "pairs", "--out", "r")
    assert isinstance(error_of(done), SpecMismatch)
    write_records(tmp_path / "none.jsonl", [{"query": "q", "responses": []}])
    assert "expected at least one response" in str(error_of(run("none.jsonl", *judge)))


def test_a_run_that_picked_is_shown_and_hostile_text_is_spelled_out(run, judges, tmp_path, capsys):
    hostile = "\x1b[2J\x1b]0;owned\x07[bold]x[/bold]\u202egnp"
    responses = [{"text": f"quality {n} {hostile}", "model": hostile} for n in (3, 4)]
    write_records(tmp_path / "h.jsonl", [{"id": hostile, "query": hostile, "responses": responses}])
    for by in ("ratings", "pairs"):
        done = run("h.jsonl", "--judge", "script.yaml", "--by", by, "--out", by)
        assert done.exit_code == 0, done.output
        _console.show_either(shown(Path(by)))
        printed = capsys.readouterr().out
        assert printed == done.stdout
        assert not {"\x1b", "\x07", "\u202e"} & set(printed)
        assert "\\x1b[2J" in printed
        assert picked(by)[hostile].response == responses[1]["text"]
        _console.set_json(True)
        _console.show_either(shown(Path(by)))
        _console.set_json(False)
        assert json.loads(capsys.readouterr().out)["summary"]["n_picked"] == 1


def test_real_candidates_are_read(run, judges, data_folder):
    judges.answer = lambda request: f"Rating: [[{1 + len(request.messages[-1].content) % 10}]]"
    path = data_folder / "best_of_n" / "alpaca_eval_bo32.jsonl.gz"
    done = run(path, "--judge", "script.yaml", "--limit", "3", "--out", "r")
    assert done.exit_code == 0, done.output
    found = verdicts("r")
    assert [len(it.ratings) for it in found.values()] == [32] * 3
    for case, verdict in RunFolder.existing(Path("r")).judged():
        best = max(rating for rating in verdict.ratings if rating is not None)
        assert verdict.selected == verdict.ratings.index(best)
        assert picked("r")[case.id].response == case.responses[verdict.selected].text
