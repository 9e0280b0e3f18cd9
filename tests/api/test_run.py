"""Many cases in Python: a file, cases in memory, batches without a folder, and many callers."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from autoj import Case, Judge, Response, Run
from autoj.errors import BackendError, Cancelled, ConfigError, DataError, SpecMismatch
from autoj.jsonl import read_records, write_records
from autoj.records import Verdict

from ..scripted import Killed, Recorder
from ..watches import Notes

VERDICT = {"protocol": "pairwise-verdict"}


def test_a_file_is_judged_and_a_second_call_asks_nothing(tmp_path: Path, pairs_file: Path) -> None:
    engine = Recorder()
    run = Judge(engine).run(pairs_file, out=tmp_path / "run", **VERDICT)
    assert run.n_cases == run.n_judged == len(run) == 8
    stored = list(read_records(tmp_path / "run" / "verdicts.jsonl", Verdict))
    assert [verdict for _, verdict in run] == stored
    assert [case.id for case, _ in run] == [verdict.case_id for verdict in stored]
    n_asked = len(engine.asked)
    again = Judge(engine).run(pairs_file, out=tmp_path / "run", **VERDICT)
    assert len(engine.asked) == n_asked == run.counts.n_answered
    assert again.counts.n_answered == 0
    assert list(Run.open(tmp_path / "run")) == list(run)


def test_a_killed_call_goes_on(tmp_path: Path, pairs_file: Path) -> None:
    with pytest.raises(Killed):
        Judge(Recorder(dies_after=5)).run(pairs_file, out=tmp_path / "run", **VERDICT)
    rest = Recorder()
    run = Judge(rest).run(pairs_file, out=tmp_path / "run", **VERDICT)
    whole = Recorder()
    straight = Judge(whole).run(pairs_file, out=tmp_path / "other", **VERDICT)
    assert len(rest.asked) == len(whole.asked) - 5
    assert list(run) == list(straight)


def test_cases_in_memory_are_data_like_a_file(tmp_path: Path, pairs_file: Path) -> None:
    cases = [case for case, _ in Judge(Recorder()).run(pairs_file, out=tmp_path / "a", **VERDICT)]
    run = Judge(Recorder()).run(iter(cases), out=tmp_path / "b", **VERDICT)
    assert [case for case, _ in run] == cases
    with pytest.raises(SpecMismatch, match="derivation"):
        Judge(Recorder()).run(cases[:3], out=tmp_path / "b", **VERDICT)
    with pytest.raises(DataError, match=r"\(cases\).*holds no rows"):
        Judge(Recorder()).run([], out=tmp_path / "c", **VERDICT)


def test_a_run_is_a_table(tmp_path: Path, pairs_file: Path) -> None:
    pytest.importorskip("pyarrow")
    run = Judge(Recorder()).run(pairs_file, out=tmp_path / "run", **VERDICT)
    table = run.to_arrow()
    assert table.num_rows == 8
    verdicts = [verdict for _, verdict in run]
    assert table["winner"].to_pylist() == [verdict.winner for verdict in verdicts]
    assert table["p_a"].to_pylist() == [verdict.probabilities[0] for verdict in verdicts]  # type: ignore[index]
    pytest.importorskip("pandas")
    assert list(run.to_pandas()["id"]) == [verdict.case_id for verdict in verdicts]


def test_rated_responses_are_a_row_each(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    path = tmp_path / "rows.jsonl"
    write_records(path, [{"query": "Why?", "responses": ["x", "y", "z"]}])
    run = Judge(Recorder()).run(path, task="rate", out=tmp_path / "run", protocol="single-verdict")
    ((_, verdict),) = run
    assert run.to_arrow()["rating"].to_pylist() == list(verdict.ratings)


def test_a_watch_is_told_and_may_stop_the_run(tmp_path: Path, pairs_file: Path) -> None:
    watch = Notes(cancels_after=4)
    with pytest.raises(Cancelled):
        Judge(Recorder()).run(pairs_file, out=tmp_path / "run", watch=watch, **VERDICT)
    assert any("keeps the judgments so far" in text for text in watch.messages)
    assert watch.progress_of[0] == ("judging", 0, 16)
    rest = Recorder()
    run = Judge(rest).run(pairs_file, out=tmp_path / "run", **VERDICT)
    assert 0 < len(rest.asked) < 13
    assert run.n_judged == 8


def test_a_cap_leaves_the_rest_and_says_so(tmp_path: Path, pairs_file: Path) -> None:
    run = Judge(Recorder()).run(pairs_file, out=tmp_path / "run", max_requests=4, **VERDICT)
    assert run.stopped
    assert run.n_judged < run.n_cases


def test_many_are_judged_as_one_by_one() -> None:
    pairs = [(f"Question {n}?", f"First {n}.", f"Second {n}.") for n in range(5)]
    one, many = Judge(Recorder()), Judge(Recorder())
    found = list(many.compare_many(pairs, **VERDICT))
    assert [verdict.case_id for verdict in found] == [f"case-{n}" for n in range(1, 6)]
    for verdict, pair in zip(found, pairs, strict=True):
        alone = one.compare(*pair, **VERDICT)
        assert (verdict.winner, verdict.winners) == (alone.winner, alone.winners)
    rated = list(many.rate_many([("Why?", "x"), ("Why?", "y")], protocol="single-verdict"))
    assert [verdict.ratings for verdict in rated] == [
        one.rate("Why?", text, protocol="single-verdict").ratings for text in "xy"
    ]


def test_many_are_read_lazily_and_a_wrong_one_is_named() -> None:
    def pairs():
        yield ("Why?", "x", "y")
        yield Case(id="odd", query="q", cluster="q", responses=(Response(text="x"),))

    with pytest.raises(DataError, match="case 'odd' has 1 responses"):
        list(Judge(Recorder()).compare_many(pairs(), **VERDICT))
    with pytest.raises(DataError, match="the query is empty"):
        list(Judge(Recorder()).rate_many([(" ", "x")]))


def test_calls_that_wait_together_are_judged_together() -> None:
    async def ask(judge: Judge) -> list[Verdict]:
        pairs = [judge.acompare(f"Question {n}?", "x", f"y {n}", **VERDICT) for n in range(20)]
        rated = [judge.arate("Why?", f"z {n}", protocol="single-verdict") for n in range(3)]
        return list(await asyncio.gather(*pairs, *rated))

    engine = Recorder()
    with Judge(engine) as judge:
        found = asyncio.run(ask(judge))
        alone = judge.compare("Question 7?", "x", "y 7", **VERDICT)
    assert (found[7].winner, found[7].probabilities) == (alone.winner, alone.probabilities)
    assert all(verdict.ratings for verdict in found[20:])


def test_an_engine_that_breaks_down_tells_every_caller_and_serves_the_next() -> None:
    class Flaky(Recorder):
        broken = True

        def complete(self, requests, on_text=None):
            if self.broken:
                raise BackendError("it is down")
            yield from super().complete(requests, on_text)

    async def ask(judge: Judge) -> object:
        return await asyncio.gather(
            *(judge.acompare("Why?", "x", f"y {n}", **VERDICT) for n in range(3)),
            return_exceptions=True,
        )

    engine = Flaky()
    with Judge(engine) as judge:
        assert all(isinstance(found, BackendError) for found in asyncio.run(ask(judge)))  # type: ignore[attr-defined]
        engine.broken = False
        assert all(isinstance(found, Verdict) for found in asyncio.run(ask(judge)))  # type: ignore[attr-defined]


def test_a_closed_judge_takes_no_more_calls() -> None:
    judge = Judge(Recorder())
    assert asyncio.run(judge.acompare("Why?", "x", "y", **VERDICT)).case_id == "case"
    judge.close()
    judge.close()
    with pytest.raises(ConfigError, match="closed"):
        asyncio.run(judge.acompare("Why?", "x", "y", **VERDICT))
