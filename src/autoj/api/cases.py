"""Conversion of a call's texts to cases."""

from collections.abc import Iterable, Iterator

from autoj.errors import ConfigError, DataError
from autoj.records import Case, Response, normalise_query
from autoj.runs import RunSpec


def numbered(given: Iterable[Case | tuple[str, ...]]) -> Iterator[Case]:
    """Yields cases as given; tuples of texts become cases numbered from 1."""
    for number, item in enumerate(given, start=1):
        yield item if isinstance(item, Case) else case_of(*item, id=f"case-{number}")


def paired(case: Case) -> Case:
    """Checks that a case has two responses, and returns it.

    Raises:
        DataError: it has more or fewer.
    """
    if len(case.responses) != 2:
        raise DataError(
            f"case {case.id!r} has {len(case.responses)} responses; expected two",
            path="(call)",
            field="responses",
        )
    return case


def checked(case: Case, *specs: RunSpec) -> Case:
    """Checks that a judge is shown a case's reference answer, if it has one, and returns the case.

    Raises:
        ConfigError: no judge's protocol shows it.
    """
    if case.reference is not None and not any(spec.needs_reference for spec in specs):
        named = " or ".join(dict.fromkeys(repr(spec.protocol) for spec in specs))
        raise ConfigError(
            f"a reference answer is given, which protocol {named} does not show to the judge",
            hint="protocol='pairwise-reference' and 'single-reference' do.",
        )
    return case


def case_of(
    query: str,
    *responses: str | Response,
    scenario: str | None = None,
    reference: str | None = None,
    id: str = "case",
) -> Case:
    """Makes a case of a query and its responses.

    Raises:
        DataError: the query is empty.
    """
    if not query.strip():
        raise DataError("the query is empty", path="(call)", field="query")
    return Case(
        id=id,
        query=query,
        responses=tuple(
            Response(text=response) if isinstance(response, str) else response
            for response in responses
        ),
        cluster=normalise_query(query),
        scenario=scenario,
        reference=reference,
    )
