"""Judges in Python: the same route as the command line, for one case at a time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import Any, Literal, Self

from autoj.backends import load_backend
from autoj.backends.base import Backend
from autoj.errors import ConfigError, DataError
from autoj.judges import load_card
from autoj.protocols import load_protocol
from autoj.records import Case, JudgeCard, Response, Verdict, normalise_query
from autoj.runs import judge_case, make_spec
from autoj.scenarios.classifier import ScenarioClassifier, load_classifier
from autoj.tasks.classify import (
    ClassifiedQuery,
    ask_scenario,
    classify_case,
    make_classify_spec,
)
from autoj.tasks.jury_folder import Seat, choose_method, make_seats
from autoj.tasks.selection_folder import By, make_select_spec, select_case
from autoj.verdicts.jury import JuryVerdict, Method, as_vote, jury_rating, jury_verdict

__all__ = ["Judge", "Jury"]


class _Closeable(ABC):
    """What holds a model until it is closed: at the end of a `with` block, or by `close`."""

    @abstractmethod
    def close(self) -> None:
        """Free what is heavy."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


class Judge(_Closeable):
    """A judge that is loaded and can be asked.

    Use it as a context manager, or `close` it, to free its model.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._classifiers: dict[str, ScenarioClassifier] = {}

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
        return judge_case(_case(query, a, b, scenario=scenario), spec, self._backend)

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
        return judge_case(_case(query, response, scenario=scenario), spec, self._backend)

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
        return select_case(_case(query, *responses, scenario=scenario), spec, self._backend)

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
        case = _case(query)
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
        self._backend.close()


class Jury(_Closeable):
    """Several judges, asked beside each other; a verdict keeps each judge's own.

    Use it as a context manager, or `close` it, to free all models: they are in memory together.
    """

    def __init__(self, judges: Sequence[Judge], method: Method | None = None) -> None:
        """Seat judges.

        Args:
            judges: at least two, no two alike.
            method: what decides on pairs, "majority" or "mean"; None is the mean of probabilities
                where each judge gives them, else the majority.

        Raises:
            ConfigError: there are fewer than two.
        """
        if len(judges) < 2:
            raise ConfigError(f"a jury has at least two judges, found {len(judges)}")
        self._judges = tuple(judges)
        self._method = method
        self._name = ", ".join(judge.card.name for judge in judges)

    @classmethod
    def load(cls, *judges: str | JudgeCard, method: Method | None = None) -> Jury:
        """Load judges by name, as `Judge.load` does; where one fails, the others are freed.

        Args:
            judges: names, paths of cards, `backend:model`, or cards.
            method: as above.
        """
        with ExitStack() as opened:
            jury = cls([opened.enter_context(Judge.load(judge)) for judge in judges], method)
            opened.pop_all()
            return jury

    def compare(
        self, query: str, a: str, b: str, *, scenario: str | None = None, **settings: Any
    ) -> JuryVerdict:
        """Which of two responses is better by votes or mean probabilities (`runs.jury`).

        Args:
            query: the user's request.
            a: the first response.
            b: the second response.
            scenario: as in `Judge.compare`.
            settings: what `make_spec` takes, for all judges.

        Returns:
            The jury's verdict; `judges` holds each judge's own, `rule` says what decided.

        Raises:
            DataError: the query is empty.
            ConfigError: two judges are alike, one cannot do this, or the mean is wanted where one
                gives no probabilities.
        """
        seats = self._seats("judge", settings)
        method = choose_method(seats, self._method)
        case = _case(query, a, b, scenario=scenario)
        votes = [as_vote(verdict) for verdict in self._ask(seats, case)]
        return jury_verdict(votes, method, self._name)

    def rate(
        self, query: str, response: str, *, scenario: str | None = None, **settings: Any
    ) -> JuryVerdict:
        """The mean of the judges' ratings of one response; as `compare`."""
        seats = self._seats("rate", settings)
        case = _case(query, response, scenario=scenario)
        return jury_rating(self._ask(seats, case), self._name)

    def _seats(self, task: Literal["judge", "rate"], settings: dict[str, Any]) -> list[Seat]:
        cards = [(judge.card.name, judge.card) for judge in self._judges]
        return make_seats(task, cards, **settings)

    def _ask(self, seats: Sequence[Seat], case: Case) -> list[Verdict]:
        return [
            judge_case(case, seat.spec, judge.backend)
            for seat, judge in zip(seats, self._judges, strict=True)
        ]

    def close(self) -> None:
        """Free all models."""
        for judge in self._judges:
            judge.close()


def _names_scenarios(card: JudgeCard) -> bool:
    return any(load_protocol(name).subject == "query" for name in card.protocols)


def _case(query: str, *responses: str | Response, scenario: str | None = None) -> Case:
    if not query.strip():
        raise DataError("the query is empty", path="(call)", field="query")
    return Case(
        id="case",
        query=query,
        responses=tuple(
            Response(text=response) if isinstance(response, str) else response
            for response in responses
        ),
        cluster=normalise_query(query),
        scenario=scenario,
    )
