"""Data sets of Hugging Face, by name on the Hub or by folder; the datasets library is an extra.

`hf-dataset:NAME`, `hf-dataset:NAME:SPLIT` and `hf-dataset:NAME:CONFIG:SPLIT` name one. NAME is a
name on the Hub (`owner/name`, or `owner/name@REVISION` for a branch or a commit) or a folder: one
of data files, or one that `save_to_disk` wrote, which may also be given by its bare path. With
several splits one must be named.

Some older data sets are scripts that fetch them, which the library no longer runs. The Hub keeps a
copy of each as Parquet files, and that is read: a folder for each configuration, on a branch.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autoj.datasets._arrow import rows_of
from autoj.errors import DataError, MissingExtra

_PREFIX = "hf-dataset:"
_PARQUET_COPY = "refs/convert/parquet"
_ROWS_AT_ONCE = 256
# Marker files that `save_to_disk` writes: of a single data set, and of several splits.
_SAVED = "state.json"
_SAVED_SPLITS = "dataset_dict.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetName:
    """The parsed name of a data set."""

    name: str
    """The name on the Hub, or a folder."""
    config: str | None = None
    split: str | None = None
    revision: str | None = None
    """A branch, a tag or a commit on the Hub; None is its newest state."""


def is_dataset(path: Path) -> bool:
    """True where a path names a data set of Hugging Face, not a file."""
    # A name that is too long for a file is no error here.
    return str(path).startswith(_PREFIX) or (os.path.isdir(path) and _is_saved(path))


def _is_saved(folder: Path) -> bool:
    return (folder / _SAVED).is_file() or (folder / _SAVED_SPLITS).is_file()


def parse_name(path: Path) -> DatasetName:
    """The parts of a data set's name.

    Raises:
        DataError: it has too many parts, or an empty one.

    >>> parse_name(Path("hf-dataset:owner/name@v0:test"))
    DatasetName(name='owner/name', config=None, split='test', revision='v0')
    """
    if not str(path).startswith(_PREFIX):
        return DatasetName(name=str(path))
    parts = str(path).removeprefix(_PREFIX).split(":")
    if len(parts) > 3 or not all(parts):
        raise DataError(
            "is not the name of a data set",
            path=path,
            hint="Expected hf-dataset:NAME, hf-dataset:NAME:SPLIT or hf-dataset:NAME:CONFIG:SPLIT.",
        )
    name, _, revision = parts[0].partition("@")
    # A folder's name may have that sign, too.
    if not revision or os.path.isdir(os.path.expanduser(parts[0])):
        name, revision = parts[0], ""
    return DatasetName(
        name=name,
        config=parts[1] if len(parts) == 3 else None,
        split=parts[-1] if len(parts) > 1 else None,
        revision=revision or None,
    )


def read_dataset(path: Path) -> Iterator[tuple[int, dict[str, Any] | DataError]]:
    """The rows of a data set, in batches from its memory-mapped files, numbered from 1.

    Raises:
        DataError: there is no such data set or split.
        MissingExtra: the datasets library is not installed.
    """
    number = 0
    for table in _open(path).with_format("arrow").iter(batch_size=_ROWS_AT_ONCE):
        for row in rows_of(table, path, number):
            number += 1
            yield number, row


def data_files(path: Path) -> tuple[Path, ...]:
    """The local files that hold a data set's rows.

    Raises:
        DataError: as `read_dataset`; or its rows are not in files.
    """
    files = tuple(Path(file["filename"]) for file in _open(path).cache_files)
    if not files:
        raise DataError("the rows of this data set are not in local files", path=path)
    return files


def _open(path: Path) -> Any:
    """The data set, memory-mapped."""
    try:
        import datasets
    except ImportError:
        raise MissingExtra("data", f"reading {path}") from None
    wanted = parse_name(path)
    folder = Path(wanted.name).expanduser()
    saved = folder.is_dir() and _is_saved(folder)
    try:
        if saved:
            found = datasets.load_from_disk(str(folder))
        else:
            found = _loaded(datasets, str(folder) if folder.is_dir() else wanted.name, wanted)
    # The library raises its own errors, the Hub client's and Python's, dozens of kinds.
    except Exception as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise DataError(f"cannot be loaded ({type(error).__name__}: {reason})", path=path) from None
    return _split_of(path, found, wanted.split)


def _loaded(datasets: Any, name: str, wanted: DatasetName) -> Any:
    try:
        return datasets.load_dataset(name, wanted.config, revision=wanted.revision)
    except RuntimeError as error:
        if "scripts are no longer supported" not in str(error) or wanted.revision is not None:
            raise
        return datasets.load_dataset(name, data_dir=wanted.config, revision=_PARQUET_COPY)


def _split_of(path: Path, found: Any, split: str | None) -> Any:
    if not isinstance(found, dict):
        there = str(found.split) if found.split is not None else None
        if split not in (None, there):
            named = f"only {there!r}" if there else "and its only split has no name"
            raise DataError(f"has no split {split!r}, {named}", path=path)
        return found
    if split is None and len(found) == 1:
        return next(iter(found.values()))
    names = ", ".join(found)
    if split is None:
        raise DataError(f"has several splits: {names}", path=path, hint=f"Name one: {path}:SPLIT")
    if split not in found:
        raise DataError(f"has no split {split!r}; it has: {names}", path=path)
    return found[split]


def is_at_hand(path: Path) -> bool:
    """True where a file or a data set can be read without fetching anything."""
    if not is_dataset(path):
        return path.is_file()
    name = parse_name(path).name
    if Path(name).expanduser().is_dir():
        return True
    try:
        import datasets
    except ImportError:
        return False
    return (Path(datasets.config.HF_DATASETS_CACHE) / name.replace("/", "___")).is_dir()
