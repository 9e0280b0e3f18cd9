"""Opens a run's folder for writing: prepared anew, or checked against what is asked for."""

import logging
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import chain, islice
from pathlib import Path
from typing import Any

from autoj.datasets.base import Cases
from autoj.errors import Cancelled, DataError, RunBusy, SpecMismatch, Unfinished
from autoj.jsonl import write_records
from autoj.runs.files import (
    BAD_ROWS,
    CASES,
    FAILURES,
    LEDGER,
    FileDigest,
    digests_in,
    digests_of,
    with_digests,
)
from autoj.runs.folder import RunFolder
from autoj.runs.growth import MAY_GROW, grown, known_cases, n_known_cases
from autoj.runs.intake import REFERENCES, bad_row, count_references, taken_cases
from autoj.runs.kind import Kind
from autoj.runs.merge.staging import recover
from autoj.runs.naming import name_scenarios
from autoj.runs.place import check_place, is_of_a_run, locked
from autoj.runs.rereading import take_reading_settings
from autoj.runs.settings import (
    ChangedSetting,
    changed_settings,
    read_settings,
    settings_of,
    versions,
    write_settings,
)
from autoj.runs.spec import RunSpec
from autoj.system_errors import storage_error

_log = logging.getLogger(__name__)

_ANSWERS = (LEDGER, FAILURES)


@contextmanager
def open_run(
    path: Path, spec: RunSpec, cases: Cases, kind: Kind | None = None
) -> Iterator[RunFolder]:
    """Opens a run's folder for writing, new or to resume; it is locked until the block ends.

    A run grows where its data has got further rows, or where the limit is higher: its folder gets
    the further cases.

    Args:
        path: the folder; made where there is none.
        spec: the settings.
        cases: the data.
        kind: the kind of run; None is that of its spec's task.

    Raises:
        ConfigError: the folder holds other things than a run.
        SpecMismatch: the folder was made with other settings, or with data whose cases are not
            the first ones of this.
        RunBusy: another process is writing to it.
        DataError: a row cannot be read (unless bad rows are skipped), or there are none.
        StorageFull: the disk is full.
    """
    # A merge to this path may have been killed while it moved its result there.
    recover(path.absolute())
    with discarded_if_unused(path):
        try:
            check_place(path)
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise storage_error(error, path) from error
        with locked(path):
            folder = RunFolder(path)
            _prepare(folder, spec, cases, kind or spec.task)
            yield folder


@contextmanager
def discarded_if_unused(path: Path) -> Iterator[None]:
    """Removes a folder that was made in the block, if an error ends this before any answer.

    One that was there before stays, as does one whose work was cancelled or stopped by a cap, and
    one that another process has just made, too.
    """
    if path.exists() and not (path.is_dir() and not any(path.iterdir())):
        yield
        return
    made = [folder for folder in (path, *path.absolute().parents) if not folder.exists()]
    try:
        yield
    except (Cancelled, Unfinished, RunBusy):
        raise
    except Exception:
        if not any(file.stat().st_size for name in _ANSWERS for file in path.rglob(name)):
            _discard(path, made)
        raise


def _discard(path: Path, made: list[Path]) -> None:
    """Removes the files of a run, and its folder and those above it that were made for it."""
    with suppress(OSError):
        for file in path.iterdir():
            if is_of_a_run(file.name):
                file.unlink()
    # A folder that holds anything else stays.
    with suppress(OSError):
        for folder in made or [path]:
            folder.rmdir()


def _prepare(folder: RunFolder, spec: RunSpec, cases: Cases, kind: Kind) -> None:
    """Writes `cases.jsonl` and `run.json`, or checks that they are the same."""
    path = folder.path
    wanted = settings_of(spec, cases)
    if not (path / "run.json").is_file():
        # run.json comes last: a folder that has one has all its cases.
        write_settings(path, {"kind": kind, **wanted, **_write_cases(path, spec, cases)})
        return
    folder.spec()  # Settings of other types than ours end here.
    record = folder.settings()
    if changed := _check_settings(path, record, wanted):
        _grow(folder, record, wanted, spec, cases, changed)
    elif (damage := damage_to_cases(folder)) is not None:
        # The same data and settings give the same cases.
        _log.warning("%s; the cases are read from the data again", damage)
        write_settings(path, _with_cases(record, _write_cases(path, spec, cases)))
    take_reading_settings(folder, spec)


