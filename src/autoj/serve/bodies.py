"""Bodies of the requests of `/v1`, checked at the border.

A body has one case in its own fields, or several in `cases`.
"""

from typing import Annotated, Any, ClassVar, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from autoj.records import Case, Response, normalise_query
from autoj.serve.problems import Problem

LONGEST_TEXT = 400_000
Text = Annotated[str, Field(max_length=LONGEST_TEXT)]
Query = Annotated[str, Field(min_length=1, max_length=LONGEST_TEXT, pattern=r"\S")]
Name = Annotated[str, Field(min_length=1, max_length=200)]
# No dot and no slash: a name is looked up among ours, and is never a file.
Component = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,100}$")]
Deadline = Annotated[float, Field(gt=0, le=3600)]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class PairCase(_Body):
    """A query with two responses."""

    id: Name = "case"
    query: Query
    a: Text
    b: Text
    scenario: Name | None = None
    reference: Text | None = None

    def case(self) -> Case:
        """The case."""
        return _case(self, self.a, self.b)


class RatedCase(_Body):
    """A query with one response."""

    id: Name = "case"
    query: Query
    response: Text
    scenario: Name | None = None
    reference: Text | None = None

    def case(self) -> Case:
        """The case."""
        return _case(self, self.response)


class ChoiceCase(_Body):
    """A query with the responses to select from."""

    id: Name = "case"
    query: Query
    responses: list[Text] = Field(min_length=1)
    scenario: Name | None = None
    reference: Text | None = None

    def case(self) -> Case:
        """The case."""
        return _case(self, *self.responses)


class QueryCase(_Body):
    """A query alone."""

    id: Name = "case"
    query: Query

    def case(self) -> Case:
        """The case."""
        return _case(self)


def _case(body: PairCase | RatedCase | ChoiceCase | QueryCase, *texts: str) -> Case:
    return Case(
        id=body.id,
        query=body.query,
        responses=tuple(Response(text=text) for text in texts),
        cluster=normalise_query(body.query),
        scenario=getattr(body, "scenario", None),
        reference=getattr(body, "reference", None),
    )


class ScenarioRequest(_Body):
    """A query whose scenario is asked for."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"query": "Write a song about the sea."}]}
    )
    query: Query


Given = TypeVar("Given", PairCase, RatedCase, ChoiceCase, QueryCase)


class _Request(_Body, Generic[Given]):
    """The judge, its settings, and one case or several."""

    one: ClassVar[type[Any]]
    """The model of a case."""

    judge: Name | None = Field(None, description="One of GET /v1/judges; the first if left out.")
    protocol: Component | None = Field(None, description="A protocol's name (`autoj prompts`).")
    max_tokens: int | None = Field(None, ge=1, le=16_384)
    deadline_seconds: Deadline | None = None
    cases: list[Given] | None = Field(None, min_length=1, description="Several cases.")

    def given(self, most: int) -> list[Given]:
        """The cases, at least one.

        Raises:
            Problem: there are one and several, or more than may be.
            ValidationError: the one case lacks a field.
        """
        fields = self.one.model_fields
        single = self.model_dump(include=self.model_fields_set & set(fields))
        if self.cases is None:
            return [self.one.model_validate(single)]
        if single:
            name = min(single)
            raise Problem(
                status=422, field=name, detail=f"{name}: give one case or `cases`, not both"
            )
        if len(self.cases) > most:
            raise Problem(
                status=422,
                field="cases",
                detail=f"cases: {len(self.cases):,} rows, and a request may have {most:,}",
            )
        return self.cases

    def settings(self) -> dict[str, Any]:
        """The settings of the run's spec that the body states."""
        own = {"judge", "deadline_seconds", "cases", "stream", "by", *self.one.model_fields}
        return self.model_dump(include=self.model_fields_set - own, exclude_none=True)


class _Drawn(_Request[Given], Generic[Given]):
    samples: int | None = Field(None, ge=1, le=32, description="Draws per question.")
    temperature: float | None = Field(None, ge=0, le=2)
    critique: bool | None = None
    on_overflow: Literal["error", "truncate"] = "error"
    stream: bool = Field(False, description="One case: its text as server-sent events.")
    id: Name = "case"
    query: Query | None = None
    scenario: Name | None = None
    reference: Text | None = None


class CompareRequest(_Drawn[PairCase]):
    """One pair or several, and the settings of `autoj judge`."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"query": "What is 2 + 2?", "a": "4", "b": "5"}]},
    )
    one = PairCase
    a: Text | None = None
    b: Text | None = None
    orders: Literal["both", "one"] = "both"
    on_conflict: Literal["tie", "unresolved", "probability"] | None = None


class RateRequest(_Drawn[RatedCase]):
    """One response or several, and the settings of `autoj rate`."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"query": "What is 2 + 2?", "response": "Four."}]},
    )
    one = RatedCase
    response: Text | None = None


class SelectRequest(_Request[ChoiceCase]):
    """One list of responses or several, and the settings of `autoj select`."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"query": "What is 2 + 2?", "responses": ["5", "4"]}]},
    )
    one = ChoiceCase
    by: Literal["ratings", "pairs"] = "ratings"
    on_overflow: Literal["error", "truncate"] = "error"
    id: Name = "case"
    query: Query | None = None
    responses: list[Text] | None = Field(None, min_length=1)
    scenario: Name | None = None
    reference: Text | None = None


class ClassifyRequest(_Request[QueryCase]):
    """One query or several."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"query": "Write a poem about the sea."}]},
    )
    one = QueryCase
    id: Name = "case"
    query: Query | None = None
