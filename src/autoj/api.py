"""Judges in Python: the same route as the command line, for one case at a time."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Any

from autoj.backends import load_backend
from autoj.backends.base import Backend
from autoj.errors import DataError
from autoj.judges import load_card
from autoj.records import Case, JudgeCard, Response, Verdict, normalise_query
from autoj.runs import judge_case, make_spec
from autoj.runs.selecting import By, make_select_spec, select_case

__all__ = ["Judge"]


class Judge:
    """A judge that is loaded and can be asked.

    Use it as a context manager, or `close` it, to free its model.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

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
    def card(self) -> JudgeCard:
        """The judge's card."""
        return self._backend.card

    def compare(self, query: str, a: str, b: str, **settings: Any) -> Verdict:
        """Which of two responses is better, asked in both orders, or each response alone.

        Args:
            query: the user's request.
            a: the first response.
            b: the second response.
            settings: what `make_spec` takes: `protocol`, `critique`, `on_conflict`, …

        Returns:
            The verdict: `winner` is "a", "b", "tie", or None where it is not known.

        Raises:
            DataError: the query is empty.
        """
        spec = make_spec("judge", self.card, **settings)
        return judge_case(_case(query, a, b), spec, self._backend)

    def rate(self, query: str, response: str, **settings: Any) -> Verdict:
        """A rating from 1 to 10 of one response.

        Args:
            query: the user's request.
            response: the response.
            settings: what `make_spec` takes: `protocol`, `critique`, `on_overflow`, …

        Returns:
            The verdict: `ratings` holds one rating, or None where it could not be read.

        Raises:
            DataError: the query is empty.
        """
        spec = make_spec("rate", self.card, **settings)
        return judge_case(_case(query, response), spec, self._backend)

    def select(
        self, query: str, responses: Sequence[str | Response], by: By = "ratings", **settings: Any
    ) -> Verdict:
        """The best of N responses.

        Args:
            query: the user's request.
            responses: what is picked from, at least one. A `Response` may carry its `logprob`,
                which decides between responses that are rated equal.
            by: "ratings" rates each response, "pairs" lets them meet in a knockout
                (`runs.knockout`).
            settings: what `make_spec` takes: `protocol`, `on_overflow`, …

        Returns:
            The verdict: `selected` is the index of the pick, or None where nothing could be read;
            `ratings` holds all ratings, and is empty where pairs were compared.

        Raises:
            DataError: the query is empty, or there are no responses.
        """
        if not responses:
            raise DataError("there are no responses", path="(call)", field="responses")
        spec = make_select_spec(self.card, by, **settings)
        return select_case(_case(query, *responses), spec, self._backend)

    def close(self) -> None:
        """Free the model."""
        self._backend.close()

    def __enter__(self) -> Judge:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def _case(query: str, *responses: str | Response) -> Case:
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
    )
