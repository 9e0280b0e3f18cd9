"""What the protocols that judge by a scenario's criteria share."""

from __future__ import annotations

import re

from autoj.errors import ConfigError
from autoj.protocols._folding import clean, fold
from autoj.records import Case, Message
from autoj.scenarios import Library, Scenario, render_message

__all__ = ["asks_for_own_answer", "assessment_of", "criteria_message", "scenario_of"]

# The groups whose queries have one right answer (paper, Table 6): a judge that has worked it out
# first is not led by what a response claims.
_ONE_RIGHT_ANSWER = ("Exam Questions",)
_ASSESSMENT = re.compile(
    r"^[ \t*_#>]{0,8}\[assessment\][ \t*_:]{0,8}$", re.IGNORECASE | re.MULTILINE
)


def scenario_of(case: Case, library: Library, protocol: str) -> Scenario:
    """The scenario whose criteria a case is judged by.

    Args:
        case: what is judged.
        library: the scenarios that may be meant.
        protocol: what asks, for the message.

    Raises:
        ConfigError: the case names no scenario.
        UnknownComponent: it names one that is not there.
    """
    if case.scenario is None:
        raise ConfigError(
            f"case {case.id!r} has no scenario, and protocol {protocol!r} judges by the criteria "
            "of one",
            hint='Give its row a "scenario" (`autoj scenarios` lists them), let --classify name '
            "it, or use a protocol that needs none.",
        )
    return library.find(case.scenario)


def criteria_message(scenario: Scenario) -> Message:
    """The system message with a scenario's criteria (paper, Table 8)."""
    return Message(role="system", content=render_message(scenario))


def asks_for_own_answer(scenario: Scenario) -> bool:
    """Whether a judge does better to answer such a query itself before it judges."""
    return scenario.group in _ONE_RIGHT_ANSWER


def assessment_of(text: str) -> str:
    r"""What a judge wrote about the responses, without the answer of its own before it.

    >>> assessment_of("[Own answer]\n4\n\n[Assessment]\nResponse 1 is right.")
    'Response 1 is right.'
    """
    visible = clean(text)
    found = _ASSESSMENT.search(fold(visible))
    return visible if found is None else visible[found.end() :].strip()
