"""The folder of a construction: its recipe, its stages, and what a person said of them.

```
recipe.json               the recipe and the digests of its files, checked by a resumed construction
01-collect/ …             a folder per stage (`construct.stages`)
made_on.json              in a stage's: the digest of the corrections that it was made on, if any
NN-STAGE.before-review-1  the folder of a stage that was made before the first review; it is kept
                          where it has answers of a teacher, which are used again
```
"""

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count, takewhile
from pathlib import Path

from autoj.construct.binding import recorded
from autoj.construct.review.answers import ReviewCounts, answers_digest, count_reviews
from autoj.construct.stages import StageFolder, StageSummary
from autoj.errors import DataError
from autoj.jsonl import decode, write_records
from autoj.runs.files import LEDGER
from autoj.system_errors import storage_error

REVIEWABLE = "classify"
"""The stage whose results a person may review."""
CLASSIFIER_DATA = "classifier-data"
"""The kind of recipes of classifier data."""
PER_SCENARIO = 50
"""Rows of each guessed scenario that a person checks (paper, Appendix B)."""
MADE_ON = "made_on.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Construction:
    """A construction in its folder."""

    path: Path
    names: tuple[str, ...]
    """The kinds of its stages, such as "judge-pairs", in order."""
    summaries: tuple[StageSummary, ...]
    """Of the stages that are done, in order."""
    stale: tuple[str, ...]
    """Stages that were begun before the last review: the same call makes them again."""
    reviewed: ReviewCounts | None
    """The answers of a person about guessed scenarios; None where there are none."""
    seed: int
    """The seed of all draws."""
    scenarios: Path | None
    """The folder of the user's own scenarios."""
    per_scenario: int
    """Rows of each guessed scenario that a person checks."""

    @classmethod
    def open(cls, path: Path) -> "Construction":
        """Opens a construction, finished or not.

        Raises:
            DataError: the path holds none.
        """
        recipe = recorded(path)["recipe"]
        names = tuple(stage["stage"] for stage in recipe["stages"])
        folders = _folders(path, names)
        summaries = [found for folder in folders if (found := folder.summary()) is not None]
        # A recipe may name no scenarios; then there is nothing to review.
        reviewable = next((folder for folder in folders if folder.name == REVIEWABLE), None)
        behind = folders[folders.index(reviewable) + 1 :] if reviewable else []
        made_on = None
        if reviewable is not None:
            # A classifier's data take each answer, and pairs only what it changes.
            learns = recipe.get("kind") == CLASSIFIER_DATA
            corrections = reviewable.corrections().digest
            made_on = answers_digest(reviewable.path) if learns else corrections
        seed, scenarios = recipe.get("seed"), recipe.get("scenarios")
        per_scenario = recipe.get("per_scenario")
        return cls(
            path=path,
            names=names,
            summaries=tuple(summaries),
            stale=tuple(folder.name for folder in behind if is_stale(folder, made_on)),
            reviewed=None if reviewable is None else count_reviews(reviewable.path),
            seed=seed if isinstance(seed, int) else 0,
            scenarios=Path(scenarios) if isinstance(scenarios, str) else None,
            per_scenario=per_scenario if isinstance(per_scenario, int) else PER_SCENARIO,
        )

    @property
    def n_stages(self) -> int:
        """Stages of the recipe."""
        return len(self.names)

    def stage(self, name: str) -> StageFolder:
        """The folder of a finished stage, by its kind, such as "judge-pairs", or its number.

        Raises:
            DataError: there is no such stage, or it is not done.
        """
        for number, folder in enumerate(_folders(self.path, self.names), start=1):
            called = (folder.name, str(number), folder.path.name)
            if name in called and folder.summary() is not None:
                return folder
        known = ", ".join(summary.name for summary in self.summaries) or "none"
        raise DataError(f"has no finished stage {name!r}; finished: {known}", path=self.path)


def _folders(path: Path, names: Sequence[str]) -> list[StageFolder]:
    return [stage_folder(path, number, name) for number, name in enumerate(names, start=1)]


def stage_folder(path: Path, number: int, name: str) -> StageFolder:
    """The folder of a stage; `number` counts from 1."""
    return StageFolder(path / f"{number:02d}-{name}", name)


def is_stale(stage: StageFolder, corrections: str | None) -> bool:
    """True where a stage was begun on other corrections than the present ones.

    Args:
        stage: a stage behind the one that was reviewed; begun, finished, or neither.
        corrections: the digest of the present ones (`review.answers.Corrections`).
    """
    return stage.path.is_dir() and _made_on(stage.path) != corrections


def begin(stage: StageFolder, corrections: str | None) -> bool:
    """Prepares the folder of a stage: what was begun on other corrections is set aside.

    Args:
        stage: a stage behind the one that was reviewed.
        corrections: the digest of the present ones.

    Returns:
        True where something was set aside.

    Raises:
        DataError: the folder cannot be written.
    """
    was_stale = is_stale(stage, corrections)
    try:
        if was_stale:
            aside = next(path for path in _places(stage.path) if not path.exists())
            stage.path.rename(aside)
            if not any(aside.rglob(LEDGER)):
                shutil.rmtree(aside)
        if corrections is not None and not stage.path.is_dir():
            # Under another name until it says what it is made on.
            draft = stage.path.with_name(f"{stage.path.name}.draft")
            draft.mkdir(exist_ok=True)
            write_records(draft / MADE_ON, [{"corrections": corrections}])
            draft.rename(stage.path)
    except OSError as error:
        raise storage_error(error, stage.path) from error
    return was_stale


def runs_set_aside(stage: StageFolder) -> list[Path]:
    """The runs of a stage that was set aside, earliest first."""
    places = takewhile(Path.is_dir, _places(stage.path))
    return [ledger.parent for place in places for ledger in sorted(place.rglob(LEDGER))]


def _places(path: Path) -> Iterator[Path]:
    return (path.with_name(f"{path.name}.before-review-{number}") for number in count(1))


def _made_on(path: Path) -> str | None:
    """The digest of the corrections that a stage's folder was begun on; None without any."""
    try:
        made_on = decode((path / MADE_ON).read_bytes())
        return str(made_on["corrections"])
    except FileNotFoundError:
        return None
    except (ValueError, TypeError, KeyError) as error:
        raise DataError(
            f"is damaged: {error}",
            path=path / MADE_ON,
            hint="Delete it: the stage is then made again, and asks nothing twice.",
        ) from None
