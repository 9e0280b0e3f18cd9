"""Rendering of a scenario for a judge: the system message of the paper's Table 8."""

from functools import cache
from pathlib import Path

from autoj.scenarios.criteria import TYPES, CriterionType, Scenario

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
