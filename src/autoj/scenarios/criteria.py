"""Criteria of a good response, and scenarios with their criteria."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias, get_args

CriterionType: TypeAlias = Literal["content", "format", "style", "basic"]
TYPES: tuple[CriterionType, ...] = get_args(CriterionType)
"""The types of criteria, in the order in which a judge reads them (paper, Table 9)."""
LOWEST_WEIGHT, DEFAULT_WEIGHT, HIGHEST_WEIGHT = 1, 3, 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Criterion:
    """One quality to look for in a response."""

    name: str
    """Unique within a scenario."""
    content: str
    """A statement that is true of a response that meets it; one paragraph."""
    weight: int
    """1 (a detail) to 5 (decisive): its share in the score of `single-criteria-each`. Prompts do
    not show it: the paper dropped weights there, and nothing measurable was gained by it here."""
    type: CriterionType
    """"basic" applies to many scenarios, the others to this one alone."""
    path: Path
    """The file that defines it."""
    line: int
    """The line in that file, counted from 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """A kind of query, with the criteria for responses to it."""

    name: str
    group: str | None
    """One of the taxonomy's eight groups or the user's own; None without one."""
    description: str
    """The user's wish, in a sentence."""
    criteria: tuple[Criterion, ...]
    """In the order of its file, with included criteria in the place of the include."""
    path: Path
    """The file that defines it."""

    @property
    def own(self) -> tuple[Criterion, ...]:
        """The criteria of its own file, without included ones."""
        return tuple(criterion for criterion in self.criteria if criterion.path == self.path)

    def of_type(self, wanted: CriterionType) -> tuple[Criterion, ...]:
        """The criteria of one type."""
        return tuple(criterion for criterion in self.criteria if criterion.type == wanted)


def normalise_content(content: str) -> str:
    """Normalises a criterion, so that equal ones can be found: letters and digits, lower case.

    >>> normalise_content("It is  right.") == normalise_content("it is right")
    True
    """
    return "".join(character for character in content.casefold() if character.isalnum())


def count_distinct(scenarios: Iterable[Scenario]) -> int:
    """Counts the distinct criteria of scenarios; shared ones count once."""
    return len({normalise_content(item.content) for each in scenarios for item in each.criteria})
