"""Judges or rates the cases of a data set, and keeps the run."""

from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from pathlib import Path

from autoj.backends.base import Backend
from autoj.datasets.base import Cases
from autoj.errors import AutojError, ConfigError
from autoj.jsonl import count_lines, read_records
from autoj.protocols import OwnProtocol
from autoj.records import Failure
from autoj.runs import RunCounts, RunFolder, RunSpec, is_finished, judge_run, open_run
from autoj.runs.budget import Budget
from autoj.runs.cost import Meter
from autoj.runs.files import LEDGER
from autoj.runs.judging import close_finished, open_ledger
from autoj.runs.kind import Kind, refuse_jury
from autoj.runs.proofreading import as_begun
from autoj.runs.reuse import KnownAnswers, reused
from autoj.runs.watch import SILENT, Watch
from autoj.tasks.default_paths import run_folder
from autoj.tasks.engine import load_engine
from autoj.tasks.run import Run


def judge(
    cases: Cases,
    spec: RunSpec,
    out: Path | None = None,
    *,
    backend: Backend | None = None,
    budget: Budget | None = None,
    watch: Watch = SILENT,
    kind: Kind | None = None,
    derive: Callable[[RunFolder], object] | None = None,
    cache: bool | None = False,
    known: KnownAnswers | None = None,
    tell_references: bool = True,
) -> Run:
    """Judges all cases of a data set with one judge; resumes where an earlier session stopped.

    Args:
        cases: the data.
        spec: the settings; its task decides between judging pairs and rating responses.
        out: the run's folder; None takes one under `runs/`, the same for the same settings.
        backend: runs the judge; None loads it if a question is open, and frees it afterwards.
        budget: the caps; None sets no limit.
        watch: told of progress and events.
        kind: the kind of run; None is that of the spec's task.
        derive: writes other files from the verdicts before the folder is unlocked.
        cache: True takes answers of earlier runs where there are any, and keeps new ones; None
            does so for a judge that costs (`runs.reuse.costs_money`), False never.
        known: answers that are taken in place of the cache's; None takes none.
        tell_references: False where the caller has told of references that are not used.

    Returns:
        The run, with all verdicts, or with fewer where the budget was used up.

    Raises:
        SpecMismatch: the folder was made with other settings or other data.
        RunBusy: another process writes to it.
        DataError: a row cannot be read.
        BackendError: the engine broke down; earlier judgments are kept.
        Cancelled: `watch` cancelled it; earlier judgments are kept.
    """
    if budget is not None:
        budget.check(spec.judge)
        if spec.critic is not None and budget.max_usd is not None:
            raise ConfigError(
                "--max-usd cannot be used with --critic: the prices of two judges are not told "
                "apart when a run is resumed",
                hint="Use --max-requests.",
            )
    path = out or run_folder(spec, cases)
    refuse_jury(path)
    meter = Meter(spec.priced_judge)
    with ExitStack() as opened:
        folder = opened.enter_context(open_run(path, spec, cases, kind))
        spec = as_begun(spec, folder.spec())
        ledger = opened.enter_context(open_ledger(folder, spec, budget, meter))
        tell_growth(folder, watch)
        tell_bad_rows(folder, watch)
        if tell_references:
            tell_unused_references(folder, spec, watch)
        _tell_scale(spec, watch)
        if is_finished(folder, spec, ledger):
            # Showing a complete run needs no engine, and so no model, no key and no network.
            close_finished(folder, spec, ledger)
            counts = RunCounts()
        else:
            with (
                _loaded(backend, spec, folder, watch) as engine,
                reused(engine, spec.protocol, cache) as reuse,
            ):
                counts = judge_run(
                    folder,
                    spec,
                    engine,
                    ledger=ledger,
                    watch=watch,
                    budget=budget,
                    meter=meter,
                    reuse=known or reuse,
                    load_critic=_critic_loader(spec, folder, watch),
                )
        if (cost := meter.cost()) is not None:
            folder.record_cost(cost.run_usd)
        _tell_outcome(folder, counts, budget, watch, from_cache=known is None)
        if derive is not None:
            derive(folder)
    stopped = budget is not None and budget.stopped
    return Run(folder=folder, spec=spec, counts=counts, stopped=stopped, cost=cost)


