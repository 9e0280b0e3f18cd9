"""The responses that judges picked, as cases that another judge grades: each response once.

**Source:** paper, section 5.1: only picks are graded, "to save cost".
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from autoj.bench.eval_r.selection import RatedCandidates
from autoj.datasets.base import Cases, ReadRow
from autoj.records import Case


def pick_id(case: Case, index: int) -> str:
    """The id of the case that grades one candidate, counted from 1 in it."""
    return f"{case.id}/{index + 1}"


def picked_cases(data: Cases, cases: Sequence[Case], picks: Iterable[tuple[int, int]]) -> Cases:
    """Cases of one response each, for the picks of all judges.

    Args:
        data: the set that the picks are from.
        cases: its cases.
        picks: a case's and a response's index each, in any order and as often as they come.
    """
    chosen = sorted(set(picks))
    listed = "\n".join(pick_id(cases[number], index) for number, index in chosen)

    def read() -> Iterator[ReadRow]:
        for line, (number, index) in enumerate(chosen, start=1):
            case = cases[number]
            yield ReadRow(line, _picked(case, index))

    digest = hashlib.sha256(listed.encode()).hexdigest()
    return Cases(
        format=f"picks from {data.format}",
        paths=data.paths,
        read=read,
        derivation=f"{len(chosen)} picked responses, {digest}",
    )


def _picked(case: Case, index: int) -> Case:
    return replace(
        case,
        id=pick_id(case, index),
        responses=(replace(case.responses[index], reference_score=None),),
        meta={},
    )


def graded_cases(cases: Sequence[Case], grades: RatedCandidates, graded: Cases) -> list[Case]:
    """The set with a grader's ratings for reference scores; an ungraded response has none.

    Args:
        cases: the set.
        grades: one rating per graded response, in the order of `graded`.
        graded: what `picked_cases` gave.
    """
    ids = [row.case.id for row in graded.read() if isinstance(row.case, Case)]
    found: Mapping[str, float | None] = {
        name: rating for name, (rating,) in zip(ids, grades.ratings, strict=True)
    }
    return [
        replace(
            case,
            responses=tuple(
                replace(response, reference_score=found.get(pick_id(case, index)))
                for index, response in enumerate(case.responses)
            ),
        )
        for case in cases
    ]
