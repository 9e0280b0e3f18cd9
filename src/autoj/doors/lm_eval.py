"""A judge as metric of lm-evaluation-harness: its tasks name functions that stand beside the YAML.

**Source:** lm_eval 0.4.13: `process_results(doc, results)` gives each metric's item of a document,
and the metric's aggregation gets the items of all documents (`evaluator_utils.py`); "N/A" is its
word for a figure that there is not. It has no standard error for aggregations of others, so it is a
metric here whose name is the one that its table looks for.
"""

import logging
import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from autoj.api import Judge
from autoj.errors import BackendError
from autoj.rewards.scoring import RewardBy, score
from autoj.rewards.single import case_to_score, loaded_judge

_LOG = logging.getLogger(__name__)
Figure = float | str
"""A metric's value, or "N/A"."""
_NONE = "N/A"


class TaskJudge:
    """A judge for the generations of a task, which it is shown all at once.

    Args:
        judge: a loaded judge, or what `Judge.load` takes, loaded with the first task that ends.
        query: the field of a document with the user's request.
        reference: the field with the response to compare with, for `by="reference"`.
        by: the kind of score: "rating" and "expected-rating" give 1 to 10, "calibrated-rating"
            log-odds, "reference" 0 to 1, "group" nothing here.
        settings: settings of `Judge.rate_many` or `Judge.compare_many`.
    """

    def __init__(
        self,
        judge: str | Judge = "embedded",
        *,
        query: str = "question",
        reference: str = "answer",
        by: RewardBy = "rating",
        **settings: Any,
    ) -> None:
        self._judge = judge
        self._query = query
        self._reference = reference
        self._by: RewardBy = by
        self._settings = settings
        self._judged: dict[tuple[tuple[str, ...], ...], list[float | None]] = {}

    def process_results(self, doc: Mapping[str, Any], results: Sequence[Any]) -> dict[str, Any]:
        """A document's query and generation, for each of the three metrics.

        Args:
            doc: the row of the task's data.
            results: the generation; of several repeats the first.

        Raises:
            DataError: the row has no query, or no reference to compare with.
        """
        found = results[0] if isinstance(results[0], str) else results[0][0]
        case = case_to_score(
            str(doc.get(self._query) or ""),
            found,
            self._by,
            doc.get(self._reference),
            row=1,
            field=self._reference,
        )
        item = (case.query, *(response.text for response in case.responses))
        return dict.fromkeys(("autoj", "autoj_stderr", "autoj_unscored"), item)

    def mean(self, items: Sequence[Sequence[str]]) -> Figure:
        """The mean score of those generations that have one."""
        known = self._known(items)
        return statistics.fmean(known) if known else _NONE

    def stderr(self, items: Sequence[Sequence[str]]) -> Figure:
        """The standard error of that mean."""
        known = self._known(items)
        return statistics.stdev(known) / math.sqrt(len(known)) if len(known) > 1 else _NONE

    def unscored(self, items: Sequence[Sequence[str]]) -> float:
        """The share of generations without a score: a judgment failed or could not be read."""
        return 1 - len(self._known(items)) / len(items)

    def _known(self, items: Sequence[Sequence[str]]) -> list[float]:
        # Items come anew for each metric, and from other processes as lists.
        asked = tuple(tuple(item) for item in items)
        if asked not in self._judged:
            self._judged = {asked: self._scores(asked)}
        return [its for its in self._judged[asked] if its is not None]

    def _scores(self, asked: tuple[tuple[str, ...], ...]) -> list[float | None]:
        cases = [
            case_to_score(query, text, self._by, next(iter(rest), None), row=row, field="reference")
            for row, (query, text, *rest) in enumerate(asked, start=1)
        ]
        try:
            found = score(loaded_judge(self._judge, self._by), cases, self._by, self._settings)
        except BackendError as error:
            # An error here would take the generations of all tasks with it.
            _LOG.error("the judge broke down, and no generation has a score: %s", error)
            return [None] * len(cases)
        if lacking := found.count(None):
            _LOG.warning("%d of %d generations have no score", lacking, len(found))
        return found