def _critic_loader(
    spec: RunSpec, folder: RunFolder, watch: Watch
) -> Callable[[], AbstractContextManager[Backend]] | None:
    """Opens the critic's engine, once its first critique is wanted; None without a critic."""
    return None if spec.critic is None else partial(_loaded, None, spec.writing, folder, watch)


@contextmanager
def _loaded(
    backend: Backend | None, spec: RunSpec, folder: RunFolder, watch: Watch
) -> Iterator[Backend]:
    """The engine that is given, or one that is loaded and freed; says how to go on if it is ended.

    Args:
        backend: the one that is given; None loads the spec's.
        spec: the settings.
        folder: keeps what is judged.
        watch: told how to go on.
    """
    engine = backend or load_engine(spec.judge, watch)
    try:
        yield engine
    except (KeyboardInterrupt, AutojError):
        if count_lines(folder.path / LEDGER):
            watch.message(
                f"stopped; {folder.path} keeps the judgments so far, and the same command "
                "resumes from there"
            )
        raise
    finally:
        if backend is None:
            engine.close()


def tell_growth(folder: RunFolder, watch: Watch) -> None:
    """Reports that a run has got further cases, if it has."""
    if folder.grown_from is not None:
        watch.message(
            f"{folder.path} grows from {folder.grown_from:,} to {folder.n_cases():,} cases"
        )


def tell_bad_rows(folder: RunFolder, watch: Watch) -> None:
    """Reports the number of rows that were left out of a run's data, if any."""
    n_bad_rows = _count_in(folder, "n_bad_rows")
    if n_bad_rows:
        watch.message(
            f"{n_bad_rows:,} bad rows were left out; {folder.path / 'bad_rows.jsonl'} lists them"
        )


def _count_in(folder: RunFolder, name: str) -> int:
    """A count that a run's settings state; 0 where they state none, or something else."""
    found = folder.settings().get(name)
    return found if isinstance(found, int) else 0


def _tell_scale(spec: RunSpec, watch: Watch) -> None:
    """Reports how ratings on a prompt's own scale are brought to 1 to 10."""
    protocol = spec.plain_protocol
    if isinstance(protocol, OwnProtocol) and protocol.scale_note is not None:
        watch.message(f"prompt {protocol.name!r}: {protocol.scale_note}")


def tell_unused_references(folder: RunFolder, spec: RunSpec, watch: Watch) -> None:
    """Reports once that rows have reference answers and the protocol does not show them, if so."""
    n_references = _count_in(folder, "n_references")
    if n_references and not spec.needs_reference:
        shows = "pairwise-reference" if spec.task in ("judge", "select") else "single-reference"
        rows = "1 row has" if n_references == 1 else f"{n_references:,} rows have"
        watch.message(
            f"{rows} a reference answer, which protocol {spec.protocol!r} does not show to the "
            f"judge; {shows} does, for general models"
        )


def _tell_outcome(
    folder: RunFolder,
    counts: RunCounts,
    budget: Budget | None,
    watch: Watch,
    *,
    from_cache: bool,
) -> None:
    if counts.n_reused:
        again = "; --no-cache asks anew" if from_cache else ""
        watch.message(
            f"{counts.n_reused:,} answers of earlier runs were reused and cost nothing{again}"
        )
    if counts.n_failed:
        watch.message(_failures(folder, counts.n_failed))
    if budget is not None and budget.stopped:
        watch.message(budget.summary())
    elif counts.n_answered == counts.n_failed == counts.n_reused == 0:
        watch.message(f"{folder.path} is complete: no new requests were needed")


def _failures(folder: RunFolder, n_failed: int) -> str:
    """The reasons of a session's failures, which are the last ones recorded."""
    noted = deque(read_records(folder.path / "failures.jsonl", Failure), maxlen=n_failed)
    kinds = Counter(failure.error for failure in noted)
    listed = ", ".join(f"{count:,} {kind}" for kind, count in kinds.most_common())
    return f"{n_failed:,} requests failed ({listed}); the last error: {noted[-1].message}"
