"""The models that wrote the responses of pairs: a figure of a and b is a figure of two models."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from autoj.records import Case, CaseOutline


@dataclass(frozen=True, slots=True, kw_only=True)
class Authors:
    """The authors of the first and of the second responses of some pairs."""

    a: str | None = None
    """The model that wrote all first responses; None where several did or some name none."""
    b: str | None = None
    """The same for the second responses."""
    n_a: int = 0
    """Models that are named as authors of first responses."""
    n_b: int = 0

    def name(self, side: Literal["a", "b"]) -> str | None:
        """The model that a figure of a or b is of; None where it is of no single model."""
        if self.a == self.b:
            return None
        return self.a if side == "a" else self.b


NOBODY = Authors()
"""No model is named."""


class AuthorTally:
    """Collects the authors of cases as they come; rows that are no pairs have none."""

    def __init__(self) -> None:
        self._names: tuple[set[str | None], set[str | None]] = (set(), set())

    def add(self, case: Case | CaseOutline) -> None:
        """Adds a case."""
        for known, name in zip(self._names, _names(case), strict=False):
            known.add(name)

    def found(self) -> Authors:
        """The authors of all cases so far."""
        a, b = (next(iter(known)) if len(known) == 1 else None for known in self._names)
        n_a, n_b = (len(known - {None}) for known in self._names)
        return Authors(a=a, b=b, n_a=n_a, n_b=n_b)


def authors_of(cases: Iterable[Case | CaseOutline]) -> Authors:
    """The authors of all responses of some pairs.

    Args:
        cases: with or without texts.
    """
    tally = AuthorTally()
    for case in cases:
        tally.add(case)
    return tally.found()


def _names(case: Case | CaseOutline) -> tuple[str | None, ...]:
    if len(case.responses) == 2:
        return tuple(response.model for response in case.responses)
    # Where two critiques of one response are compared, their critics are the authors.
    critics = case.meta.get("critics") if case.meta else None
    return tuple(critics) if isinstance(critics, list) and len(critics) == 2 else ()
