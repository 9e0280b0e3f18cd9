"""Statements of a recipe about data that are not at hand, for an estimate before they are fetched.

They change nothing that a construction does.
"""

from typing import Annotated, Literal, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, model_validator

Share: TypeAlias = Annotated[float, Field(ge=0, le=1)]


FilteringStage: TypeAlias = Literal[
    "deduplicate", "decontaminate", "classify", "judge-singles", "judge-pairs"
]


class _Statement(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class DeclaredRows(_Statement):
    """The rows of a source, as its card states them."""

    rows: int = Field(ge=1)
    """Its rows."""
    kept: Share = 1.0
    """The share of them that stage collect is assumed to keep."""
    scenarios: tuple[str, ...] = ()
    """The scenarios that they are assumed to be of, in equal parts; empty takes `shares`."""


class Assumed(_Statement):
    """Assumptions about all sources that are not at hand."""

    kept: dict[FilteringStage, Share] = {}
    """The share of rows that a stage keeps, by its kind; of a teacher's stage, of its judgments.
    Others are assumed to keep all."""
    shares: dict[str, Share] = {}
    """The share of queries of each scenario."""
    query_characters: Annotated[int, Field(ge=1)] = 400
    """The mean length of a query."""
    response_characters: Annotated[int, Field(ge=1)] = 1200
    """The mean length of a response."""
    published_pairs: int | None = None
    """The pairs with a judgment that somebody else's construction had, to be shown beside ours."""
    published_singles: int | None = None
    """The rated single responses, likewise."""
    published_by: str = "published"
    """Whose they are."""

    @model_validator(mode="after")
    def _shares_are_of_one_whole(self) -> Self:
        total = sum(self.shares.values())
        if self.shares and not 0.98 <= total <= 1.02:
            raise ValueError(f"shares: they sum to {total:.2f}, and should to 1")
        return self
