"""Opens a stage of a construction for review: its guessed rows, of which a person checks a sample.

Up to so many of each guessed scenario are drawn by the seed. A larger number draws the same rows
and more, so a review can grow.

**Source:** paper, Appendix B, step 2: up to 50 of each scenario.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from autoj.construct.folder import REVIEWABLE, Construction
from autoj.construct.review.answers import is_guessed
from autoj.construct.review.session import ReviewSession
from autoj.construct.stages import StageFolder
from autoj.construct.teacher import drawn_by
from autoj.errors import DataError
from autoj.records import Case
from autoj.scenarios import Library, load_library
from autoj.scenarios.seeds import query_digest


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewedStage:
    """A stage with the rows that a person checks."""

    stage: StageFolder
    rows: tuple[Case, ...]
    """The drawn rows, without their responses."""
    library: Library
    """The scenarios that a row may be given."""

    def session(self) -> ReviewSession:
        """A pass over the rows, to be closed."""
        return ReviewSession(self.stage.path, self.rows, self.library)


def open_review(
    path: Path, name: str = REVIEWABLE, per_scenario: int | None = None
) -> ReviewedStage:
    """Opens a stage for review.

    Args:
        path: the construction's folder.
        name: the stage.
        per_scenario: the most rows of each guessed scenario; None takes the recipe's, else 50.

    Raises:
        DataError: there is no such construction; the stage is not done, guesses no scenarios, or
            guessed none.
    """
    construction = Construction.open(path)
    stage = construction.stage(name)
    if stage.name != REVIEWABLE:
        raise DataError(
            f"stage {stage.name} names no scenarios",
            path=stage.path,
            hint=f"The stage that can be reviewed is {REVIEWABLE}.",
        )
    library = load_library(construction.scenarios)
    n = per_scenario or construction.per_scenario
    rows = drawn_rows(stage.written(), n, construction.seed, library.names())
    if not rows:
        raise DataError(
            "there is nothing to review: each row states its scenario itself", path=stage.path
        )
    return ReviewedStage(stage=stage, rows=tuple(rows), library=library)


def drawn_rows(
    cases: Iterable[Case], per_scenario: int, seed: int, order: Sequence[str]
) -> list[Case]:
    """Draws the rows to check, one a query, scenario by scenario.

    Args:
        cases: the rows that a stage kept, read lazily; rows that stated their scenario themselves
            are not drawn.
        per_scenario: the most rows of a scenario.
        seed: the seed of the draw.
        order: the scenarios in the order in which they are checked; others follow by the alphabet.

    Returns:
        The rows, without their responses.
    """
    grouped: dict[str, _Lot] = {}
    for case in cases:
        if case.scenario is not None and is_guessed(case):
            grouped.setdefault(case.scenario, _Lot(per_scenario, seed)).add(case)
    names = [*(name for name in order if name in grouped), *sorted(set(grouped) - set(order))]
    return [case for name in names for case in grouped[name].drawn()]


class _Lot:
    """The rows of one scenario, of which the first by their keys are kept."""

    def __init__(self, n: int, seed: int) -> None:
        self._n, self._seed = n, seed
        self._rows: dict[bytes, Case] = {}

    def add(self, case: Case) -> None:
        """Adds a row; of those with the same query one stays."""
        key = drawn_by(self._seed, f"review {query_digest(case.query)}")
        if key not in self._rows:
            self._rows[key] = replace(case, responses=(), label=None)
        if len(self._rows) > 4 * self._n:
            self._shorten()

    def drawn(self) -> list[Case]:
        """The rows that are drawn, in their order."""
        self._shorten()
        return list(self._rows.values())

    def _shorten(self) -> None:
        self._rows = {key: self._rows[key] for key in sorted(self._rows)[: self._n]}


def rows_by_id(cases: Iterable[Case], ids: Collection[str]) -> dict[str, Case]:
    """The guessed rows with some ids, without their responses.

    Args:
        cases: the rows that a stage kept, read lazily.
        ids: the ids; others than rows have are left out.
    """
    return {
        case.id: replace(case, responses=(), label=None)
        for case in cases
        if case.id in ids and is_guessed(case)
    }
