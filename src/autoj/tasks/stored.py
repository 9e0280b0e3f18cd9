"""Stored runs and juries, opened by what their folders say, and the cases that two have in common.

Two have a case in common where its id, query and responses are the same.
"""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

from autoj.errors import ConfigError, DataError, UnknownComponent
from autoj.jsonl import encode
from autoj.records import Case, Verdict
from autoj.runs import CaseRecord, read_case, resolve_run
from autoj.runs.kind import is_jury, kind_of
from autoj.tasks.jury import JuryCase, JuryRun, read_jury_case
from autoj.tasks.run import Run
from autoj.verdicts.only import KINDS, Found, Only, find

Stored: TypeAlias = Run | JuryRun
_ON_A_SCALE = "close"
_Judged: TypeAlias = Iterator[tuple[Case, Verdict]]


def open_stored(path: Path) -> Stored:
    """Opens a run or a jury, finished or not.

    Raises:
        DataError: the folder holds neither.
    """
    return JuryRun.open(path) if is_jury(path) else Run.open(path)


def judged(stored: Stored) -> Iterator[tuple[Case, Verdict]]:
    """The cases with their verdicts; those of a run are read anew from its answers.

    Raises:
        DataError: a jury has no verdicts yet.
    """
    if isinstance(stored, Run):
        yield from resolve_run(stored.folder, stored.spec)
    else:
        yield from stored


def find_case(path: Path, case_id: str) -> CaseRecord | JuryCase:
    """One case of a run or a jury with its judgments.

    Args:
        path: its folder.
        case_id: the case.

    Raises:
        UnknownComponent: there is no such case.
        DataError: the folder holds no run.
    """
    stored = open_stored(path)
    found: CaseRecord | JuryCase | None
    if isinstance(stored, Run):
        found, run = read_case(stored.folder, stored.spec, case_id), stored
    else:
        found = read_jury_case(stored, case_id)
        run = Run.open(stored.path / stored.jury.jurors[0].folder)
    if found is None:
        raise UnknownComponent("case", case_id, (case.id for case in run.folder.cases()))
    return found


def find_only(path: Path, only: Only, n_first: int) -> tuple[Stored, Found]:
    """The cases of a run or a jury that are of one kind.

    Args:
        path: its folder.
        only: the kind.
        n_first: the number of cases to keep.

    Raises:
        ConfigError: no case of it can be of this kind.
        DataError: the folder holds no run.
    """
    stored = open_stored(path)
    if kind_of(path) == "classify" or (isinstance(stored, Run) and stored.spec.task == "select"):
        raise ConfigError(f"--only cannot be used here: {path} has no verdicts on single cases")
    kind = KINDS[only]
    # A reward model's scores have no scale on which a gap could be small.
    unscaled = isinstance(stored, Run) and stored.spec.protocol == "scalar"
    found = find(judged(stored), only, n_first)
    if found.n_told == 0 or (unscaled and only == _ON_A_SCALE):
        raise ConfigError(
            f"--only {only} finds nothing in {path}: {kind.missing}",
            hint=f"It shows cases in which {kind.says}.",
        )
    return stored, found


class Matched:
    """The cases of two runs, matched by id and content.

    Args:
        runs: their cases with the verdicts, in order; each is read once.
        paths: their folders.

    Raises:
        DataError: one has no verdicts.
    """

    def __init__(self, runs: tuple[_Judged, _Judged], paths: tuple[Path, Path]) -> None:
        self._known = {
            case.id: (content_digest(case), verdict)
            for case, verdict in _with_verdicts(runs[1], paths[1])
        }
        self._first = _with_verdicts(runs[0], paths[0])
        self.n_changed = 0
        self.n_alone = (0, 0)

    def both(self) -> Iterator[tuple[Case, Verdict, Verdict]]:
        """The cases of the first run that the other one has, with both verdicts."""
        n_alone = n_both = 0
        for case, verdict in self._first:
            content, its = self._known.get(case.id, (None, None))
            if its is None:
                n_alone += 1
            elif content != content_digest(case):
                self.n_changed += 1
            else:
                n_both += 1
                yield case, verdict, its
        self.n_alone = n_alone, len(self._known) - n_both - self.n_changed


def content_digest(case: Case) -> bytes:
    """Digests what was judged; ids alone may be numbers of lines of different files."""
    text = encode([case.query, [response.text for response in case.responses], case.critiques])
    return hashlib.blake2b(text, digest_size=16).digest()


def _with_verdicts(found: _Judged, path: Path) -> _Judged:
    n = 0
    for pair in found:
        n += 1
        yield pair
    if n == 0:
        raise DataError("has no verdicts yet", path=path)
