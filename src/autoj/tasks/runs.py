"""The runs of a folder, each with its state and its main figure; no model and no answer is read."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias, TypeVar

from autoj.errors import AutojError, DataError
from autoj.jsonl import count_lines
from autoj.metrics import agreement, mean_rating, win_rate
from autoj.metrics.base import Rows, is_labelled, mean, proportion, select, tally
from autoj.metrics.rows import pair_row, rating_rows
from autoj.records import Case, CaseOutline, Estimate, Verdict
from autoj.runs.authors import NOBODY, Authors, AuthorTally
from autoj.runs.kind import JURY_FILE, Kind, is_jury, kind_of
from autoj.runs.spec import RunSpec
from autoj.tasks.default_paths import RUNS
from autoj.tasks.jury import JuryRun
from autoj.tasks.run import Run

_AnyCase = TypeVar("_AnyCase", Case, CaseOutline)
State: TypeAlias = Literal["run", "several runs", "no run", "damaged"]
# What reading a file that somebody else wrote may raise; nesting too deep is a RecursionError.
_DAMAGE = (
    AutojError, OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError,
)  # fmt: skip
_WRITTEN = ("run.json", JURY_FILE, "ledger.jsonl", "failures.jsonl", "verdicts.jsonl")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEntry:
    """A folder among the runs."""

    path: str
    state: State
    """"several runs" is a folder of runs, such as an audit's; "damaged" a run that cannot be
    read."""
    changed: float | None = None
    """The time of its last change, in seconds since 1970; None where it cannot be told."""
    kind: Kind | None = None
    judge: str | None = None
    protocol: str | None = None
    n_cases: int | None = None
    n_judged: int = 0
    """Cases with a verdict."""
    n_answers: int = 0
    """Answers in the ledger: the verdicts are written at the end."""
    n_failed: int = 0
    """Requests without an answer."""
    n_unreadable: int = 0
    """Judgments without a readable answer."""
    figure: Estimate | None = None
    """Agreement or accuracy where cases have labels, else the win rate or the mean rating."""
    authors: Authors = NOBODY
    reason: str | None = None
    """The reason that it is no run, or damaged."""


def list_runs(folder: Path | None = None) -> list[RunEntry]:
    """The runs in a folder, the one that changed last first; folders that are no runs come last.

    Args:
        folder: of runs, or a run itself; None takes `runs/`, which is not there before the first.

    Raises:
        DataError: there is no such folder.
    """
    if folder is None:
        return list_runs(RUNS) if RUNS.exists() else []
    if not folder.is_dir():
        raise DataError(
            "is a file" if folder.exists() else "there is no such folder",
            path=folder,
            hint="Runs are made by autoj judge, rate, select and classify.",
        )
    found = [_entry(folder)] if _holds_run(folder) else [_entry(path) for path in _folders(folder)]
    order: tuple[State, ...] = ("run", "several runs", "damaged", "no run")
    return sorted(
        found, key=lambda each: (order.index(each.state) > 1, -(each.changed or 0), each.path)
    )


def _folders(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.is_dir())


def _holds_run(path: Path) -> bool:
    return (path / "run.json").exists() or (path / JURY_FILE).exists()


def _entry(path: Path) -> RunEntry:
    """The content of a folder; never an exception, since a stranger may have written it."""
    try:
        changed = _last_change(path)
        if not _holds_run(path):
            return _other(path, changed)
        return _jury(path, changed) if is_jury(path) else _run(path, changed)
    except _DAMAGE as error:
        told = error.message if isinstance(error, AutojError) else str(error)
        reason = " ".join(told.split()) or type(error).__name__
        return RunEntry(path=str(path), state="damaged", reason=reason)


def _last_change(path: Path) -> float:
    times = [(path / name).stat().st_mtime for name in _WRITTEN if (path / name).exists()]
    return max(times, default=path.stat().st_mtime)


def _other(path: Path, changed: float) -> RunEntry:
    inside = [inner for inner in _folders(path) if _holds_run(inner)]
    if not inside:
        reason = "it has no run.json"
        return RunEntry(path=str(path), state="no run", changed=changed, reason=reason)
    entries = [_entry(inner) for inner in inside]
    judges = {entry.judge for entry in entries}
    return RunEntry(
        path=str(path),
        state="several runs",
        changed=max(entry.changed or changed for entry in entries),
        judge=judges.pop() if len(judges) == 1 else None,
        n_cases=sum(entry.n_cases or 0 for entry in entries),
        n_judged=sum(entry.n_judged for entry in entries),
        n_failed=sum(entry.n_failed for entry in entries),
        n_unreadable=sum(entry.n_unreadable for entry in entries),
        reason=f"{len(inside):,} runs in it",
    )


class _Counts:
    """Counts of verdicts as they are read."""

    def __init__(self) -> None:
        self.n_judged = self.n_failed = self.n_unreadable = 0
        self.authors = AuthorTally()

    def of(self, judged: Iterable[tuple[_AnyCase, Verdict]]) -> Iterator[tuple[_AnyCase, Verdict]]:
        """Pass cases with their verdicts on, counted."""
        for case, verdict in judged:
            self.n_judged += 1
            self.n_failed += verdict.n_failed
            self.n_unreadable += verdict.n_unreadable
            self.authors.add(case)
            yield case, verdict


def _run(path: Path, changed: float) -> RunEntry:
    run, kind = Run.open(path), kind_of(path)
    spec, counts = run.spec, _Counts()
    figure = None
    if kind == "rate":
        rated = [row for case, its in counts.of(run) for row in rating_rows(case, its)]
        figure = mean("mean score", rated, lambda row: row.rating, span=None)
        if spec.protocol != "scalar":
            figure = mean_rating.compute(rated)
    else:
        rows = tally(pair_row(case, its) for case, its in counts.of(run.folder.outlined()))
        if kind in ("judge", "compare"):
            figure = _pair_figure(rows, both_orders=_both_orders(spec))
    return RunEntry(
        path=str(path),
        state="run",
        changed=changed,
        kind=kind,
        judge=spec.judge.name,
        protocol=spec.protocol,
        n_cases=run.n_cases,
        n_judged=counts.n_judged,
        n_answers=count_lines(path / "ledger.jsonl"),
        n_failed=counts.n_failed,
        n_unreadable=counts.n_unreadable,
        figure=figure,
        authors=counts.authors.found(),
    )


def _both_orders(spec: RunSpec) -> bool:
    """True where every pair is asked in both orders."""
    return spec.has_orders and spec.orders == "both" and spec.second_order is None


def _jury(path: Path, changed: float) -> RunEntry:
    run, counts = JuryRun.open(path), _Counts()
    jurors = [juror.name for juror in run.jury.jurors]
    first = path / run.jury.jurors[0].folder
    figure = None
    if (path / "verdicts.jsonl").exists():
        if run.jury.paired:
            rows = tally(
                pair_row(case, its)._replace(winner=its.winner, averaged=its.winner)
                for case, its in counts.of(run.outlined())
            )
            figure = _pair_figure(rows, both_orders=False)
        else:
            rated = [row for case, its in counts.of(run) for row in rating_rows(case, its)]
            figure = mean_rating.compute(rated)
    return RunEntry(
        path=str(path),
        state="run",
        changed=changed,
        kind="jury",
        judge=", ".join(jurors),
        n_cases=Run.open(first).n_cases if (first / "run.json").exists() else None,
        n_judged=counts.n_judged,
        n_failed=counts.n_failed,
        n_unreadable=counts.n_unreadable,
        figure=figure,
        authors=counts.authors.found(),
    )


def _pair_figure(rows: Rows, *, both_orders: bool) -> Estimate:
    """Agreement with the labels, or accuracy where there is one order; without labels wins."""
    if len(select(rows, is_labelled)) == 0:
        return win_rate.compute(rows)
    if both_orders:
        return agreement.compute(rows)
    found = select(rows, is_labelled)
    return proportion(
        "verdict accuracy",
        found,
        lambda row: None if row.winner is None else float(row.winner == row.label),
    )
