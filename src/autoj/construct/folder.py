"""The folder of a construction: its recipe, its stages, and what a person said of them.

```
recipe.json            the recipe and the digests of its files, which a resumed construction checks
01-collect/ …          a folder per stage (`construct.stages`)
```
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from autoj.construct.review.counts import ReviewCounts, count_reviews
from autoj.construct.stages import StageFolder, StageSummary
from autoj.construct.staleness import is_stale
from autoj.errors import DataError, SpecMismatch
from autoj.jsonl import write_records
from autoj.runs.lock import HOLDER, LOCK

_KIND = re.compile("[a-z]+(-[a-z]+)*")

RECIPE = "recipe.json"
REVIEWABLE = "classify"
"""The stage whose results a person may review."""


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

    @classmethod
    def open(cls, path: Path) -> Construction:
        """Opens a construction, finished or not.

        Raises:
            DataError: the path holds none.
        """
        recipe = recorded_recipe(path)["recipe"]
        names = tuple(stage["stage"] for stage in recipe["stages"])
        folders = _folders(path, names)
        summaries = [found for folder in folders if (found := folder.summary()) is not None]
        # A recipe may name no scenarios; then there is nothing to review.
        reviewable = next((folder for folder in folders if folder.name == REVIEWABLE), None)
        behind = folders[folders.index(reviewable) + 1 :] if reviewable else []
        made_on = None if reviewable is None else reviewable.corrections().digest
        seed, scenarios = recipe.get("seed"), recipe.get("scenarios")
        return cls(
            path=path,
            names=names,
            summaries=tuple(summaries),
            stale=tuple(folder.name for folder in behind if is_stale(folder, made_on)),
            reviewed=None if reviewable is None else count_reviews(reviewable.path),
            seed=seed if isinstance(seed, int) else 0,
            scenarios=Path(scenarios) if isinstance(scenarios, str) else None,
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


def make_folder(out: Path) -> None:
    """Makes the folder of a construction.

    Raises:
        DataError: it cannot be made, or holds something else.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
        names = {path.name for path in out.iterdir()}
    except OSError as error:
        raise DataError(f"cannot be made: {error.strerror}", path=out) from None
    if RECIPE not in names and (others := sorted(names - {LOCK, HOLDER})):
        raise DataError(
            f"is not a construction and not empty: it holds {others[0]!r}",
            path=out,
            hint="Choose another --out.",
        )


def bind_recipe(out: Path, identity: dict[str, Any]) -> None:
    """Records the recipe in a new folder, or checks that it is the recorded one.

    Raises:
        SpecMismatch: it is not.
    """
    if not (out / RECIPE).is_file():
        write_records(out / RECIPE, [identity])
        return
    there = recorded_recipe(out)
    if there == orjson.loads(orjson.dumps(identity)):
        return
    raise SpecMismatch(out, list(_differences(there, identity)))


def _differences(there: dict[str, Any], now: dict[str, Any]) -> Iterator[str]:
    """The entries that differ, with both values."""
    before, after = _flat(there), _flat(orjson.loads(orjson.dumps(now)))
    for name in sorted(before.keys() | after.keys()):
        was, found = before.get(name), after.get(name)
        if was != found:
            yield f"{name}: was {was!r}, is now {found!r}"


def _flat(value: Any, place: str = "") -> dict[str, Any]:
    """The leaves of nested values by their places."""
    if isinstance(value, dict):
        items = list(value.items())
    elif isinstance(value, list):
        items = [(str(index), inner) for index, inner in enumerate(value)]
    else:
        return {place: value}
    leaves: dict[str, Any] = {}
    for key, inner in items:
        leaves.update(_flat(inner, f"{place}.{key}" if place else key))
    return leaves


def recorded_recipe(out: Path) -> dict[str, Any]:
    """The record of a construction: its recipe, and the digests of its files.

    Raises:
        DataError: there is none, or it is damaged.
    """
    try:
        found = orjson.loads((out / RECIPE).read_bytes())
    except FileNotFoundError:
        raise DataError(f"is not a construction: it has no {RECIPE}", path=out) from None
    except ValueError as error:
        raise DataError(f"is not JSON ({error})", path=out / RECIPE) from None
    if not isinstance(found, dict) or not isinstance(found.get("recipe"), dict):
        raise DataError("is not the record of a construction", path=out / RECIPE)
    stages = found["recipe"].get("stages")
    listed = stages if isinstance(stages, list) else []
    kinds = [stage.get("stage") if isinstance(stage, dict) else None for stage in listed]
    # They are parts of paths.
    if not kinds or not all(isinstance(kind, str) and _KIND.fullmatch(kind) for kind in kinds):
        raise DataError("is not the record of a construction", path=out / RECIPE)
    return found
