"""One judge in Python: the commands of the terminal for one case, for many, and for a file."""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Literal

from autoj.api.cases import case_of, checked, numbered, paired
from autoj.api.closing import Closeable
from autoj.backends import load_backend
from autoj.backends.base import Backend
from autoj.datasets import open_cases
from autoj.datasets.base import cases_of
from autoj.errors import ConfigError, DataError
from autoj.judges import load_card
from autoj.protocols import protocols_of
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
    """A loaded judge.

    Use it as a context manager, or `close` it, to free its model.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._classifiers: dict[str, ScenarioClassifier] = {}
        self._batcher = Batcher(backend)

    @classmethod
    def load(cls, judge: str | JudgeCard = "embedded", **options: Any) -> "Judge":
        """Loads a judge by name.

        Args:
            judge: a card's name, the path of a card, `backend:model`, or a card.
            options: options of its backend, such as `answer` for `scripted`.

        Raises:
            UnknownComponent: there is no such judge.
            MissingExtra: its packages are not installed.
        """
        card = load_card(judge) if isinstance(judge, str) else judge
        return cls(load_backend(card, **options))

    @property
    def backend(self) -> Backend:
        """The backend that runs it."""
        return self._backend

    @property
    def card(self) -> JudgeCard:
        """The judge's card."""
        return self._backend.card

    def compare(
        self,
        query: str,
        a: str,
        b: str,
        *,
        scenario: str | None = None,
        reference: str | None = None,
        **settings: Any,
    ) -> Verdict:
        """Compares two responses, in both orders or by separate ratings.

        Args:
            query: the user's request.
            a: the first response.
            b: the second response.
            scenario: the query's scenario, for protocols with its criteria; `classify` finds it.
            reference: a reference answer, for protocols that show one.
            settings: settings of `make_spec`: `protocol`, `critique`, `on_conflict`, …

        Returns:
            The verdict: `winner` is "a", "b", "tie", or None if unknown.

        Raises:
            DataError: the query is empty.
            UnknownComponent: there is no such scenario.
            ConfigError: the protocol needs a scenario or a reference, or does not show the
                reference that is given.
        """
        spec = make_spec("judge", self.card, **settings)
        return judge_case(
            checked(case_of(query, a, b, scenario=scenario, reference=reference), spec),
            spec,
            self._backend,
        )

    async def acompare(
        self,
        query: str,
        a: str,
        b: str,
        *,
        scenario: str | None = None,
        reference: str | None = None,
        **settings: Any,
    ) -> Verdict:
        """Compares like `compare`, without blocking; concurrent calls are judged as one batch."""
        spec = make_spec("judge", self.card, **settings)
        case = checked(case_of(query, a, b, scenario=scenario, reference=reference), spec)
        return await _awaited(self._batcher.submit(case, spec))

    def compare_many(
        self, pairs: Iterable[Case | tuple[str, str, str]], **settings: Any
    ) -> Iterator[Verdict]:
        """Compares many pairs in batches, without a folder.

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
        self,
        query: str,
        response: str,
        *,
        scenario: str | None = None,
        reference: str | None = None,
        **settings: Any,
    ) -> Verdict:
        """Rates one response from 1 to 10.

        Args:
            query: the user's request.
            response: the response.
            scenario: as in `compare`.
            reference: as in `compare`.
            settings: settings of `make_spec`: `protocol`, `critique`, `on_overflow`, …

        Returns:
            The verdict: `ratings` has one rating, or None if it could not be read.

        Raises:
            DataError: the query is empty.
            UnknownComponent: there is no such scenario.
            ConfigError: the protocol needs a scenario or a reference, or does not show the
                reference that is given.
        """
        spec = make_spec("rate", self.card, **settings)
        return judge_case(
            checked(case_of(query, response, scenario=scenario, reference=reference), spec),
            spec,
            self._backend,
        )

    async def arate(
        self,
        query: str,
        response: str,
        *,
        scenario: str | None = None,
        reference: str | None = None,
        **settings: Any,
    ) -> Verdict:
        """Rates like `rate`, without blocking; concurrent calls are judged as one batch."""
        spec = make_spec("rate", self.card, **settings)
        case = checked(case_of(query, response, scenario=scenario, reference=reference), spec)
        return await _awaited(self._batcher.submit(case, spec))

    def rate_many(
        self, responses: Iterable[Case | tuple[str, str]], **settings: Any
    ) -> Iterator[Verdict]:
        """Rates many responses in batches, without a folder.

        Args:
            responses: cases with any number of responses, or (query, response); read lazily.
            settings: as in `rate`.

        Yields:
            A verdict for each, in order; its `ratings` has one value per response.

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
        cache: bool | None = None,
        **settings: Any,
    ) -> Run:
        """Judges all cases of a file like `autoj judge` and `autoj rate`, and stores the run.

        After an interruption, the same call resumes the run.

        Args:
            data: a file that `autoj judge` reads, or cases.
            task: "judge" compares the two responses of each case, "rate" rates each response.
            out: the run's folder; None chooses one under `runs/`, the same for equal settings.
            format: the file's format, if its fields fit several.
            max_usd: the cap on the run's cost in US dollars, by the card's prices.
            max_requests: the cap on the run's requests.
            watch: receives progress and messages; it may stop the run.
            cache: True takes answers of earlier runs and keeps new ones, False does not; None does
                where a server is paid.
            settings: settings of `make_spec`: `protocol`, `critique`, `limit`, `classifier`, …;
                `critic` is the card of another judge, which writes the critiques.

        Returns:
            The run: iterating yields each case with its verdict; `to_pandas()`, `to_arrow()`.

        Raises:
            DataError: a row cannot be read.
            SpecMismatch: the folder was made with other settings or other data.
            BackendError: the judge's backend failed; all judgments so far are kept.
        """
        spec = make_spec(task, self.card, **settings)
        cases = open_cases(Path(data), format) if isinstance(data, Path | str) else cases_of(data)
        budget = Budget(max_usd, max_requests)
        place = None if out is None else Path(out)
        return judge_data(
            cases, spec, place, backend=self._backend, budget=budget, watch=watch, cache=cache
        )

    def select(
        self,
        query: str,
        responses: Sequence[str | Response],
        by: By = "ratings",
        *,
        scenario: str | None = None,
        reference: str | None = None,
        **settings: Any,
    ) -> Verdict:
        """Selects the best of N responses.

        Args:
            query: the user's request.
            responses: the responses, at least one. A `Response` may have its `logprob`, which
                breaks ties between equal ratings.
            by: "ratings" rates each response, "pairs" compares them in a knockout
                (`verdicts.knockout`).
            scenario: as in `compare`.
            reference: as in `compare`.
            settings: settings of `make_spec`: `protocol`, `on_overflow`, …

        Returns:
            The verdict: `selected` is the index of the best response, or None if nothing could be
            read; `ratings` has all ratings, and is empty for "pairs".

        Raises:
            DataError: the query is empty, or there are no responses.
            UnknownComponent: there is no such scenario.
            ConfigError: the protocol needs a scenario or a reference, or does not show the
                reference that is given.
        """
        if not responses:
            raise DataError("there are no responses", path="(call)", field="responses")
        spec = make_select_spec(self.card, by, **settings)
        return select_case(
            checked(case_of(query, *responses, scenario=scenario, reference=reference), spec),
            spec,
            self._backend,
        )

    def classify(
        self,
        query: str,
        *,
        protocol: str | None = None,
        classifier: str | None = None,
        top: int = 3,
    ) -> ClassifiedQuery:
        """Classifies a query by the 58 scenarios.

        The judge does it if its card offers a protocol for that (`scenario`, `scenario-menu`) or
        one is given; else an embedded classifier does, which also gives probabilities.

        Args:
            query: the user's request, of any length.
            protocol: the protocol for the judge: "scenario", as in the paper, or "scenario-menu"
                for a model that was not trained on the names.
            classifier: "fast", "best", or a folder written by `autoj train classifier`, to use
                instead of the judge. None is "fast" if the judge does not classify.
            top: the number of the likeliest scenarios that an embedded classifier returns, the
                first one included.

        Returns:
            `scenario`, its `group`, and the judge or classifier that named it. An embedded
            classifier gives `probability` and `alternatives`. If a judge's answer could not be
            read, `scenario` is None and `reason` says why.

        Raises:
            DataError: the query is empty.
            ConfigError: both a protocol and a classifier are given, or the protocol is not for
                scenarios.
            UnknownComponent: there is no such protocol or classifier.
            MissingExtra: the classifier needs packages that are not installed.
            BackendError: the judge's backend failed.
        """
        if protocol is not None and classifier is not None:
            raise ConfigError("protocol is for a judge and classifier replaces it: give only one")
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
        """Frees the model."""
        self._batcher.close()
        self._backend.close()


def _names_scenarios(card: JudgeCard) -> bool:
    return any(its.subject == "query" for its in protocols_of(card))


async def _awaited(verdict: Future[Verdict]) -> Verdict:
    # Loaded where it is needed: it takes a tenth of the time that `import autoj` does.
    import asyncio

    return await asyncio.wrap_future(verdict)
