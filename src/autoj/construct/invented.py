"""Judgments that quote what nobody wrote: neither the query nor a response has it.

A teacher that takes an example of its criteria for a response's words teaches a judge to invent.
"""

from collections.abc import Iterator

from autoj.errors import UnknownComponent
from autoj.records import Case
from autoj.scenarios import Library, Scenario
from autoj.verdicts.quotations import invented_quotations, stands_in

REASON = "quotes what nobody wrote"


def invention_fault(judgment: str, case: Case, library: Library) -> tuple[str, str] | None:
    """The reason for which a judgment's quotations are of no use, with them; None for good ones.

    The names of the scenario and of its criteria are words of the task, and may be quoted. The text
    of a criterion may not: its example is told apart in the details.

    Args:
        judgment: the text that would be trained on.
        case: the case that it is about.
        library: the scenarios whose criteria the teacher was shown.
    """
    scenario = _scenario_of(case, library)
    found = invented_quotations(judgment, [*_written(case), *_names(scenario)])
    if not found:
        return None
    criteria = () if scenario is None else tuple(each.content for each in scenario.criteria)
    return REASON, "; ".join(
        f'"{text}"' + (" (of the criteria)" if stands_in(text, criteria) else "") for text in found
    )


def _written(case: Case) -> Iterator[str]:
    """All texts of a case that a judgment may quote."""
    yield case.query
    yield from (response.text for response in case.responses)
    yield from (message.content for message in case.history)
    if case.reference is not None:
        yield case.reference


def _scenario_of(case: Case, library: Library) -> Scenario | None:
    try:
        return None if case.scenario is None else library.find(case.scenario)
    except UnknownComponent:
        return None


def _names(scenario: Scenario | None) -> tuple[str, ...]:
    if scenario is None:
        return ()
    return (scenario.name, scenario.description, *(each.name for each in scenario.criteria))
