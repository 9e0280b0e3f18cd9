"""The content of `run.json`, and the part of it that must not change when a run is resumed."""

import hashlib
import os
import platform
from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import orjson
from pydantic import TypeAdapter, ValidationError

from autoj.datasets.base import Cases
from autoj.errors import DataError
from autoj.jsonl import sha256_of
from autoj.protocols import asked_by
from autoj.runs.plan import answer_options
from autoj.runs.spec import RunSpec
from autoj.system_errors import storage_error

# Fields of a card that affect an answer or the allowed questions; notes and prices do not.
_JUDGE_SETTINGS = (
    "name", "backend", "model", "revision", "adapter", "adapter_revision", "wrapper",
    "context_tokens",
)  # fmt: skip
_HOW_TO_MEND = (
    "Move the file away and repeat the command that made the run: it writes the file again and "
    "keeps all answers."
)
_KEPT = Path("run.json")
# Later settings at their defaults: runs from before them can be resumed.
_LATER = (
    ("spec", "seed"), ("spec", "sample"), ("spec", "samples"), ("spec", "shard"),
    ("spec", "classifier"), ("spec", "unknown_scenario"), ("spec", "scenarios"), ("spec", "prompt"),
    ("spec", "critic"), ("spec", "second_order"),
    ("data", "derivation"),
)  # fmt: skip


def settings_of(spec: RunSpec, cases: Cases) -> dict[str, Any]:
    """A run's settings and its data, as in `run.json`."""
    data = {
        "format": cases.format,
        "paths": [str(path) for path in cases.paths],
        "sha256": [sha256_of(path) for path in cases.paths],
        "derivation": cases.derivation,
    }
    settings = asdict(spec)
    # Written where there is something to say: runs from before these fields stay as they are.
    for later in ("critic", "second_order"):
        if settings[later] is None:
            del settings[later]
    for card in (settings["judge"], settings.get("critic")):
        if card is not None and not card["unsure"]:
            del card["unsure"]
    return {"spec": settings, "data": data}


def versions() -> dict[str, str]:
    """The versions of Python and packages that a run was made with."""
    return {"autoj": version("autoj"), "python": platform.python_version()}


def write_settings(folder: Path, record: Mapping[str, Any]) -> None:
    """Replaces a run's `run.json`, atomically, with a digest of its content.

    Raises:
        StorageFull: the disk is full.
    """
    draft = folder / "run.json.draft"
    summed = {**_without_digest(record), "sha256": _digest(record)}
    try:
        with draft.open("wb") as stream:
            stream.write(orjson.dumps(summed, option=orjson.OPT_INDENT_2))
            stream.flush()
            os.fsync(stream.fileno())
        draft.replace(folder / "run.json")
    except OSError as error:
        raise storage_error(error, folder) from error


def _without_digest(record: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in record.items() if name != "sha256"}


def _digest(record: Mapping[str, Any]) -> str:
    """The sha256 (hex) of the content, whatever its layout and the order of its fields."""
    # Read back first: a tuple is written as a list, and keys are sorted as texts.
    plain = orjson.loads(orjson.dumps(_without_digest(record)))
    return hashlib.sha256(orjson.dumps(plain, option=orjson.OPT_SORT_KEYS)).hexdigest()


def read_settings(folder: Path) -> dict[str, Any]:
    """The content of a run's `run.json`.

    Raises:
        DataError: it cannot be read, is not that of a run, or was changed since it was written.
    """
    path = folder / "run.json"
    try:
        record: dict[str, Any] = orjson.loads(path.read_bytes())
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path=path) from None
    except (ValueError, RecursionError) as error:
        raise DataError(f"is not JSON ({error})", path=path, hint=_HOW_TO_MEND) from None
    match record:
        case {"spec": {"judge": {}}, "data": {"paths": [*_], "sha256": [*_]}}:
            # Version 0.1 wrote no digest.
            if "sha256" in record and record["sha256"] != _digest(record):
                raise DataError(
                    "is damaged: its content differs from the digest in it",
                    path=path,
                    hint=_HOW_TO_MEND,
                )
            return record
    raise DataError(
        "is not a run's: expected spec, with its judge, and data", path=path, hint=_HOW_TO_MEND
    )


