"""Criteria of a good response, scenarios with their criteria, and both as a judge reads them.

**Source:** the system message is that of the paper's Table 8.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, TypeAlias, get_args

CriterionType: TypeAlias = Literal["content", "format", "style", "basic"]
TYPES: tuple[CriterionType, ...] = get_args(CriterionType)
"""The types of criteria, in the order in which a judge reads them (paper, Table 9)."""
LOWEST_WEIGHT, DEFAULT_WEIGHT, HIGHEST_WEIGHT = 1, 3, 5
_SPECIFIC = (
    "The following are the specific criteria for this type of query, focusing on the {} aspect:"
)
_HEADINGS: dict[CriterionType, str] = {
    "content": _SPECIFIC.format("content"),
    "format": _SPECIFIC.format("format"),
    "style": _SPECIFIC.format("style"),
    "basic": "The following are the basic and general criteria:",
}
_FRAME = Path(__file__).parent / "data" / "system_message.en.txt"


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


@cache
def message_frame() -> str:
    """The template of the system message, with the fields `{description}` and `{criteria}`."""
    return _FRAME.read_bytes().decode("utf-8")


@cache
def _frame() -> tuple[str, str, str]:
    """The parts of Table 8 before the description, before the criteria, and after them."""
    before, _, rest = message_frame().partition("{description}")
    between, _, after = rest.partition("{criteria}")
    return before, between, after


def render_criteria(scenario: Scenario) -> str:
    """Renders criteria by type, each type numbered from 1; types without criteria are left out.

    **Source:** paper, Table 9, whose "planning" shows content, format and basic criteria; style
    criteria follow format, under a heading of the same form.
    """
    sections = [
        "\n".join(
            [
                _HEADINGS[wanted],
                *(
                    f"{number}. {criterion.name}: {criterion.content}"
                    for number, criterion in enumerate(scenario.of_type(wanted), start=1)
                ),
            ]
        )
        for wanted in TYPES
        if scenario.of_type(wanted)
    ]
    return "\n\n".join(sections)


def render_message(scenario: Scenario) -> str:
    """Renders the system message with a scenario's criteria.

    **Source:** paper, Table 8, with the shipped criteria or the user's.
    """
    before, between, after = _frame()
    return f"{before}{scenario.description}{between}{render_criteria(scenario)}{after}"
