"""Checks and repairs run folders of every kind, and those below them."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from autoj.errors import AutojError, DataError
from autoj.jsonl import decode, whole_lines
from autoj.records import Case
from autoj.runs.check import FileCheck, Found, check_run
from autoj.runs.files import (
    CASES,
    LEDGER,
    VERDICTS,
    FileDigest,
    describe,
    digests_of,
    state_of,
)
from autoj.runs.folder import RunFolder
from autoj.runs.kind import JURY_FILE, PICKS_FILE, is_jury, kind_of
from autoj.runs.place import locked
from autoj.runs.repair import ASIDE, repair_run
from autoj.runs.spec import RunSpec
from autoj.tasks.classify import SCENARIOS, classified_run
from autoj.tasks.jury_folder import (
    has_decided,
    read_jury,
    read_jury_verdicts,
    write_jury_verdicts,
)
from autoj.tasks.selection_folder import MATCHES, write_picks_by_rating, write_picks_of_tournaments
from autoj.tasks.tournaments import answered_matches, pair_spec, replay_all

_DEPTH = 4
"""The most folders below the given one: a jury of an audit has three."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedFolder:
    """A folder with the checks of its files."""

    path: str
    files: tuple[FileCheck, ...]

    @property
    def is_whole(self) -> bool:
        """True where each file is."""
        return all(check.is_whole for check in self.files)


def are_whole(folders: Iterable[CheckedFolder]) -> bool:
    """True where each file of each folder is whole."""
    return all(folder.is_whole for folder in folders)


def check_folders(path: Path, *, repair: bool = False) -> list[CheckedFolder]:
    """Checks a run's folder, or all that are in a folder.

    Args:
        path: a run, a jury, a selection, an audit, or a folder of such.
        repair: True makes again what follows from the rest, and sets aside what is damaged.

    Returns:
        The folders, those below others first; after a repair their state before it, with what was
        done about each file.

    Raises:
        DataError: there is no run.
        RunBusy: another process writes to a folder that is to be repaired.
    """
    found = [_checked(folder, repair) for folder in _runs_in(path, _DEPTH)]
    if not found:
        raise DataError("holds no run: there is no run.json in it", path=path)
    return found


def _runs_in(path: Path, depth: int) -> Iterator[Path]:
    """The folders of runs, those below others first: what is above follows from them."""
    if not path.is_dir():
        return
    for folder in sorted(path.iterdir()) if depth else ():
        if folder.is_dir() and not folder.is_symlink() and folder.name != ASIDE:
            yield from _runs_in(folder, depth - 1)
    # A folder that lost its run.json has its cases or answers; that of a knockout has no answers.
    if is_jury(path) or any((path / name).exists() for name in ("run.json", LEDGER, CASES)):
        yield path


def _checked(path: Path, repair: bool) -> CheckedFolder:
    if is_jury(path):
        return CheckedFolder(path=str(path), files=tuple(_check_jury(path, repair)))
    if not (path / "run.json").exists():
        missing = FileCheck(
            name="run.json",
            state="missing",
            mended="repeat the command that made the run: it writes the file again, and all "
            "answers stay",
        )
        return CheckedFolder(path=str(path), files=(missing,))
    files = repair_run(path) if repair else check_run(path)
    if _is_readable(files):
        files += _check_beside(path, repair)
    return CheckedFolder(path=str(path), files=tuple(files))


def _is_readable(files: list[FileCheck]) -> bool:
    """True where the settings and the cases can be read, from which all else can be told."""
    return all(check.is_whole for check in files if check.name in ("run.json", CASES))


def _check_jury(path: Path, repair: bool) -> Iterator[FileCheck]:
    """Checks the list of a jury's judges, and the verdicts that follow from theirs."""
    try:
        jury = read_jury(path)
    except DataError as error:
        yield FileCheck(name=JURY_FILE, state="damaged", reason=error.reason, mended=error.hint)
        return
    yield FileCheck(name=JURY_FILE, state="whole")
    content = FileDigest.of(path / VERDICTS)
    if content is None and not has_decided(path):
        # Its judges are still at work, or a cap or an interruption stopped them.
        said = "there is none: some of its judges have not finished"
        yield FileCheck(name=VERDICTS, state="no digest", reason=said)
        return
    try:
        n_lines = sum(1 for _ in read_jury_verdicts(path, jury, Case))
    except DataError as error:
        state: Found = "missing" if content is None else "damaged"
        mended = _mended(repair, path, lambda: write_jury_verdicts(path, jury))
        yield FileCheck(name=VERDICTS, state=state, reason=error.reason, mended=mended)
    else:
        yield FileCheck(name=VERDICTS, state="whole", n_lines=n_lines)


def _check_beside(path: Path, repair: bool) -> Iterator[FileCheck]:
    """Checks the files that tasks derive from a run's verdicts or its answers."""
    folder, kind = RunFolder(path), kind_of(path)
    spec = folder.spec()
    if spec.task == "classify":
        yield _derived(folder, SCENARIOS, repair, lambda: _write_scenarios(folder, spec))
    if kind == "select":
        remake = partial(write_picks_by_rating, folder)
        if spec.task == "select":
            remake = partial(_replay, folder, spec)
        names = [VERDICTS, MATCHES] if spec.task == "select" else []
        for name in (*names, PICKS_FILE):
            yield _derived(folder, name, repair, remake)


def _derived(folder: RunFolder, name: str, repair: bool, remake: Callable[[], object]) -> FileCheck:
    path, digest = folder.path / name, digests_of(folder.path).get(name)
    content, state = FileDigest.of(path), state_of(path, digest)
    n_lines = None if content is None else content.n_lines
    if state in ("whole", "no digest"):
        try:
            for line in whole_lines(path):
                decode(line)
            known: Found = "whole" if state == "whole" else "no digest"
            return FileCheck(name=name, state=known, n_lines=n_lines)
        except ValueError as error:
            reason = f"a line is not JSON: {error}"
    else:
        assert digest is not None
        reason = describe(state, path, digest)
    return FileCheck(
        name=name,
        state="missing" if content is None else "damaged",
        n_lines=n_lines,
        reason=reason,
        mended=_mended(repair, folder.path, remake),
    )


def _mended(repair: bool, path: Path, remake: Callable[[], object]) -> str | None:
    """Makes derived files again, where that is wanted; says so, or why it cannot be done."""
    if not repair:
        return None
    try:
        with locked(path):
            remake()
    except AutojError as error:
        return f"cannot be made again yet: {error.message}"
    return "made again"


def _write_scenarios(folder: RunFolder, spec: RunSpec) -> None:
    folder.replace_rows(SCENARIOS, (row for _, row in classified_run(folder, spec)))


def _replay(folder: RunFolder, spec: RunSpec) -> None:
    """Holds the tournaments again by the answers in the folder."""
    known = answered_matches(folder.path / "pairs", pair_spec(spec))
    tournaments, ahead = replay_all(folder, known)
    if ahead:
        raise DataError(
            "has matches without an answer; the command that made it asks them", path=folder.path
        )
    write_picks_of_tournaments(folder, spec, tournaments)
