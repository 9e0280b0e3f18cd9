"""Several judges on the same cases, one after the other, and what they come to together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from autoj.datasets.base import Cases
from autoj.records import Case, CaseOutline
from autoj.runs import RunCounts, open_run
from autoj.runs.budget import Budget
from autoj.runs.watch import SILENT, Watch
from autoj.tasks.judge import judge
from autoj.tasks.jury_folder import (
    Jury,
    pairs_alone,
    read_jury,
    read_jury_verdicts,
    write_jury,
    write_jury_verdicts,
)
from autoj.tasks.places import jury_folder
from autoj.verdicts.jury import JuryVerdict


@dataclass(frozen=True, slots=True, kw_only=True)
class JuryRun:
    """A jury in its folder; iterate over it for each case with the jury's verdict, read lazily."""

    path: Path
    """The folder; each judge's own run lies in it."""
    jury: Jury
    counts: RunCounts = field(default_factory=RunCounts)
    """What this session did, all judges together."""

    @classmethod
    def open(cls, path: Path | str) -> JuryRun:
        """A jury that is there.

        Raises:
            DataError: the path is no jury's folder.
        """
        return cls(path=Path(path), jury=read_jury(Path(path)))

    def __iter__(self) -> Iterator[tuple[Case, JuryVerdict]]:
        return read_jury_verdicts(self.path, self.jury, Case)

    def outlined(self) -> Iterator[tuple[CaseOutline, JuryVerdict]]:
        """The same without the cases' texts, in half the time."""
        return read_jury_verdicts(self.path, self.jury, CaseOutline)


def judge_by_jury(
    cases: Cases,
    jury: Jury,
    out: Path | None = None,
    *,
    budget: Budget | None = None,
    watch: Watch = SILENT,
) -> JuryRun:
    """Let each judge of a jury judge all cases, and make the jury's verdicts of theirs.

    Each engine is closed before the next is loaded, so the largest alone must fit.

    Args:
        cases: the data.
        jury: who judges, and what decides.
        out: the jury's folder; None takes one under `runs/`, the same for the same settings.
        budget: what all judges together may spend; None sets no limit.
        watch: told what happens.

    Raises:
        Unfinished: the budget ended it before every judge had judged.
        ConfigError: the folder is the run of one judge.
        DataError: a row cannot be read, or the judges' runs hold different cases.
        BackendError: an engine broke down; what was judged is kept.
    """
    path = out or jury_folder([juror.spec for juror in jury.seats], cases)
    data = pairs_alone(cases) if jury.paired else cases
    _check_runs(path, jury, data)
    write_jury(path, jury)
    sessions: list[RunCounts] = []
    for number, juror in enumerate(jury.seats, start=1):
        watch.message(f"judge {number} of {len(jury.seats)}: {juror.name} ({juror.spec.protocol})")
        run = judge(data, juror.spec, path / juror.folder, budget=budget, watch=watch)
        run.check_whole()
        sessions.append(run.counts)
    write_jury_verdicts(path, jury)
    return JuryRun(path=path, jury=jury, counts=total_of(sessions))


def _check_runs(path: Path, jury: Jury, cases: Cases) -> None:
    """Make sure that the runs that are there can be gone on with, before a jury is made anew.

    Raises:
        SpecMismatch: a run was made with other settings or other data.
        RunBusy: another process is writing to one.
    """
    for juror in jury.seats:
        folder = path / juror.folder
        if (folder / "run.json").is_file():
            with open_run(folder, juror.spec, cases):
                pass


def total_of(sessions: Iterable[RunCounts]) -> RunCounts:
    """What several sessions did together."""
    total = RunCounts()
    for counts in sessions:
        for name, value in asdict(counts).items():
            setattr(total, name, getattr(total, name) + value)
    return total
