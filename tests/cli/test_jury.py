"""`--judge a,b,c` as a user meets it: votes beside the jury's, figures, going on, errors."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from autoj.backends.base import Backend
from autoj.backends.scripted import Answer
from autoj.cli import _console
from autoj.errors import DataError
from autoj.jsonl import whole_lines, write_records
from autoj.records import Failure, JudgeCard, Request
from autoj.reports.show import shown
from autoj.tasks import engine

from ..scripted import Killed, Recorder, by_hash

N_CASES = 8
N_KEYS = 13  # distinct requests of the pairs file: see tests/runs/test_resume.py


def fixed(first: float, second: float, tie: float) -> Answer:
    """Prefers what the case calls a, b or a tie, whatever order it sees; rates 7 and a bit."""

    def answer(request: Request) -> str | tuple[float, ...]:
        if request.choices is None:
            return "Rating: [[7]]" if request.protocol == "single" else "Response 1"
        if len(request.choices) == 10:
            return tuple(-abs(rating - 10 * first) for rating in range(1, 11))
        shown = (first, second) if request.shown == (0, 1) else (second, first)
        return (*shown, tie)

    return answer


def scores(request: Request) -> str:
    """A reward model: longer is better."""
    return f"{len(request.messages[-1].content):.1f}"


def down(request: Request) -> Failure:
    return Failure(key=request.key, error="Down", message="down", retryable=True, attempts=1)


class Bench:
    """Judges by name, and what was done with them."""

    def __init__(self) -> None:
        self.answers: dict[str, Answer] = {
            "one": fixed(0.9, 0.1, 0.0),
            "two": fixed(0.3, 0.6, 0.0),
            "three": fixed(0.2, 0.7, 0.0),
            "hash": by_hash,
            "reward": scores,
        }
        self.dies_after: dict[str, int] = {}
        self.log: list[str] = []
        self.asked: dict[str, list[str]] = {}

    def load(self, card: JudgeCard) -> Backend:
        bench, name = self, card.name
        bench.log.append(f"load {name}")

        class Closing(Recorder):
            def complete(self, requests, on_text=None):
                for outcome in super().complete(requests, on_text):
                    bench.asked.setdefault(name, []).append(outcome.key)
                    yield outcome

            def close(self) -> None:
                bench.log.append(f"close {name}")

        return Closing(self.answers[name], card, self.dies_after.get(name))


CARD = (
    "{{title: s, backend: scripted, model: {0}, wrapper: chatml, context_tokens: 4096, "
    "protocols: {1}}}\n"
)


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Bench:
    found = Bench()
    monkeypatch.setattr(engine, "load_backend", found.load)
    for name in found.answers:
        protocols = "[scalar]" if name == "reward" else "[pairwise-verdict, single-verdict]"
        (tmp_path / f"{name}.yaml").write_text(CARD.format(name, protocols))
    return found


THREE = "one.yaml,two.yaml,three.yaml"
Run = Callable[..., tuple[int, str, str]]


def judge_json(run: Run, *arguments: object) -> dict[str, Any]:
    code, out, err = run("judge", *arguments, "--json")
    assert code == 0, err
    return json.loads(out)


def files(path: Path) -> dict[str, bytes]:
    """What must not depend on how often a jury was stopped; lines may stand in any order."""
    names = ("verdicts.jsonl", "ledger.jsonl", "plan.jsonl")
    found = {"jury": (path / "verdicts.jsonl").read_bytes()}
    for judge in sorted((path / "judges").iterdir()):
        for name in names:
            found[f"{judge.name}/{name}"] = b"".join(sorted(whole_lines(judge / name)))
    return found


def test_each_judge_is_loaded_closed_and_keeps_a_run_of_its_own(run, bench, pairs_file):
    code, out, err = run("judge", pairs_file, "--judge", THREE, "--out", "r")
    assert code == 0
    names = ("one", "two", "three")
    assert bench.log == [f"{act} {name}" for name in names for act in ("load", "close")]
    assert "judge 2 of 3: two (pairwise-verdict)" in err
    for name in names:
        assert name in out
        code, shown, _ = run("show", f"r/judges/{name}")
        assert code == 0
        assert "win rate of a" in shown
    assert max(map(len, out.splitlines())) <= 80


def test_the_mean_may_go_against_the_majority_and_each_verdict_is_kept(run, bench, pairs_file):
    found = judge_json(run, pairs_file, "--judge", THREE, "--out", "r")
    assert found["jury"] == "mean"
    (row,) = [row for row in found["verdicts"] if row["case_id"] == "case-0"]
    assert (row["winner"], row["rule"]) == ("b", "mean")
    assert [its["winner"] for its in row["judges"]] == ["a", "b", "b"]
    assert [its["judge"] for its in row["judges"]] == ["one", "two", "three"]
    shares = [its["probabilities"] for its in row["judges"]]
    mean = [sum(share[place] for share in shares) / 3 for place in range(3)]
    assert row["probabilities"] == pytest.approx(mean)
    lines = [json.loads(line) for line in whole_lines(Path("r") / "verdicts.jsonl")]
    assert lines == found["verdicts"]

    bench.answers["one"] = fixed(9.0, 0.0, 0.0)
    strong = judge_json(run, pairs_file, "--judge", THREE, "--out", "strong")
    assert strong["verdicts"][0]["winner"] == "a"
    bench.log.clear()
    by_votes = judge_json(
        run, pairs_file, "--judge", THREE, "--out", "strong", "--jury", "majority"
    )
    assert (by_votes["verdicts"][0]["winner"], by_votes["verdicts"][0]["rule"]) == ("b", "majority")
    assert bench.log == []
    assert by_votes["session"]["n_answered"] == 0


def test_the_figures_stand_side_by_side(run, bench, pairs_file):
    found = judge_json(run, pairs_file, "--judge", THREE, "--out", "r", "--by", "scenario")
    summary = found["summary"]
    # Labels: a, b, a, b, a, b, a, tie. "one" says a, the others b; of equal responses all say tie.
    accuracy = {
        figures["name"]: {e["name"]: e for e in figures["estimates"]}["verdict accuracy"]
        for figures in (*summary["judges"], summary["jury"])
    }
    values = {name: estimate["value"] for name, estimate in accuracy.items()}
    assert values == {"one": 5 / 8, "two": 4 / 8, "three": 4 / 8, "jury": 4 / 8}
    assert all(e["low"] < e["value"] < e["high"] for e in accuracy.values())
    agreements = {tuple(found["judges"]): found["estimates"] for found in summary["agreements"]}
    same, kappa = agreements["one", "two"]
    assert (same["value"], same["n"]) == (1 / 8, N_CASES)
    assert kappa["value"] == pytest.approx(1 / 9)
    same, kappa = agreements["two", "three"]
    assert (same["value"], kappa["value"]) == (1.0, 1.0)


def test_kappa_is_that_of_the_two_judges_votes(run, bench, pairs_file):
    bench.answers["two"] = lambda request: by_hash(request)[::-1]
    found = judge_json(run, pairs_file, "--judge", "hash.yaml,two.yaml", "--out", "r")
    votes = [[its["winner"] for its in row["judges"]] for row in found["verdicts"]]
    n = len(votes)
    observed = sum(one == other for one, other in votes) / n
    expected = (
        sum(
            sum(one == winner for one, _ in votes) * sum(other == winner for _, other in votes)
            for winner in ("a", "b", "tie")
        )
        / n**2
    )
    (same, kappa) = found["summary"]["agreements"][0]["estimates"]
    assert same["value"] == pytest.approx(observed)
    assert kappa["value"] == pytest.approx((observed - expected) / (1 - expected))


@pytest.mark.parametrize("dying", ["one", "two"])
def test_a_jury_that_is_killed_anywhere_ends_as_one_that_was_not(run, bench, pairs_file, dying):
    listed = "one.yaml,two.yaml"
    assert run("judge", pairs_file, "--judge", listed, "--out", "whole")[0] == 0
    for k in range(0, N_KEYS, 3):
        bench.asked.clear()
        bench.dies_after = {dying: k}
        with pytest.raises(Killed):
            run("judge", pairs_file, "--judge", listed, "--out", f"killed-{k}")
        bench.dies_after = {}
        assert run("judge", pairs_file, "--judge", listed, "--out", f"killed-{k}")[0] == 0
        for keys in bench.asked.values():
            assert len(keys) == len(set(keys)) == N_KEYS
        assert files(Path(f"killed-{k}")) == files(Path("whole"))


def test_a_failing_judge_has_no_vote_is_counted_and_is_asked_again(run, bench, pairs_file):
    bench.answers["three"] = down
    code, out, _ = run("judge", pairs_file, "--judge", THREE, "--out", "r")
    assert code == 1
    assert "failed" in out
    rows = [json.loads(line) for line in whole_lines(Path("r") / "verdicts.jsonl")]
    assert {row["n_failed"] for row in rows} == {2}
    # Two of three vote; they disagree, and the probabilities of the two decide.
    assert {row["winner"] for row in rows} == {"a", "tie"}
    bench.answers["three"] = fixed(0.2, 0.7, 0.0)
    bench.log.clear()
    found = judge_json(run, pairs_file, "--judge", THREE, "--out", "r")
    assert bench.log == ["load three", "close three"]
    assert [row["winner"] for row in found["verdicts"]] == ["b"] * (N_CASES - 1) + ["tie"]


def test_where_half_of_the_judges_are_silent_there_is_no_verdict(run, bench, pairs_file):
    bench.answers["three"] = down
    code, out, _ = run("judge", pairs_file, "--judge", "one.yaml,three.yaml", "--out", "r")
    assert code == 1
    assert "no winner 8" in " ".join(out.split())
    rows = [json.loads(line) for line in whole_lines(Path("r") / "verdicts.jsonl")]
    assert {(row["winner"], row["rule"]) for row in rows} == {(None, "too few votes")}


def test_a_judge_may_join_later_and_only_it_is_asked(run, bench, pairs_file):
    judge_json(run, pairs_file, "--judge", "one.yaml,two.yaml", "--out", "r")
    bench.log.clear()
    found = judge_json(run, pairs_file, "--judge", THREE, "--out", "r")
    assert bench.log == ["load three", "close three"]
    assert [len(row["judges"]) for row in found["verdicts"]] == [3] * N_CASES


def test_what_finished_judges_cost_counts_for_the_cap_of_all(run, bench, pairs_file):
    cap = N_KEYS + 4
    for _ in range(2):
        code, _, err = run(
            "judge", pairs_file, "--judge", THREE, "--out", "jury", "--max-requests", cap
        )
        assert (code, f"--max-requests {cap} is reached" in err) == (1, True)
        assert sum(map(len, bench.asked.values())) == cap
    code, _, _ = run("judge", pairs_file, "--judge", THREE, "--out", "jury")
    assert code == 0
    assert sum(map(len, bench.asked.values())) == 3 * N_KEYS


def test_a_reward_model_votes_on_pairs(run, bench, tmp_path):
    path = tmp_path / "p.jsonl"
    rows = [
        {"id": "longer-a", "query": "Why?", "responses": ["long enough", "no"]},
        {"id": "longer-b", "query": "How?", "responses": ["no", "long enough"]},
        {"id": "three", "query": "What?", "responses": ["x", "y", "z"]},
    ]
    write_records(path, rows)
    code, _, err = run("judge", path, "--judge", "reward.yaml,one.yaml", "--out", "r")
    assert code == 2
    assert "--skip-bad-rows" in err
    found = judge_json(
        run, path, "--judge", "reward.yaml,one.yaml,two.yaml", "--out", "s", "--skip-bad-rows"
    )
    assert found["jury"] == "majority"
    assert [row["judges"][0]["winner"] for row in found["verdicts"]] == ["a", "b"]
    assert [row["winner"] for row in found["verdicts"]] == ["a", "b"]


def test_ratings_of_a_jury_are_means(run, bench, tmp_path):
    path = tmp_path / "rated.jsonl"
    responses = [{"text": text, "reference_score": n} for n, text in enumerate("xyz")]
    write_records(path, [{"id": "r", "query": "Why?", "responses": responses}])
    code, out, _ = run("rate", path, "--judge", THREE, "--out", "r", "--json")
    assert code == 0
    (row,) = json.loads(out)["verdicts"]
    for index in range(3):
        mine = [its["ratings"][index] for its in row["judges"]]
        assert row["ratings"][index] == pytest.approx(sum(mine) / 3)
        assert len(set(mine)) == 3
    code, out, _ = run("rate", path, "--judge", THREE, "--out", "r")
    assert code == 0
    assert "mean rating (1-10)" in out
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("judge", "p.jsonl", "--judge", "one.yaml,one.yaml"), "names one judge twice"),
        (("judge", "p.jsonl", "--judge", "one.yaml", "--jury", "mean"), "--judge names one"),
        (
            ("judge", "p.jsonl", "--judge", "one.yaml,reward.yaml", "--jury", "mean"),
            "'reward' gives none",
        ),
        (
            ("rate", "p.jsonl", "--judge", "one.yaml,reward.yaml"),
            "gives scores without a fixed scale",
        ),
        (("judge", "p.jsonl", "--judge", "one.yaml,embeded"), "Did you mean embedded"),
    ],
)
def test_mistakes_are_found_before_any_judge_is_loaded(run, bench, tmp_path, arguments, message):
    write_records(tmp_path / "p.jsonl", [{"query": "Why?", "responses": ["x", "y"]}])
    code, _, err = run(*arguments)
    assert code == 2
    assert message in " ".join(err.split())
    assert bench.log == []


def test_a_jury_and_a_run_do_not_share_a_folder(run, bench, pairs_file):
    assert run("judge", pairs_file, "--judge", "one.yaml", "--out", "alone")[0] == 0
    code, _, err = run("judge", pairs_file, "--judge", THREE, "--out", "alone")
    assert code == 2
    assert "alone is the run of one judge" in err
    assert run("judge", pairs_file, "--judge", THREE, "--out", "together")[0] == 0
    # Each command that writes one judge's run refuses it in the same words, and so does its plan.
    one = ("--judge", "one.yaml", "--out", "together")
    for command in ("judge", "rate", "select"):
        for plan in ((), ("--plan",)):
            code, _, err = run(command, pairs_file, *one, *plan)
            assert code == 2
            assert "together is the folder of a jury, not of one judge's run" in err
            assert "Choose another --out for one judge." in err


def test_other_settings_for_a_jury_show_the_difference(run, bench, pairs_file):
    assert run("judge", pairs_file, "--judge", THREE, "--out", "r")[0] == 0
    code, _, err = run("judge", pairs_file, "--judge", THREE, "--out", "r", "--orders", "one")
    assert code == 2
    assert "orders: was 'both', is now 'one'" in err


def test_a_jury_stays_as_it_was_where_it_cannot_go_on(run, bench, pairs_file, capsys):
    folder = Path("r")
    assert run("judge", pairs_file, "--judge", THREE, "--out", "r")[0] == 0
    before = {name: (folder / name).read_bytes() for name in ("jury.json", "verdicts.jsonl")}
    for flags in (("--orders", "one"), ("--limit", 2), ("--jury", "majority", "--limit", 2)):
        assert run("judge", pairs_file, "--judge", THREE, "--out", "r", *flags)[0] == 2
    assert {name: (folder / name).read_bytes() for name in before} == before
    _console.show_either(shown(folder, first=2))
    assert "mean of their probabilities" in capsys.readouterr().out


def test_a_jurys_folder_is_shown_and_says_when_it_is_not_done(run, bench, pairs_file, capsys):
    assert run("judge", pairs_file, "--judge", THREE, "--out", "r")[0] == 0
    _console.show_either(shown(Path("r"), first=2))
    printed = capsys.readouterr().out
    assert "3 judges, mean of their probabilities" in printed
    assert "6 more in" in printed
    code, out, _ = run("show", "r", "--json")
    assert code == 0
    assert len(json.loads(out)["verdicts"]) == N_CASES
    assert run("show", "r")[0] == 0
    bench.dies_after = {"hash": 3}
    with pytest.raises(Killed):
        run("judge", pairs_file, "--judge", THREE + ",hash.yaml", "--out", "r")
    with pytest.raises(DataError, match="some of its judges have not finished"):
        shown(Path("r"), first=2)


def test_more_judges_than_fit_are_numbered_and_hostile_text_is_spelled_out(run, bench, tmp_path):
    hostile = "\x1b[2J\x1b]0;owned\x07[bold]x[/bold]\u202egnp"
    write_records(tmp_path / "p.jsonl", [{"id": hostile, "query": "q", "responses": ["x", "y"]}])
    (tmp_path / "\x1b[31mred.yaml").write_text(CARD.format("red", "[pairwise-verdict]"))
    bench.answers["\x1b[31mred"] = fixed(0.5, 0.2, 0.1)
    listed = THREE + ",hash.yaml,\x1b[31mred.yaml"
    code, out, err = run("judge", "p.jsonl", "--judge", listed, "--out", "r")
    assert code == 0
    assert not {"\x1b", "\x07", "\u202e"} & set(out + err)
    assert "5 \\x1b[31mred" in out
    assert "4 and 5" in out
    assert max(map(len, out.splitlines())) <= 80
