"""Opens a stage of a construction for review."""

from dataclasses import dataclass
from pathlib import Path

from autoj.construct.folder import REVIEWABLE, Construction
from autoj.construct.review.draw import drawn_rows
from autoj.construct.review.session import ReviewSession
from autoj.construct.stages import StageFolder
from autoj.errors import DataError
from autoj.records import Case
from autoj.scenarios import Library, load_library


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
