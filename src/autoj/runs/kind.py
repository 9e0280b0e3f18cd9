"""The kind of run that a folder holds: stated in its `run.json`, or guessed of an older one."""

from pathlib import Path
from typing import Literal, TypeAlias, get_args

from autoj.errors import ConfigError, DataError
from autoj.runs.settings import read_settings

Kind: TypeAlias = Literal["judge", "rate", "compare", "select", "classify", "jury"]
"""The command that made it: "compare" compares critiques, and "jury" is the folder of several runs.
"""
JURY_FILE = "jury.json"
"""The file that the folder of a jury has instead of `run.json`."""
PICKS_FILE = "picks.jsonl"
"""The file that a run that selects leaves beside its verdicts."""


def kind_of(path: Path) -> Kind:
    """The kind of run that a folder holds.

    Version 0.1 stated none. Its runs that select by ratings have the task "rate", and picks.

    Args:
        path: the folder.

    Raises:
        DataError: it is not a run folder.
    """
    if is_jury(path):
        return "jury"
    if not (path / "run.json").is_file():
        raise DataError("is not a run folder: it has no run.json", path=path)
    record = read_settings(path)
    stated: Kind | None = record.get("kind")
    if stated is None:
        stated = "select" if (path / PICKS_FILE).is_file() else record["spec"].get("task")
    if stated not in get_args(Kind):
        raise DataError(
            f"expected one of {', '.join(get_args(Kind))}, found {stated!r}",
            path=path / "run.json",
            field="kind",
        )
    return stated


def is_jury(path: Path) -> bool:
    """True where a folder is a jury's."""
    return (path / JURY_FILE).is_file()


def refuse_jury(path: Path) -> None:
    """Refuses the folder of a jury where one judge's run is to be written.

    Raises:
        ConfigError: it is one.
    """
    if is_jury(path):
        raise ConfigError(
            f"{path} is the folder of a jury, not of one judge's run",
            hint="Choose another --out for one judge.",
        )
