"""DeepEval's metrics: scores and winners, and errors where a judgment failed."""

from __future__ import annotations

import asyncio
import gc

import pytest

from autoj import Judge
from autoj.errors import BackendError, DataError

from ..rewards.test_trl import Counting, first_good
from . import example

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def deepeval(monkeypatch, tmp_path):
    monkeypatch.setenv("DEEPEVAL_TELEMETRY_OPT_OUT", "YES")
    monkeypatch.chdir(tmp_path)
    yield pytest.importorskip("deepeval", reason="DeepEval is not installed")
    # It leaves the loop that it made, whose warning belongs to this test and not to a later one.
    asyncio.set_event_loop(None)
    gc.collect()


def test_a_test_case_is_rated_and_a_failure_is_an_error_without_a_score(deepeval, judge):
    from deepeval.evaluate.configs import AsyncConfig, DisplayConfig, ErrorConfig
    from deepeval.test_case import LLMTestCase

    from autoj.doors.deepeval import RatingMetric

    metric = RatingMetric(threshold=3, protocol="single")
    texts = ("good good", "fair", "broken", "odd")
    cases = [LLMTestCase(input="Why?", actual_output=text) for text in texts]
    assert (metric.measure(cases[0]), metric.success) == (3.0, True)
    assert (metric.measure(cases[1]), metric.success) == (1.0, False)
    with pytest.raises(BackendError, match="could not be read"):
        metric.measure(cases[3])
    assert (metric.score, metric.is_successful()) == (None, False)
    # Concurrent calls of one metric object are DeepEval's copies; here each has its own.
    for run_async in (True, False):
        found = deepeval.evaluate(
            test_cases=cases,
            metrics=[metric],
            error_config=ErrorConfig(ignore_errors=True),
            display_config=DisplayConfig(show_indicator=False, print_results=False),
            async_config=AsyncConfig(run_async=run_async),
        )
        told = {its.input + its.actual_output: its.metrics_data[0] for its in found.test_results}
        assert [told[f"Why?{text}"].score for text in texts] == [3.0, 1.0, None, None]
        assert "requests failed" in told["Why?broken"].error
        assert [told[f"Why?{text}"].success for text in texts] == [True, False, False, False]


def test_an_arena_has_the_winner_of_both_orders_or_an_error(deepeval):
    from deepeval.test_case import ArenaTestCase, Contestant, LLMTestCase

    from autoj.doors.deepeval import ArenaMetric

    def arena(*texts: str) -> ArenaTestCase:
        return ArenaTestCase(
            contestants=[
                Contestant(name=f"m{n}", test_case=LLMTestCase(input="Why?", actual_output=text))
                for n, text in enumerate(texts)
            ]
        )

    with Judge(Counting(first_good)) as judge:
        metric = ArenaMetric(judge, protocol="pairwise")
        assert metric.measure(arena("bad", "good")) == "m1"
        assert metric.is_successful()
        assert asyncio.run(metric.a_measure(arena("good", "bad"))) == "m0"
        for texts, told in ((("good", "broken"), "2 judgments failed"), (("x", "y"), "equally")):
            with pytest.raises(BackendError, match=told):
                metric.measure(arena(*texts))
            assert (metric.winner, metric.is_successful()) == (None, False)
            assert told in metric.error
        with pytest.raises(DataError, match="has 3 contestants"):
            metric.measure(arena("a", "b", "c"))


def test_the_example_runs(deepeval, capsys):
    with Judge(Counting(longer)) as judge:
        assert example("deepeval_metrics").main(judge) == "long"


def longer(request):
    """Rates 9 what names colours, and prefers it."""
    text = request.messages[-1].content
    if request.protocol in ("single", "single-verdict"):
        wanted = 9 if "blood" in text else 2
        return tuple(0.0 if n == wanted else -50.0 for n in range(1, 1 + len(request.choices)))
    first = text.find("blood") < text.find("nice")
    return (0.0, -50.0, -50.0) if first else (-50.0, 0.0, -50.0)
