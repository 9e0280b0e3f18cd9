"""One judge in Python: the route of the command line for one case, for many, and for a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Literal

from autoj.api.cases import case_of, numbered, paired
from autoj.api.closing import Closeable
from autoj.backends import load_backend
from autoj.backends.base import Backend
from autoj.datasets import open_cases
from autoj.datasets.base import cases_of
from autoj.errors import ConfigError, DataError
from autoj.judges import load_card
from autoj.protocols import load_protocol
from autoj.records import Case, JudgeCard, Response, Verdict
from autoj.runs import judge_case, judge_cases, make_spec
from autoj.runs.budget import Budget
from autoj.runs.watch import SILENT, Watch
from autoj.scenarios.classifier import ScenarioClassifier, load_classifier
from autoj.tasks.batching import Batcher
from autoj.tasks.classify import (
    ClassifiedQuery,
    ask_scenario,
    classify_case,
    make_classify_spec,
)
from autoj.tasks.judge import judge as judge_data
from autoj.tasks.run import Run
from autoj.tasks.selection_folder import By, make_select_spec, select_case


class Judge(Closeable):
    """A judge that is loaded and can be asked.

    Use it as a context manager, or `close` it, to free its model.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._classifiers: dict[str, ScenarioClassifier] = {}
        self._batcher = Batcher(backend)

    @classmethod
    def load(cls, judge: str | JudgeCard = "embedded", **options: Any) -> Judge:
        """Load a judge by name.

        Args:
            judge: a card's name, the path of a card, `backend:model`, or a card.
            options: what its backend takes, such as `answer` for `scripted`.

        Raises:
            UnknownComponent: there is no such judge.
            MissingExtra: its packages are not installed.
        """
        card = load_card(judge) if isinstance(judge, str) else judge
        return cls(load_backend(card, **options))

    @property
    def backend(self) -> Backend:
        """What runs it."""
        return self._backend

    @property
    def card(self) -> JudgeCard:
        """The judge's card."""
        return self._backend.card

    def compare(
        self, query: str, a: str, b: str, *, scenario: str | None = None, **settings: Any
    ) -> Verdict:
        """Which of two responses is better, asked in both orders, or each response alone.

        Args:
            query: the user's request.
            a: the first response.
            b: the second response.
            scenario: the query's, for protocols that judge by its criteria; `classify` names it.
            settings: what `make_spec` takes: `protocol`, `critique`, `on_conflict`, …

        Returns:
            The verdict: `winner` is "a", "b", "tie", or None where it is not known.

        Raises:
            DataError: the query is empty.
            UnknownComponent: there is no such scenario.
            ConfigError: the protocol needs a scenario.
        """
        spec = make_spec("judge", self.card, **settings)
        return judge_case(case_of(query, a, b, scenario=scenario), spec, self._backend)

    async def acompare(
        self, query: str, a: str, b: str, *, scenario: str | None = None, **settings: Any
    ) -> Verdict:
        """The same without blocking: calls that wait at the same time are judged as one batch."""
        spec = make_spec("judge", self.card, **settings)
        case = case_of(query, a, b, scenario=scenario)
        return await _awaited(self._batcher.submit(case, spec))

    def compare_many(
        self, pairs: Iterable[Case | tuple[str, str, str]], **settings: Any
    ) -> Iterator[Verdict]:
        """Compare many pairs in batches, without a folder.

        Args:
            pairs: cases, or (query, a, b); read lazily.
            settings: as in `compare`.

        Yields:
            A verdict for each, in order.

        Raises:
            DataError: a query is empty, or a case is no pair.
        """
        spec = make_spec("judge", self.card, **settings)
        return judge_cases(map(paired, numbered(pairs)), spec, self._backend)

    def rate(
        self, query: str, response: str, *, scenario: str | None = None, **settings: Any
    ) -> Verdict:
        """A rating from 1 to 10 of one response.

        Args:
            query: the user's request.
            response: the response.
            scenario: as in `compare`.
            settings: what `make_spec` takes: `protocol`, `critique`, `on_overflow`, …

        Returns:
            The verdict: `ratings` holds one rating, or None where it could not be read.

        Raises:
            DataError: the query is empty.
            UnknownComponent: there is no such scenario.
            ConfigError: the protocol needs a scenario.
        """
        spec = make_spec("rate", self.card, **settings)
        return judge_case(case_of(query, response, scenario=scenario), spec, self._backend)

    async def arate(
        self, query: str, response: str, *, scenario: str | None = None, **settings: Any
    ) -> Verdict:
        """The same without blocking, as `acompare`."""
        spec = make_spec("rate", self.card, **settings)
        case = case_of(query, response, scenario=scenario)
        return await _awaited(self._batcher.submit(case, spec))

    def rate_many(
        self, responses: Iterable[Case | tuple[str, str]], **settings: Any
    ) -> Iterator[Verdict]:
        """Rate many responses in batches, without a folder.

        Args:
            responses: cases with any number of responses, or (query, response); read lazily.
            settings: as in `rate`.

        Yields:
            A verdict for each, in order; its `ratings` has one value a response.

        Raises:
            DataError: a query is empty.
        """
        spec = make_spec("rate", self.card, **settings)
        return judge_cases(numbered(responses), spec, self._backend)

    def run(
        self,
        data: Path | str | Iterable[Case],
        *,
        task: Literal["judge", "rate"] = "judge",
        out: Path | str | None = None,
        format: str | None = None,
        max_usd: float | None = None,
        max_requests: int | None = None,
        watch: Watch = SILENT,
        **settings: Any,
    ) -> Run:
        """Judge all cases of a file, as `autoj judge` and `autoj rate` do, and keep the run.

        Killed at any moment, the same call goes on where it stopped.

        Args:
            data: a file that `autoj judge` reads, or cases.
            task: "judge" compares the two responses of each case, "rate" rates each response.
            out: the run's folder; None takes one under `runs/`, the same for the same settings.
            format: the file's format, where its fields fit several.
            max_usd: the most US dollars that the run may cost, by the card's prices.
            max_requests: the most requests of the run.
            watch: told what happens; it may stop the run.
            settings: what `make_spec` takes: `protocol`, `critique`, `limit`, `classifier`, …

        Returns:
            The run: iterate over it for each case with its verdict; `to_pandas()`, `to_arrow()`.

        Raises:
            DataError: a row cannot be read.
            SpecMismatch: the folder was made with other settings or other data.
            BackendError: the judge's engine broke down; what was judged is kept.
        """
        spec = make_spec(task, self.card, **settings)
        cases = open_cases(Path(data), format) if isinstance(data, Path | str) else cases_of(data)
        budget = Budget(max_usd, max_requests)
        place = None if out is None else Path(out)
        return judge_data(cases, spec, place, backend=self._backend, budget=budget, watch=watch)

    def select(
        self,
        query: str,
        responses: Sequence[str | Response],
        by: By = "ratings",
        *,
        scenario: str | None = None,
        **settings: Any,
    ) -> Verdict:
        """The best of N responses.

        Args:
            query: the user's request.
            responses: what is picked from, at least one. A `Response` may carry its `logprob`,
                which decides between responses that are rated equal.
            by: "ratings" rates each response, "pairs" lets them meet in a knockout
                (`runs.knockout`).
            scenario: as in `compare`.
            settings: what `make_spec` takes: `protocol`, `on_overflow`, …

        Returns:
            The verdict: `selected` is the index of the pick, or None where nothing could be read;
            `ratings` holds all ratings, and is empty where pairs were compared.

        Raises:
            DataError: the query is empty, or there are no responses.
            UnknownComponent: there is no such scenario.
            ConfigError: the protocol needs a scenario.
        """
        if not responses:
            raise DataError("there are no responses", path="(call)", field="responses")
        spec = make_select_spec(self.card, by, **settings)
        return select_case(case_of(query, *responses, scenario=scenario), spec, self._backend)

    def classify(
        self,
        query: str,
        *,
        protocol: str | None = None,
        classifier: str | None = None,
        top: int = 3,
    ) -> ClassifiedQuery:
        """Which of the 58 scenarios a query belongs to.

        The judge names it where its card offers a protocol for that (`scenario`, `scenario-menu`)
        or one is given; else an embedded classifier does, which also says how sure it is.

        Args:
            query: the user's request, of any length.
            protocol: how the judge is asked: "scenario", as the paper does, or "scenario-menu" for
                a model that did not learn the names.
            classifier: "fast", "best", or a folder that `autoj train classifier` wrote; it is
                asked, and not the judge. None is "fast" where the judge does not name scenarios.
            top: how many of the likeliest scenarios an embedded classifier gives, the first of
                them included.

        Returns:
            `scenario`, its `group`, and what named it. By an embedded classifier `probability` and
            `alternatives` say how sure it is. A judge's answer that could not be read is no
            scenario: it is None, and `reason` says why.

        Raises:
            DataError: the query is empty.
            ConfigError: both a protocol and a classifier are given, or the protocol does something
                else.
            UnknownComponent: there is no such protocol or classifier.
            MissingExtra: the classifier needs packages that are not installed.
            BackendError: the judge's engine broke down.
        """
        if protocol is not None and classifier is not None:
            raise ConfigError("protocol asks the judge, and classifier does not: give one of them")
        case = case_of(query)
        if classifier is None and (protocol is not None or _names_scenarios(self.card)):
            spec = make_classify_spec(self.card, protocol)
            return ask_scenario(case, spec, self._backend)
        return classify_case(case, self._classifier(classifier or "fast"), top)

    def _classifier(self, name: str) -> ScenarioClassifier:
        if name not in self._classifiers:
            self._classifiers[name] = load_classifier(name)
        return self._classifiers[name]

    def close(self) -> None:
        """Free the model."""
        self._batcher.close()
        self._backend.close()


def _names_scenarios(card: JudgeCard) -> bool:
    return any(load_protocol(name).subject == "query" for name in card.protocols)


async def _awaited(verdict: Future[Verdict]) -> Verdict:
    # Loaded where it is needed: it takes a tenth of the time that `import autoj` does.
    import asyncio

    return await asyncio.wrap_future(verdict)
