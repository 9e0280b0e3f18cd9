"""Repairs a run's folder: what is damaged is set aside, what follows from the rest is made again.

Nothing is deleted: damaged lines and files go to the folder `damaged` inside the run's.
"""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from autoj.errors import DataError
from autoj.jsonl import Appender, whole_lines
from autoj.records import Asked
from autoj.runs.check import (
    FileCheck,
    check_run,
    damaged_answers,
    damaged_failures,
    engine_card,
    is_made_of_runs,
)
from autoj.runs.files import BAD_ROWS, CASES, FAILURES, FOLLOW, LEDGER, PLAN, TIMINGS, VERDICTS
from autoj.runs.folder import RunFolder
from autoj.runs.ledger import LedgerReader
from autoj.runs.place import locked
from autoj.runs.plan import follow_rows_of, rows_of
from autoj.runs.resolving import resolve_first, resolve_run
from autoj.runs.spec import RunSpec
from autoj.system_errors import storage_error

ASIDE = "damaged"
_REPEAT = "set aside; repeat the command that made the run: it reads the data again"


def repair_run(path: Path) -> list[FileCheck]:
    """Repairs a run's folder as far as that needs neither its data nor a model.

    Args:
        path: the folder, which has a `run.json`.

    Returns:
        The check of each file before the repair, with the repair of what was not whole.

    Raises:
        RunBusy: another process writes to it.
        StorageFull: the disk is full.
    """
    with locked(path):
        found = {check.name: check for check in check_run(path)}
        if not found["run.json"].is_whole:
            _set_aside(path, "run.json")
            return _told(found, {"run.json": _REPEAT})
        folder = RunFolder(path)
        mended: dict[str, str] = {}
        for name in (LEDGER, FAILURES):
            if name in found and not found[name].is_whole:
                mended[name] = _drop_lines(folder, name)
        for name in (BAD_ROWS, TIMINGS):
            if name in found and not found[name].is_whole:
                _set_aside(path, name)
                folder.forget_digests(name)
                mended[name] = "set aside; no verdict follows from it"
        if not found[CASES].is_whole:
            _set_aside(path, CASES)
            mended[CASES] = _REPEAT
        elif not is_made_of_runs(path):
            mended |= _rebuild(folder, folder.spec())
            again = {check.name: check for check in check_run(path)}
            # Read only now, where the ledger was damaged.
            found = {**again, **found}
        return _told(found, mended)


def _told(found: dict[str, FileCheck], mended: dict[str, str]) -> list[FileCheck]:
    return [replace(check, mended=mended.get(name)) for name, check in found.items()]


def _rebuild(folder: RunFolder, spec: RunSpec) -> dict[str, str]:
    """Makes the plan, the critiques' plan and the verdicts again, where they are not whole."""
    mended: dict[str, str] = {}
    checks = {check.name: check for check in check_run(folder.path)}
    if not checks[PLAN].is_whole or _lacks_plan(folder):
        mended[PLAN] = _remake(folder, PLAN, _plan_rows(folder, spec))
        checks = {check.name: check for check in check_run(folder.path)}
    if FOLLOW in checks and not checks[FOLLOW].is_whole:
        mended[FOLLOW] = _remake(folder, FOLLOW, _follow_rows(folder, spec))
        checks = {check.name: check for check in check_run(folder.path)}
    if not checks[VERDICTS].is_whole:
        _set_aside(folder.path, VERDICTS)
        folder.forget_digests(VERDICTS)
        try:
            with closing(LedgerReader(folder.path)) as answers:
                folder.write_verdicts(v for _, v in resolve_run(folder, spec, answers))
            mended[VERDICTS] = "made again from the ledger"
        except DataError as error:
            mended[VERDICTS] = f"set aside; it cannot be made again yet: {error.message}"
    return mended


def _lacks_plan(folder: RunFolder) -> bool:
    """True where verdicts were written of which the plan knows nothing."""
    path = folder.path
    return not (path / PLAN).exists() and (path / VERDICTS).exists()


def _remake(folder: RunFolder, name: str, rows: Iterator[list[Asked] | None]) -> str:
    """Replaces a plan by one that follows from the cases, if the ledger knows its keys."""
    made: list[Asked] = []
    with closing(LedgerReader(folder.path)) as answers:
        for each in rows:
            if each is None:
                made.clear()
                break
            made += each
        is_known = any(answers.holds(row.key) for row in made)
    _set_aside(folder.path, name)
    folder.forget_digests(name)
    if not is_known:
        return "set aside; repeat the command that made the run: it plans again with the judge"
    folder.replace_rows(name, made)
    return "made again from the cases"


def _plan_rows(folder: RunFolder, spec: RunSpec) -> Iterator[list[Asked] | None]:
    card = engine_card(folder, spec)
    return (rows_of(case, spec, card) for case in folder.cases())


def _follow_rows(folder: RunFolder, spec: RunSpec) -> Iterator[list[Asked] | None]:
    card = engine_card(folder, spec) if spec.critic is None else spec.critic
    with closing(LedgerReader(folder.path)) as answers:
        for case, verdict in resolve_first(folder, spec, answers):
            yield follow_rows_of(case, verdict, spec.writing, card)


def _drop_lines(folder: RunFolder, name: str) -> str:
    """Moves the damaged lines of a file that only grows aside, and accepts the loss of others."""
    path = folder.path / name
    wrong = (damaged_answers if name == LEDGER else damaged_failures)(folder.path)
    if wrong:
        aside = Appender(_aside(folder.path) / name, encode=lambda line: line)
        draft = path.with_name(name + ".new")
        try:
            with draft.open("wb") as stream:
                for number, line in enumerate(whole_lines(path), start=1):
                    if number in wrong:
                        aside.append(line)
                    else:
                        stream.write(line)
        except OSError as error:
            raise storage_error(error, draft) from error
        finally:
            aside.close()
        folder.forget_digests(name)
        draft.replace(path)
    folder.note_digests(name)
    lost = f"{len(wrong):,} damaged line{'s' * (len(wrong) > 1)} set aside; " if wrong else ""
    return f"{lost}what has no answer is asked again by the command that made the run"


def _set_aside(path: Path, name: str) -> None:
    """Moves a file into the folder of damaged ones, under a name that is free there."""
    if not (path / name).exists():
        return
    folder, number = _aside(path), 1
    target = folder / name
    while target.exists():
        number += 1
        target = folder / f"{name}.{number}"
    try:
        (path / name).rename(target)
    except OSError as error:
        raise storage_error(error, target) from error


def _aside(path: Path) -> Path:
    folder = path / ASIDE
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise DataError(f"cannot be made: {error.strerror}", path=folder) from None
    return folder
