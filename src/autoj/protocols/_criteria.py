"""Shared parts of the protocols that judge by a scenario's criteria."""

import re

from autoj.errors import ConfigError
from autoj.protocols._folding import clean, fold
from autoj.records import Case, Message
from autoj.scenarios import Library, Scenario, render_message

# The groups whose queries have one right answer (paper, Table 6): a judge that solves them first is
# not misled by a response.
_ONE_RIGHT_ANSWER = ("Exam Questions",)
_ASSESSMENT = re.compile(
    r"^[ \t*_#>]{0,8}\[assessment\][ \t*_:]{0,8}$", re.IGNORECASE | re.MULTILINE
)


def scenario_of(case: Case, library: Library, protocol: str) -> Scenario:
    """The scenario whose criteria a case is judged by.

    Args:
        case: the case to judge.
        library: the known scenarios.
        protocol: the protocol's name, for the message.

    Raises:
        ConfigError: the case names no scenario.
        UnknownComponent: it names an unknown one.
    """
    if case.scenario is None:
        raise ConfigError(
            f"case {case.id!r} has no scenario, and protocol {protocol!r} judges by its criteria",
            hint='Add a "scenario" to its row (`autoj scenarios` lists them), add --classify to '
            "name it, or use a protocol without criteria.",
        )
    return library.find(case.scenario)


def criteria_message(scenario: Scenario) -> Message:
    """The system message with a scenario's criteria (paper, Table 8)."""
    return Message(role="system", content=render_message(scenario))


def asks_for_own_answer(scenario: Scenario) -> bool:
    """True where a judge should answer such a query itself before it judges."""
    return scenario.group in _ONE_RIGHT_ANSWER


def assessment_of(text: str) -> str:
    r"""The judge's text about the responses, without its own answer before it.

    >>> assessment_of("[Own answer]\n4\n\n[Assessment]\nResponse 1 is right.")
    'Response 1 is right.'
    """
    visible = clean(text)
    found = _ASSESSMENT.search(fold(visible))
    return visible if found is None else visible[found.end() :].strip()
