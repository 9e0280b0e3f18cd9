"""The record of a construction's recipe and files, which a resumed construction must match."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
from pydantic import ValidationError

from autoj.construct.known_queries import find_test_set
from autoj.construct.recipe import ConstructRecipe, Decontaminate, Mathematics
from autoj.datasets import data_paths
from autoj.errors import DataError, SpecMismatch
from autoj.jsonl import sha256_of, write_records
from autoj.runs.place import HOLDER, LOCK

RECIPE = "recipe.json"
_KIND = re.compile("[a-z]+(-[a-z]+)*")


def identity_of(recipe: ConstructRecipe) -> dict[str, Any]:
    """The record that a resumed construction must have in common with its folder.

    Raises:
        DataError: a source or a test set is missing.
    """
    files = [Path(source.data) for source in recipe.sources]
    files += [
        find_test_set(name)
        for stage in recipe.stages
        if isinstance(stage, Decontaminate)
        for name in stage.against
    ]
    files += [Path(stage.data) for stage in recipe.stages if isinstance(stage, Mathematics)]
    digests = {str(path): sha256_of(path) for name in files for path in data_paths(name)}
    return {"recipe": _recorded_fields(recipe), "files": digests}


def _recorded_fields(recipe: ConstructRecipe) -> dict[str, Any]:
    """All of a recipe but what is said for a dry run alone, which may be corrected later."""
    return recipe.model_dump(
        mode="json", exclude={"assumed": True, "sources": {"__all__": {"declared"}}}
    )


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


def bind(out: Path, identity: dict[str, Any]) -> None:
    """Records the recipe in a new folder, or checks that it is the recorded one."""
    if not (out / RECIPE).is_file():
        write_records(out / RECIPE, [identity])
        return
    there, now = _completed(recorded(out)), _completed(orjson.loads(orjson.dumps(identity)))
    if there == now:
        return
    raise SpecMismatch(out, list(_differences(there, now)))


def _completed(identity: dict[str, Any]) -> dict[str, Any]:
    """A record with the fields that recipes did not have when it was made, at their defaults.

    So the default of a new field has to be what was done before there was one. A recipe that is
    none today stays as it is: what differs is then told field by field.
    """
    try:
        recipe = ConstructRecipe.model_validate(identity["recipe"])
    except ValidationError:
        return identity
    return {**identity, "recipe": _recorded_fields(recipe)}


def _differences(there: dict[str, Any], now: dict[str, Any]) -> Iterator[str]:
    """The entries that differ, with both values."""
    before, after = _flat(there), _flat(now)
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


def recorded(out: Path) -> dict[str, Any]:
    """The record of a construction.

    Raises:
        DataError: the folder holds none, or it is damaged.
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