def read_spec(folder: Path) -> RunSpec:
    """The settings that a run was made with.

    Raises:
        DataError: they cannot be read, or are incomplete.
    """
    record = read_settings(folder)
    try:
        return _spec_reader().validate_python(record["spec"])
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in ("spec", *first["loc"]))
        raise DataError(first["msg"], path=folder / "run.json", field=field) from None


@cache
def _spec_reader() -> TypeAdapter[RunSpec]:
    # Made at its first use and once: it takes longer than reading the largest run.json.
    return TypeAdapter(RunSpec)


def spec_digest(spec: RunSpec, cases: Cases) -> str:
    """Eight hex digits that identify settings and data.

    A run may ask the second orders that it has left out, so those settings are no part of it.
    """
    wanted = stable_part(settings_of(replace(spec, second_order=None), cases))
    return hashlib.sha256(orjson.dumps(wanted, option=orjson.OPT_SORT_KEYS)).hexdigest()[:8]


def stable_part(record: Mapping[str, Any]) -> dict[str, Any]:
    """The part of `run.json` that must not change: all but the path of the data.

    Of a prompt of the user's own it is what the judge reads: another reading of the same answers is
    no other run.
    """
    stable: dict[str, Any] = orjson.loads(
        orjson.dumps(
            {
                "spec": record["spec"],
                "data": {name: record["data"].get(name) for name in ("sha256", "derivation")},
            }
        )
    )
    for part, name in _LATER:
        if stable[part].get(name) is None:
            stable[part].pop(name, None)
    if (used := stable["spec"].get("classifier")) is not None:
        used.pop("path", None)
    if (own := stable["spec"].get("scenarios")) is not None:
        stable["spec"]["scenarios"] = own["digest"]
    if (prompt := stable["spec"].get("prompt")) is not None:
        stable["spec"]["prompt"] = asked_by(prompt, _KEPT)
    stable["spec"]["judge"] = _stable_card(stable["spec"]["judge"])
    if (critic := stable["spec"].get("critic")) is not None:
        # The judge's decoding stands in the spec, the critic's in its card alone.
        stable["spec"]["critic"] = _stable_card(critic) | {"decoding": critic.get("decoding")}
    return stable


def _stable_card(card: Mapping[str, Any]) -> dict[str, Any]:
    settings = {name: card.get(name) for name in _JUDGE_SETTINGS}
    return settings | answer_options(card.get("options") or {})


class ChangedSetting(NamedTuple):
    """A setting that differs between two runs."""

    name: str
    one: Any
    other: Any

    def __str__(self) -> str:
        return f"{self.name}: was {self.one!r}, is now {self.other!r}"


def changed_settings(record: Mapping[str, Any], wanted: Mapping[str, Any]) -> list[ChangedSetting]:
    """The settings in which a run differs from what is asked for, so that it is another run.

    The second orders that a run asks may be others: it asks those that it lacks.

    Args:
        record: the content of its `run.json`.
        wanted: the settings asked for, from `settings_of`.
    """
    return [
        difference
        for difference in differences(stable_part(record), stable_part(wanted))
        if difference.name.split(".")[0] != "second_order"
    ]


def differences(one: Any, other: Any, name: str = "") -> list[ChangedSetting]:
    """The settings that differ, by their names in `run.json`.

    Args:
        one: a part of a run's settings.
        other: the same part of another's.
        name: the name of the part.
    """
    if isinstance(one, dict) and isinstance(other, dict):
        return [
            found
            for key in sorted({*one, *other})
            for found in differences(
                one.get(key), other.get(key), f"{name}.{key}".removeprefix(".")
            )
        ]
    return [] if one == other else [ChangedSetting(name.removeprefix("spec."), one, other)]
