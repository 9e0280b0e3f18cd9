"""Metrics for DeepEval: a judge's rating of a test case, and its winner of an arena.

**Source:** deepeval 4.3 `metrics/base_metric.py`: a metric that cannot say raises, and its `error`
is set; with `ErrorConfig(ignore_errors=True)` the test case then counts as an error without a
score. `compare()` makes `ArenaGEval` anew for each case, so an arena metric is called by itself.
"""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from deepeval.metrics import BaseArenaMetric, BaseMetric
from deepeval.test_case import ArenaTestCase, LLMTestCase

from autoj.api import Judge
from autoj.errors import BackendError, DataError
from autoj.records import Verdict
from autoj.rewards.scoring import RewardBy, score_one
from autoj.rewards.single import case_to_score, loaded_judge, required

_Found = TypeVar("_Found")


class RatingMetric(BaseMetric):
    """Scores a test case's output by a judge.

    Args:
        judge: a loaded judge, or what `Judge.load` takes, loaded once per process.
        threshold: the least score of a success, on the scale of `by`.
        by: the kind of score: "rating" and "expected-rating" give 1 to 10, "calibrated-rating"
            log-odds, "reference" 0 to 1 against the test case's expected output.
        settings: settings of `Judge.rate` or `Judge.compare`.
    """

    def __init__(
        self,
        judge: str | Judge = "embedded",
        threshold: float | None = 6.0,
        by: RewardBy = "rating",
        **settings: Any,
    ) -> None:
        self.threshold = threshold
        self.async_mode = True
        self._judge = judge
        self._by: RewardBy = by
        self._settings = settings

    def measure(self, test_case: LLMTestCase, *args: Any, **kwargs: Any) -> float:
        """The score of a test case; `reason` is the judge's critique.

        Raises:
            BackendError: the judgment failed or could not be read.
            DataError: the test case has no output, or no expected output to compare with.
        """
        return _waited(self.a_measure(test_case))

    async def a_measure(self, test_case: LLMTestCase, *args: Any, **kwargs: Any) -> float:
        """The same without blocking; concurrent calls are judged as one batch."""
        self.score = self.reason = self.error = self.success = None
        try:
            case = case_to_score(
                test_case.input,
                _output_of(test_case),
                self._by,
                test_case.expected_output,
                row=1,
                field="expected_output",
            )
            judge = loaded_judge(self._judge, self._by)
            self.evaluation_model = judge.card.name
            found = await score_one(judge, case, self._by, self._settings)
            score = required(found.reward, "the test case", found.lacking)
        except Exception as error:
            self.error = str(error)
            raise
        self.score, self.reason = score, found.critique
        self.is_successful()
        return score

    @property
    def __name__(self) -> str:
        return f"autoj {self._by}"


class ArenaMetric(BaseArenaMetric):
    """Picks the better of two contestants by a judge that compares them in both orders.

    Args:
        judge: a loaded judge, or what `Judge.load` takes, loaded once per process.
        settings: settings of `Judge.compare`.
    """

    def __init__(self, judge: str | Judge = "embedded", **settings: Any) -> None:
        self.async_mode = True
        self.winner: str | None = None
        self.success: bool | None = None
        self._judge = judge
        self._settings = settings

    def measure(self, test_case: ArenaTestCase, *args: Any, **kwargs: Any) -> str:
        """The name of the contestant that wins; `reason` is the judge's critique.

        Raises:
            BackendError: a judgment failed or could not be read, or the judge finds a tie, for
                which an arena has no word.
            DataError: there are not two contestants, or one has no output.
        """
        return _waited(self.a_measure(test_case))

    async def a_measure(self, test_case: ArenaTestCase, *args: Any, **kwargs: Any) -> str:
        """The same without blocking; concurrent calls are judged as one batch."""
        self.winner = self.reason = self.error = self.success = None
        try:
            contestants = test_case.contestants
            if len(contestants) != 2:
                raise DataError(
                    f"the arena has {len(contestants)} contestants; expected two",
                    path="(call)",
                    field="contestants",
                )
            judge = loaded_judge(self._judge, "reference")
            self.evaluation_model = judge.card.name
            first, second = (its.test_case for its in contestants)
            verdict = await judge.acompare(
                first.input, _output_of(first), _output_of(second), **self._settings
            )
            winner = contestants["ab".index(_decided(verdict))].name
        except Exception as error:
            self.error = str(error)
            raise
        self.winner, self.success = winner, True
        self.reason = next((text for text in verdict.critiques if text is not None), None)
        return str(winner)

    def is_successful(self) -> bool:
        """True where the last arena has a winner."""
        return self.success is True

    @property
    def __name__(self) -> str:
        return "autoj arena"


def _decided(verdict: Verdict) -> str:
    if verdict.n_failed or verdict.n_unreadable or verdict.winner is None:
        raise BackendError(
            f"the arena has no winner: {verdict.n_failed} judgments failed, "
            f"{verdict.n_unreadable} could not be read"
        )
    if verdict.winner == "tie":
        raise BackendError("the arena has no winner: the judge finds both equally good")
    return verdict.winner


def _output_of(test_case: LLMTestCase) -> str:
    if test_case.actual_output is None:
        raise DataError("the test case has no output", path="(call)", field="actual_output")
    return str(test_case.actual_output)


def _waited(measured: Coroutine[Any, Any, _Found]) -> _Found:
    # In a thread of its own: the caller may be inside a loop that runs, as in a notebook.
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, measured).result()