def check_run(path: Path, spec: RunSpec, cases: Cases) -> None:
    """Checks that a run can be resumed, or can grow by further cases; nothing is written.

    Raises:
        SpecMismatch: the folder was made with other settings or other data.
        DataError: the run's settings or cases, or a row of the data, cannot be read.
    """
    if changed := _check_settings(path, read_settings(path), settings_of(spec, cases)):
        folder = RunFolder(path)
        known = known_cases(folder, spec)
        taken = taken_cases(cases, spec, [])[0]
        for _ in islice(grown(path, known, taken, changed), n_known_cases(folder)):
            pass


def _check_settings(
    path: Path, record: Mapping[str, Any], wanted: Mapping[str, Any]
) -> list[ChangedSetting]:
    """Compares the settings of a run with those asked for.

    Returns:
        The differences of a run that may have grown: its limit or its data is another.

    Raises:
        SpecMismatch: other settings differ.
    """
    found = changed_settings(record, wanted)
    if any(difference.name not in MAY_GROW for difference in found):
        raise SpecMismatch(path, map(str, found))
    return found


def _grow(
    folder: RunFolder,
    record: dict[str, Any],
    wanted: dict[str, Any],
    spec: RunSpec,
    cases: Cases,
    changed: Sequence[ChangedSetting],
) -> None:
    """Adds the further cases of the data to a run, whose first cases must be the run's."""
    if CASES not in digests_of(folder.path):
        folder.note_digests(CASES)
        record = folder.settings()
    n_before = n_known_cases(folder)
    # run.json comes last: until then the cases it records are the beginning of the file.
    written = _write_cases(folder.path, spec, cases, changed)
    n_cases = digests_in(written)[CASES].n_lines
    spec_record = {**record["spec"], "limit": spec.limit}
    grown_record = {
        **_with_cases(record, written),
        "spec": spec_record,
        "data": wanted["data"],
    }
    write_settings(folder.path, grown_record)
    folder.grown_from = n_before if n_cases > n_before else None


def _with_cases(record: Mapping[str, Any], written: Mapping[str, Any]) -> dict[str, Any]:
    """The content of `run.json` after its cases were written again; all else stays."""
    files = {**record.get("files", {}), **written["files"]}
    return {**record, **written, "versions": record.get("versions"), "files": files}


def damage_to_cases(folder: RunFolder) -> str | None:
    """The reason for which the cases of a folder cannot be used; None where they can.

    Without a digest, as version 0.1 wrote it, each line is read, and a planned case must be there.
    """
    if not (folder.path / CASES).is_file():
        return f"{folder.path / CASES} is missing"
    try:
        folder.compare(CASES)
        if CASES in digests_of(folder.path):
            return None
        known = {case.id for case in folder.cases()}
    except DataError as error:
        return error.message
    try:
        planned = next((row.case_id for row in folder.plan() if row.case_id not in known), None)
    except DataError:
        return None  # The plan is made again.
    if planned is None:
        return None if known else f"{folder.path / CASES} holds no cases"
    return f"{folder.path / CASES} lacks case {planned!r}, which the plan has"


def _write_cases(
    path: Path, spec: RunSpec, cases: Cases, changed: Sequence[ChangedSetting] = ()
) -> dict[str, Any]:
    """Writes the cases and the bad rows of a data set.

    Args:
        path: the folder.
        spec: the settings.
        cases: the data set.
        changed: the settings by which a run has grown, whose cases are the beginning; without
            any, all are written anew.

    Returns:
        The fields of `run.json` that state them.
    """
    bad_rows: list[DataError] = []
    counts: Counter[str] = Counter()
    taken, dealer = taken_cases(cases, spec, bad_rows)
    taken = count_references(taken, counts)
    stated: dict[str, Any] = {}
    if not changed:
        write_records(path / CASES, name_scenarios(taken, spec))
    else:
        folder = RunFolder(path)
        n_known = n_known_cases(folder)
        rows = grown(path, known_cases(folder, spec), taken, changed)
        # The cases that are known have their names.
        write_records(path / CASES, chain(islice(rows, n_known), name_scenarios(rows, spec)))
    if dealer is not None:
        # For merging shards, which must know the missing ones.
        stated["dealt"] = {"n_cases": dealer.n_cases, "n_distinct": dealer.n_distinct}
    names = [CASES]
    if bad_rows:
        write_records(path / BAD_ROWS, (bad_row(error) for error in bad_rows))
        names.append(BAD_ROWS)
    stated |= {
        "versions": versions(),
        "n_bad_rows": len(bad_rows),
        "n_references": counts[REFERENCES],
    }
    return with_digests(stated, {name: FileDigest.of(path / name) for name in names})
