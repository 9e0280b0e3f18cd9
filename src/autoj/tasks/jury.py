"""Judges the same cases with several judges, one after the other, and combines their verdicts."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from autoj.datasets.base import Cases
from autoj.notebook import InNotebook
from autoj.records import Case, CaseOutline
from autoj.runs import CaseRecord, RunCounts, RunFolder, read_case
from autoj.runs.budget import Budget
from autoj.runs.cost import Cost
from autoj.runs.opening import check_run, discarded_if_unused
from autoj.runs.place import locked
from autoj.runs.watch import SILENT, Watch
from autoj.tasks.default_paths import jury_folder
from autoj.tasks.escalation import escalated, renew
from autoj.tasks.judge import judge
from autoj.tasks.jurors import Jury, pairs_alone
from autoj.tasks.jury_folder import (
    check_jury_kind,
    open_jury,
    read_jury,
    read_jury_verdicts,
    write_jury_verdicts,
)
from autoj.tasks.run import pandas_table
from autoj.verdicts.jury import JuryVerdict

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, slots=True, kw_only=True)
class JuryRun(InNotebook):
    """A jury in its folder; iterate over it for each case with the jury's verdict, read lazily."""

    path: Path
    """The folder, which contains each judge's own run."""
    jury: Jury
    counts: RunCounts = field(default_factory=RunCounts)
    """The counts of this session, all judges together."""
    costs: Mapping[str, Cost | None] = field(default_factory=dict)
    """The cost of each judge's run by its name; None where its card states no prices."""

    @classmethod
    def open(cls, path: Path | str) -> "JuryRun":
        """Opens an existing jury.

        Raises:
            DataError: the path is not a jury's folder.
        """
        return cls(path=Path(path), jury=read_jury(Path(path)))

    def __iter__(self) -> Iterator[tuple[Case, JuryVerdict]]:
        return read_jury_verdicts(self.path, self.jury, Case)

    def outlined(self) -> Iterator[tuple[CaseOutline, JuryVerdict]]:
        """Reads the cases without their texts, in half the time; else like iteration."""
        return read_jury_verdicts(self.path, self.jury, CaseOutline)

    def to_pandas(self) -> "pandas.DataFrame":
        """The jury's verdicts as a data frame with the columns of `Run.to_pandas`.

        Raises:
            MissingExtra: pyarrow or pandas is not installed.
        """
        return pandas_table(self, self.jury.jurors[0].spec)


@dataclass(frozen=True, slots=True, kw_only=True)
class JuryCase:
    """A case of a jury, with every judge's judgments."""

    case: Case
    verdict: JuryVerdict | None
    """None where the jury has not decided yet."""
    judges: tuple[tuple[str, CaseRecord], ...]
    """The names of the judges that were asked, each with its judgments and verdict."""


def read_jury_case(run: JuryRun, case_id: str) -> JuryCase | None:
    """One case of a jury with all judgments; None where the jury has no such case.

    Args:
        run: the jury, finished or not.
        case_id: the case.
    """
    records = []
    for juror in run.jury.jurors:
        path = run.path / juror.folder
        # A judge whose turn has not come has no folder yet.
        if (path / "run.json").is_file():
            record = read_case(RunFolder(path), juror.spec, case_id)
            if record is not None:
                records.append((juror.name, record))
    if not records:
        return None
    decided = run if (run.path / "verdicts.jsonl").is_file() else ()
    verdict = next((found for case, found in decided if case.id == case_id), None)
    return JuryCase(case=records[0][1].case, verdict=verdict, judges=tuple(records))


def judge_by_jury(
    cases: Cases,
    jury: Jury,
    out: Path | None = None,
    *,
    budget: Budget | None = None,
    watch: Watch = SILENT,
    cache: bool | None = False,
) -> JuryRun:
    """Judges all cases with each judge of a jury, and resolves the jury's verdicts.

    Each engine is closed before the next is loaded, so the largest alone must fit.

    Args:
        cases: the data.
        jury: the judges and the rule that decides.
        out: the jury's folder; None takes one under `runs/`, the same for the same settings.
        budget: the caps of all judges together; None sets no limit.
        watch: told of progress and events.
        cache: the use of earlier runs' answers, as in `judge`.

    Raises:
        Unfinished: the budget was used up before every judge had judged.
        ConfigError: the folder is the run of one judge.
        DataError: a row cannot be read, or the judges' runs hold different cases.
        RunBusy: another process writes to the folder, or to a judge's.
        BackendError: an engine broke down; earlier judgments are kept.
    """
    path = out or jury_folder(jury, cases)
    data = pairs_alone(cases) if jury.paired else cases
    check_jury_kind(path, jury)
    _check_runs(path, jury, data)
    sessions: list[RunCounts] = []
    costs: dict[str, Cost | None] = {}
    with discarded_if_unused(path), open_jury(path, jury):
        for number, juror in enumerate(jury.jurors, start=1):
            place = f"judge {number} of {len(jury.jurors)}"
            asked = data
            if number > 1 and jury.escalation is not None:
                left = escalated(data, path / jury.jurors[0].folder, jury.escalation)
                renew(path / juror.folder, left)
                if left is None:
                    watch.message(f"{place}: {juror.name} is not asked, no verdict is unsure")
                    continue
                asked = left
            watch.message(f"{place}: {juror.name} ({juror.spec.protocol})")
            run = judge(
                asked, juror.spec, path / juror.folder, budget=budget, watch=watch, cache=cache
            )
            run.check_whole()
            sessions.append(run.counts)
            costs[juror.name] = run.cost
        write_jury_verdicts(path, jury)
    return JuryRun(path=path, jury=jury, counts=total_of(sessions), costs=costs)


def _check_runs(path: Path, jury: Jury, cases: Cases) -> None:
    """Checks that existing runs of a jury can be resumed, before its folder is rewritten.

    Raises:
        SpecMismatch: a run was made with other settings or other data.
        RunBusy: another process is writing to one.
    """
    # The second judge of an escalation has cases of its own, which follow from the first one's.
    for juror in jury.jurors[: 1 if jury.escalation is not None else None]:
        folder = path / juror.folder
        if (folder / "run.json").is_file():
            with locked(folder):
                check_run(folder, juror.spec, cases)


def total_of(sessions: Iterable[RunCounts]) -> RunCounts:
    """The sum of several sessions' counts."""
    total = RunCounts()
    for counts in sessions:
        for name, value in asdict(counts).items():
            setattr(total, name, getattr(total, name) + value)
    return total
