"""What `autoj judge` and `autoj rate` share: from flags to a run, its table and its exit code."""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from itertools import islice
from pathlib import Path
from typing import Any

import typer
from rich.console import Group
from rich.text import Text

from autoj.backends import load_backend
from autoj.backends.base import Backend
from autoj.cli import _console
from autoj.datasets.base import Cases
from autoj.errors import AutojError
from autoj.jsonl import count_lines, read_records
from autoj.records import Completion, Failure, JudgeCard
from autoj.reports import Breakdown, RunSummary, summarise
from autoj.reports.case import first_critique
from autoj.reports.judge import summary_table, verdict_table
from autoj.runs import (
    RunCounts,
    RunFolder,
    RunSpec,
    is_finished,
    judge_run,
    open_run,
    resolve_run,
    spec_digest,
)
from autoj.runs.budget import Budget

__all__ = ["judged", "judged_whole", "load_with_progress", "run"]

_N_SHOWN = 20
"""Cases whose verdicts are listed above the summary."""


def run(
    spec: RunSpec,
    cases: Cases,
    out: Path | None,
    breakdown: Breakdown | None,
    as_json: bool,
    budget: Budget | None = None,
) -> None:
    """Judge all cases, print what came of it, and exit with 1 where something failed or is left."""
    with judged(spec, cases, out, budget=budget) as (folder, counts):
        found = folder.outlined() if spec.paired else folder.judged()
        summary = summarise(found, spec, folder.n_cases(), breakdown)
        if as_json:
            _console.print_json(_as_json(folder, summary, counts))
        else:
            _print_tables(folder, spec, summary, counts)
    if summary.n_failed or (budget is not None and budget.stopped):
        raise typer.Exit(1)


@contextmanager
def judged(
    spec: RunSpec,
    cases: Cases,
    out: Path | None,
    backend: Backend | None = None,
    budget: Budget | None = None,
) -> Iterator[tuple[RunFolder, RunCounts]]:
    """A run in which all cases are judged, with progress on stderr; locked until the block ends.

    Args:
        spec: the settings.
        cases: the data.
        out: the run's folder; None takes the default one.
        backend: runs the judge; None loads it, and frees it afterwards.
        budget: what may be spent; None sets no limit.
    """
    if budget is not None:
        budget.check(spec.judge)
    path = out or _default_folder(spec, cases)
    with open_run(path, spec, cases) as folder:
        _report_bad_rows(folder)
        if is_finished(folder, spec):
            # No engine, and so no model, no key and no network, to look at what is there.
            folder.write_verdicts(verdict for _, verdict in resolve_run(folder, spec))
            counts = RunCounts()
            if budget is not None:
                # Other judges of a jury draw on the same budget.
                ledger = read_records(folder.path / "ledger.jsonl", Completion)
                budget.count_earlier(spec.judge, ledger)
        else:
            counts = _judge(folder, spec, backend, budget)
        if counts.n_failed:
            _console.print_message(_what_failed(folder, counts.n_failed))
        if budget is not None and budget.stopped:
            _console.print_message(budget.summary())
        elif counts.n_answered == counts.n_failed == 0:
            _console.print_message(f"nothing was left to ask: this is what {path} holds")
        yield folder, counts


@contextmanager
def judged_whole(
    spec: RunSpec,
    cases: Cases,
    out: Path | None,
    budget: Budget | None,
    backend: Backend | None = None,
) -> Iterator[tuple[RunFolder, RunCounts]]:
    """As `judged`, for what needs every verdict: a budget that left some ends the command."""
    with judged(spec, cases, out, backend, budget) as (folder, counts):
        n_judged, n_cases = count_lines(folder.path / "verdicts.jsonl"), folder.n_cases()
        if n_judged < n_cases:
            _console.print_message(
                f"{folder.path} holds {n_judged:,} of {n_cases:,} verdicts; the same command goes "
                "on"
            )
            raise typer.Exit(1)
        yield folder, counts


def _judge(
    folder: RunFolder, spec: RunSpec, backend: Backend | None, budget: Budget | None
) -> RunCounts:
    with _console.show_progress() as watch:
        engine = backend or load_with_progress(spec.judge, watch)
        try:
            return judge_run(folder, spec, engine, watch.update, budget)
        except (KeyboardInterrupt, AutojError) as error:
            watch.stop()
            _say_how_to_go_on(folder)
            if isinstance(error, KeyboardInterrupt):
                raise typer.Exit(130) from None
            raise
        finally:
            if backend is None:
                engine.close()


def _what_failed(folder: RunFolder, n_failed: int) -> str:
    """The reasons of a session's failures, which are the last that were noted."""
    noted = deque(read_records(folder.path / "failures.jsonl", Failure), maxlen=n_failed)
    kinds = Counter(failure.error for failure in noted)
    listed = ", ".join(f"{count:,} {kind}" for kind, count in kinds.most_common())
    return f"{n_failed:,} requests failed ({listed}); the last: {noted[-1].message}"


def _default_folder(spec: RunSpec, cases: Cases) -> Path:
    """A folder that the same command finds again: named for data, judge and settings."""
    data = cases.name or cases.paths[0].name.partition(".")[0]
    judge = re.sub(r"[^A-Za-z0-9._-]+", "-", spec.judge.name).strip("-.")
    name = f"{data}-{judge}-{spec_digest(replace(spec, shard=None), cases)}"
    if spec.shard is not None:
        # Shards of one run are seen to belong together, and a pattern names them all.
        name += f"-shard-{spec.shard.replace('/', '-of-')}"
    return Path("runs") / name


def load_with_progress(card: JudgeCard, watch: _console.Watch) -> Backend:
    """The engine of a judge; what it fetches on first use is shown."""
    if card.backend not in ("embedded", "hf"):
        return load_backend(card)

    def on_fetch(what: str, n_bytes: int, total_bytes: int) -> None:
        watch.update(f"fetching {what} (MB)", n_bytes // 1_000_000, total_bytes // 1_000_000)

    return load_backend(card, on_fetch=on_fetch)


def _report_bad_rows(folder: RunFolder) -> None:
    n_bad_rows = folder.settings()["n_bad_rows"]
    if n_bad_rows:
        _console.print_message(
            f"{n_bad_rows:,} bad rows are left out; {folder.path / 'bad_rows.jsonl'} lists them"
        )


def _say_how_to_go_on(folder: RunFolder) -> None:
    _console.print_message(
        f"stopped; what is judged is kept in {folder.path}, and the same command goes on from there"
    )


def _print_tables(folder: RunFolder, spec: RunSpec, summary: RunSummary, counts: RunCounts) -> None:
    listed = list(islice(folder.judged(), _N_SHOWN))
    parts: list[Any] = [verdict_table(listed, spec)]
    if summary.n_judged > len(listed):
        more = summary.n_judged - len(listed)
        parts.append(Text(f" … {more:,} more in {folder.path / 'verdicts.jsonl'}", style="dim"))
    parts += [Text(), summary_table(summary, spec, counts), Text()]
    parts += first_critique(listed)
    _console.print_result(Group(*parts))
    _console.print_message(f"autoj show {folder.path} CASE shows a case with its judgments")


def _as_json(folder: RunFolder, summary: RunSummary, counts: RunCounts) -> dict[str, Any]:
    return {
        "run": str(folder.path),
        "summary": asdict(summary),
        "session": asdict(counts),
        "verdicts": list(folder.verdicts()),
    }
