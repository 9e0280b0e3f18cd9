"""Each question asked several times: what is asked, and that killing it loses nothing."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from autoj.datasets import open_cases
from autoj.errors import ConfigError
from autoj.jsonl import read_records, whole_lines, write_records
from autoj.records import Asked, Case, Failure, Request, Response, Verdict
from autoj.runs import RunSpec, judge_case, judge_run, make_spec, open_run, read_case
from autoj.runs.plan import plan_case, plan_follow
from autoj.runs.resolving import resolve_run

from ..scripted import CARD, Killed, Recorder, by_hash
from ..watches import Notes

DRAWN = {"protocol": "pairwise", "samples": 3, "temperature": 0.7}
CASES = [
    Case(
        id=f"case-{n}",
        query=f"Question {n}?",
        cluster=f"question{n}",
        responses=(Response(text=f"First answer {n}."), Response(text=f"Second answer {n}.")),
    )
    for n in range(4)
]
CASES.append(
    Case(
        id="long",
        query="Long?",
        cluster="long",
        responses=(Response(text="word " * 5000), Response(text="short")),
    )
)


@pytest.mark.parametrize(
    ("task", "settings", "n_rows", "digest"),
    [
        ("judge", {}, 10, "be552fe6fd254398"),
        ("judge", {"protocol": "pairwise"}, 10, "119a73619c808503"),
        ("judge", {"orders": "one"}, 5, "3ddcd4d2b8081f47"),
        ("judge", {"orders": "shuffled", "seed": 3}, 5, "8cf5e93310f0abb3"),
        ("judge", {"protocol": "pairwise", "sample": 1}, 10, "11634717644c98b4"),
        (
            "judge",
            {"protocol": "pairwise", "max_tokens": 64, "on_overflow": "truncate"},
            10,
            "711e60f3e8e95a5e",
        ),
        ("judge", {"protocol": "pairwise-by-rating"}, 10, "f89bfdec359710dc"),
        ("rate", {}, 10, "f89bfdec359710dc"),
        ("rate", {"protocol": "single"}, 10, "3ba68e358e10399c"),
        ("rate", {"protocol": "single", "sample": 2}, 10, "cb528b4e5befd519"),
    ],
)
def test_what_is_asked_once_has_the_keys_that_it_always_had(task, settings, n_rows, digest):
    """The digests are of the version before questions could be repeated."""
    spec = make_spec(task, CARD, samples=1, **settings)
    rows = [item.asked for case in CASES for item in plan_case(case, spec, Recorder())]
    text = "\n".join(
        f"{row.case_id} {row.shown} {row.sample} {row.scored} {row.truncated} {row.key}"
        for row in rows
    )
    assert len(rows) == n_rows
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == digest


def test_critiques_have_the_keys_that_they_always_had():
    verdict = Verdict(case_id="case-0", judge="script", winner="b", rule="agreed")
    spec = make_spec("judge", CARD, critique=True)
    (item,) = plan_follow(CASES[0], verdict, spec, Recorder())
    assert item.asked.key[:16] == "e15da35d84814c91"


def test_draws_of_a_question_stand_together_and_have_keys_of_their_own():
    rows = [
        item.asked for item in plan_case(CASES[0], make_spec("judge", CARD, **DRAWN), Recorder())
    ]
    assert [(row.shown, row.sample) for row in rows] == [
        (shown, sample) for shown in ((0, 1), (1, 0)) for sample in range(3)
    ]
    assert len({row.key for row in rows}) == 6
    rated = make_spec("rate", CARD, protocol="single", samples=2, temperature=1.0)
    rows = [item.asked for item in plan_case(CASES[0], rated, Recorder())]
    assert [(row.shown, row.sample) for row in rows] == [((0,), 0), ((0,), 1), ((1,), 0), ((1,), 1)]


def test_a_first_draw_is_the_answer_to_asking_once():
    once = make_spec("judge", CARD, protocol="pairwise", temperature=0.7)
    several = make_spec("judge", CARD, **DRAWN)
    first, *_ = plan_case(CASES[0], several, Recorder())
    assert first.asked.key == plan_case(CASES[0], once, Recorder())[0].asked.key


def test_sets_of_draws_share_none():
    """What the audit repeats is asked again, however often each question is asked."""
    keys = [
        {
            item.asked.key
            for item in plan_case(
                CASES[0], make_spec("judge", CARD, sample=which, **DRAWN), Recorder()
            )
        }
        for which in (None, 1, 2)
    ]
    assert len(set.union(*keys)) == 18


@pytest.mark.parametrize(
    ("task", "settings", "message", "hint"),
    [
        ("judge", {"protocol": "pairwise"}, "the same text 3 times", "--temperature 0.7"),
        (
            "judge",
            {"temperature": 0.7},
            "scores choices and samples no text",
            "--protocol pairwise.",
        ),
        ("rate", {"temperature": 0.7}, "scores choices and samples no text", "--protocol single."),
        (
            "judge",
            {"temperature": 0.7, "protocol": "pairwise-by-rating"},
            "scores choices and samples no text",
            "--protocol pairwise.",
        ),
        (
            "rate",
            {"temperature": 0.7, "protocol": "scalar"},
            "scores choices and samples no text",
            "single",
        ),
    ],
)
def test_draws_that_would_all_be_the_same_are_refused(task, settings, message, hint):
    with pytest.raises(ConfigError, match=message) as caught:
        make_spec(task, CARD, samples=3, **settings)
    assert hint in str(caught.value.hint)


@pytest.mark.parametrize("settings", [{"samples": 0}, {"samples": -2}, {"temperature": -0.1}])
def test_numbers_below_the_least_are_refused(settings):
    with pytest.raises(ConfigError, match="is too low: the least is"):
        make_spec("judge", CARD, protocol="pairwise", **settings)


def finish(path: Path, spec: RunSpec, cases, backend: Recorder) -> None:
    with open_run(path, spec, cases) as folder:
        judge_run(folder, spec, backend)


def state(path: Path) -> tuple[list[bytes], bytes, bytes]:
    return (
        sorted(whole_lines(path / "ledger.jsonl")),
        (path / "plan.jsonl").read_bytes(),
        (path / "verdicts.jsonl").read_bytes(),
    )


@pytest.mark.parametrize("task", ["judge", "rate"])
def test_a_run_killed_after_any_answer_ends_as_one_that_was_not(tmp_path, pairs_file, task):
    def answer(request: Request) -> object:
        if task == "judge":
            return by_hash(request)
        digest = hashlib.sha256(request.key.encode()).digest()
        return f"Fine. Rating: [[{digest[0] % 12}]]"

    settings = {**DRAWN, "protocol": {"judge": "pairwise", "rate": "single"}[task]}
    spec = make_spec(task, CARD, **settings)
    cases = open_cases(pairs_file)
    finish(tmp_path / "whole", spec, cases, Recorder(answer))
    n_answers = len(list(whole_lines(tmp_path / "whole" / "ledger.jsonl")))
    assert n_answers == 3 * {"judge": 13, "rate": 13}[task]
    whole = state(tmp_path / "whole")
    for k in range(n_answers):
        path = tmp_path / f"killed-{k}"
        with pytest.raises(Killed):
            finish(path, spec, cases, Recorder(answer, dies_after=k))
        with open_run(path, spec, cases) as folder:
            # What is not asked in full has no verdict yet, and no vote of fewer draws.
            seen = [verdict for _, verdict in resolve_run(folder, spec)]
            final = {
                verdict.case_id: verdict
                for verdict in read_records(tmp_path / "whole" / "verdicts.jsonl", Verdict)
            }
            assert all(final[verdict.case_id] == verdict for verdict in seen)
        second = Recorder(answer)
        finish(path, spec, cases, second)
        assert len(second.asked) == n_answers - k
        assert state(path) == whole


def test_votes_and_their_spread_are_in_the_verdicts(tmp_path, pairs_file):
    spec = make_spec("judge", CARD, **DRAWN)
    finish(tmp_path / "run", spec, open_cases(pairs_file), Recorder())
    verdicts = list(read_records(tmp_path / "run" / "verdicts.jsonl", Verdict))
    assert len(verdicts) == 8
    assert all(len(verdict.vote_shares) == 2 for verdict in verdicts)
    # A fourth of these answers is off the menu.
    assert 0 < sum(verdict.n_unreadable for verdict in verdicts) < 48
    assert {verdict.rule for verdict in verdicts} >= {"split", "incomplete"}


def test_draws_that_fail_are_asked_again_alone(tmp_path, pairs_file):
    def flaky(request: Request) -> object:
        if request.sample == 2:
            return Failure(
                key=request.key, error="Down", message="down", retryable=True, attempts=1
            )
        return "So, the final decision is Response 1."

    spec, cases = make_spec("judge", CARD, **DRAWN), open_cases(pairs_file)
    path = tmp_path / "run"
    finish(path, spec, cases, Recorder(flaky))
    verdicts = list(read_records(path / "verdicts.jsonl", Verdict))
    assert all(verdict.n_failed == 2 for verdict in verdicts)
    assert all(verdict.winners == ("a", "b") for verdict in verdicts)
    second = Recorder(lambda request: "So, the final decision is Response 1.")
    finish(path, spec, cases, second)
    assert {request.sample for request in second.asked} == {2}
    verdicts = list(read_records(path / "verdicts.jsonl", Verdict))
    assert all(verdict.n_failed == 0 and verdict.vote_shares == (1, 1) for verdict in verdicts)


def test_progress_counts_every_draw(tmp_path, pairs_file):
    spec = make_spec("judge", CARD, **DRAWN)
    watch = Notes()
    with open_run(tmp_path / "run", spec, open_cases(pairs_file)) as folder:
        judge_run(folder, spec, Recorder(), watch=watch)
    assert {n_total for _, _, n_total in watch.progress_of} == {48}


def test_one_case_is_voted_on_by_the_same_route(tmp_path, pairs_file):
    spec = make_spec("judge", CARD, **DRAWN)
    with open_run(tmp_path / "run", spec, open_cases(pairs_file)) as folder:
        judge_run(folder, spec, Recorder())
        for case, verdict in resolve_run(folder, spec):
            assert judge_case(case, spec, Recorder()) == verdict
            record = read_case(folder, spec, case.id)
            assert record is not None
            assert record.verdict == verdict
            assert len(record.judgments) == 6


def test_an_engine_that_gives_no_answer_is_no_vote():
    class Silent(Recorder):
        def complete(self, requests, on_text=None):
            for request, outcome in self._pairs(requests):
                if request.sample == 0:
                    yield outcome

    verdict = judge_case(CASES[0], make_spec("judge", CARD, **DRAWN), Silent())
    assert (verdict.n_failed, verdict.winner, verdict.rule) == (4, None, "incomplete")


def test_verdicts_of_older_runs_are_still_read(tmp_path):
    line = b'{"case_id":"c","winner":"a","consistent":true,"rule":"agreed","judge":"j"}\n'
    (tmp_path / "verdicts.jsonl").write_bytes(line)
    (verdict,) = read_records(tmp_path / "verdicts.jsonl", Verdict)
    assert (verdict.vote_shares, verdict.rating_sds) == ((), ())


def test_a_plan_with_gaps_is_written_anew_from_the_first(tmp_path, pairs_file):
    spec, cases = make_spec("judge", CARD), open_cases(pairs_file)
    finish(tmp_path / "whole", spec, cases, Recorder())
    finish(tmp_path / "run", spec, cases, Recorder())
    plan = tmp_path / "run" / "plan.jsonl"
    rows = list(read_records(plan, Asked))
    for kept in (rows[:4] + rows[6:], rows[2:], rows[:5] + rows[9:12], [], rows[::-1]):
        write_records(plan, kept)
        second = Recorder()
        finish(tmp_path / "run", spec, cases, second)
        assert second.asked == []
        assert state(tmp_path / "run") == state(tmp_path / "whole")
