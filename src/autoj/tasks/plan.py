"""The size of a run before it is asked: what `--plan` shows, for one judge or for several.

Nothing is sent to a judge that may cost. A judge of this machine answers a few requests, so that
its speed is known; they are kept in the run's folder, as if the run had begun, and with their time,
so that a second plan asks nothing.
"""

import time
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from itertools import chain, islice, pairwise
from pathlib import Path

from autoj.backends import load_reader
from autoj.backends.base import Backend, Reader
from autoj.datasets.base import Cases
from autoj.errors import DataError
from autoj.jsonl import count_lines
from autoj.records import Case, Completion, Failure
from autoj.runs.cost import has_prices
from autoj.runs.estimate import RunEstimate, answered, estimate_run
from autoj.runs.files import LEDGER
from autoj.runs.folder import RunFolder
from autoj.runs.intake import taken_cases
from autoj.runs.judging import RunCounts
from autoj.runs.kind import Kind, refuse_jury
from autoj.runs.ledger import Ledger
from autoj.runs.loop import ask
from autoj.runs.opening import check_run, open_run
from autoj.runs.place import check_place
from autoj.runs.plan import plan_case
from autoj.runs.reuse import reused
from autoj.runs.spec import RunSpec
from autoj.runs.watch import SILENT, Watch
from autoj.tasks.default_paths import jury_folder, run_folder, selection_folder
from autoj.tasks.engine import load_engine
from autoj.tasks.jurors import Jury, pairs_alone
from autoj.tasks.jury_folder import check_jury_place
from autoj.tasks.tournaments import pair_spec
from autoj.verdicts.knockout import match_case, next_pairs, start

_N_TIMED = 8
"""Requests that are asked to time the rest."""


def plan_all(
    cases: Cases,
    planned: RunSpec | Jury,
    out: Path | None = None,
    *,
    kept: bool = True,
    cache: bool | None = None,
    watch: Watch = SILENT,
) -> list[RunEstimate]:
    """Estimates what is left to ask of each judge: of one run, of tournaments, or of a jury.

    Args:
        cases: the data.
        planned: the settings of the run, or the jury.
        out: the folder; None takes the default one.
        kept: False where the folder is a copy that is thrown away.
        cache: the use of earlier runs' answers; None where a judge costs.
        watch: told of progress and events.

    Raises:
        ConfigError: the folder is of another kind.
        DataError: a row cannot be read.
        SpecMismatch: the folder was made with other settings or other data.
    """
    if isinstance(planned, Jury):
        return plan_jury(cases, planned, out, kept=kept, cache=cache, watch=watch)
    plan_one = plan_tournaments if planned.task == "select" else plan_run
    return [plan_one(cases, planned, out, kept=kept, cache=cache, watch=watch)]


def plan_run(
    cases: Cases,
    spec: RunSpec,
    out: Path | None = None,
    *,
    kind: Kind | None = None,
    kept: bool = True,
    cache: bool | None = None,
    watch: Watch = SILENT,
) -> RunEstimate:
    """Estimates what is left to ask of a run of one judge.

    Args:
        cases: the data.
        spec: the settings.
        out: the run's folder; None takes the default one.
        kind: the kind of run; None is that of the spec's task.
        kept: False where the folder is a copy that is thrown away.
        cache: the use of earlier runs' answers, as in `tasks.judge.judge`.
        watch: told of the progress of a download.

    Raises:
        ConfigError: the folder is a jury's, or holds other things than a run.
        SpecMismatch: the folder was made with other settings or other data.
        DataError: a row cannot be read.
        BackendError: the engine broke down.
    """
    path = out or run_folder(spec, cases)
    _check_place(path)
    if (path / "run.json").is_file():
        check_run(path, spec, cases)
    pace: float | None = None
    with (
        _loaded(spec, watch) as (reader, engine),
        reused(reader, spec.protocol, cache) as reuse,
    ):
        if engine is not None and _pace_so_far(path) is None:
            with open_run(path, spec, cases, kind) as folder:
                pace = _pace(folder.cases(), spec, engine, path)
        taken, _ = taken_cases(cases, spec, [])
        found = estimate_run(taken, spec, reader, folder=path, reuse=reuse)
        return _with_time(found, pace, path, reader, kept=kept)


def plan_tournaments(
    cases: Cases,
    spec: RunSpec,
    out: Path | None = None,
    *,
    kept: bool = True,
    cache: bool | None = None,
    watch: Watch = SILENT,
) -> RunEstimate:
    """Estimates a selection by knockout, of N - 1 matches a case, by pairs of neighbours.

    The few requests that time a judge of this machine are of the first round; else as `plan_run`.
    """
    path = out or selection_folder(spec, cases)
    _check_place(path)
    if (path / "run.json").is_file():
        check_run(path, spec, cases)
    its, folder = pair_spec(spec), path / "pairs"
    pace: float | None = None

    def matches() -> Iterator[Case]:
        for case in taken_cases(cases, spec, [])[0]:
            yield from (match_case(case, pair) for pair in pairwise(range(len(case.responses))))

    def first_round(cases: Iterable[Case]) -> Iterator[Case]:
        for case in cases:
            yield from (match_case(case, pair) for pair in next_pairs(start(case)))

    with _loaded(spec, watch) as (reader, engine), reused(reader, its.protocol, cache) as reuse:
        if engine is not None and _pace_so_far(folder) is None:
            with open_run(path, spec, cases) as selection:
                pace = _pace(first_round(selection.cases()), its, engine, folder)
        found = estimate_run(matches(), its, reader, reuse=reuse)
        found = answered(found, count_lines(folder / LEDGER))
        return _with_time(found, pace, folder, reader, kept=kept)


def plan_jury(
    cases: Cases,
    jury: Jury,
    out: Path | None = None,
    *,
    kept: bool = True,
    cache: bool | None = None,
    watch: Watch = SILENT,
) -> list[RunEstimate]:
    """Estimates the runs of a jury's judges, as `plan_run` does each."""
    path = out or jury_folder(jury, cases)
    check_jury_place(path)
    data = pairs_alone(cases) if jury.paired else cases
    found = [
        plan_run(data, juror.spec, path / juror.folder, kept=kept, cache=cache, watch=watch)
        if jury.escalation is None or number == 0
        # The stronger judge's cases are among the first one's: it has no limit of its own.
        else _plan_at_most(
            data,
            replace(juror.spec, limit=jury.jurors[0].spec.limit),
            cache=cache,
            watch=watch,
        )
        for number, juror in enumerate(jury.jurors)
    ]
    return [replace(its, judge=juror.name) for its, juror in zip(found, jury.jurors, strict=True)]


def _plan_at_most(cases: Cases, spec: RunSpec, *, cache: bool | None, watch: Watch) -> RunEstimate:
    """Estimates a judge that is asked about some of the cases, as if it were asked about all.

    Which ones follows from another judge's verdicts, so that its folder is left alone.
    """
    with _loaded(spec, watch) as (reader, _), reused(reader, spec.protocol, cache) as reuse:
        return replace(
            estimate_run(taken_cases(cases, spec, [])[0], spec, reader, reuse=reuse), is_most=True
        )


def _check_place(path: Path) -> None:
    """Refuses, as the run itself would, a folder of other things."""
    refuse_jury(path)
    if path.exists() and not path.is_dir():
        raise DataError("is a file, not a run's folder", path=path, hint="Choose another --out.")
    check_place(path)


@contextmanager
def _loaded(spec: RunSpec, watch: Watch) -> Iterator[tuple[Reader, Backend | None]]:
    """The judge to count tokens with, and its engine if asking it costs nothing."""
    reader = load_reader(spec.judge)
    if reader is not None:
        yield reader, None
        return
    with closing(load_engine(spec.judge, watch)) as engine:
        yield engine, None if has_prices(spec.judge) else engine


def _pace(cases: Iterable[Case], spec: RunSpec, engine: Backend, path: Path) -> float | None:
    """Asks the first few requests that are left; the seconds for each, None without an answer.

    Args:
        cases: the cases, in the order of the run.
        spec: the settings.
        engine: answers.
        path: the folder that keeps the answers and the time.
    """
    path.mkdir(exist_ok=True)
    planned = chain.from_iterable(plan_case(case, spec, engine) for case in cases)
    outcomes: list[Completion | Failure | None] = []
    with Ledger(path) as ledger:
        missing = (
            item
            for item in planned
            if item.request is not None and not ledger.holds(item.request.key)
        )
        first = list(islice(missing, _N_TIMED))
        started = time.monotonic()
        ask(first, engine, ledger, outcomes.append)
    counts = RunCounts(seconds=time.monotonic() - started)
    for outcome in outcomes:
        counts.add(outcome)
    if not counts.n_answered:
        return None
    RunFolder(path).add_timing(counts.stated())
    return counts.seconds / counts.n_answered


def _with_time(
    found: RunEstimate, pace: float | None, path: Path, reader: Reader, *, kept: bool
) -> RunEstimate:
    """The estimate with the time that the rest will take.

    Args:
        found: the estimate.
        pace: the seconds for each request that was asked to know them; None where none was.
        path: the folder of the run.
        reader: states the rate limits, if it has any.
        kept: False where the folder is thrown away.
    """
    if pace is not None:
        where = f", whose answers are kept in {path}" if kept else ""
        return _timed(found, pace, f"{_N_TIMED} requests{where}")
    if (pace := _pace_so_far(path)) is not None:
        return _timed(found, pace, "the speed of this run so far")
    return _at_least(found, reader)


def _pace_so_far(path: Path) -> float | None:
    """The seconds for each answer in a run's sessions; None where too few were given."""
    n_answered, seconds = RunFolder(path).timings()
    return seconds / n_answered if n_answered >= _N_TIMED else None


def _timed(found: RunEstimate, pace: float, by: str) -> RunEstimate:
    return replace(found, seconds=pace * found.n_left, timed_by=by) if found.n_left else found


def _at_least(found: RunEstimate, reader: Reader) -> RunEstimate:
    """The estimate with the time that rate limits allow, where the engine has any."""
    limit = getattr(reader, "least_seconds", None)
    if limit is None or not found.n_left:
        return found
    about = found.completion_tokens.about
    n_written = found.completion_tokens.least if about is None else about
    seconds = limit(found.n_left, found.prompt_tokens + round(n_written))
    if seconds is None:
        return found
    return replace(found, seconds=seconds, timed_by="the rate limits in the card, at least")
