"""Merges runs of the same settings: shards of the cases, or runs that overlap.

Cases are in the order of the data, by the positions that each run states; runs of different data
follow each other. Each key is answered once, a failure in one run gives way to an answer in
another, and verdicts are resolved again. The result is a run like any other: it can be shown,
resumed, and merged again.

It is written to a staging folder beside its final path and moved there when it is complete. A run
already at that path is one of the merged runs, so that no judgment is lost and repeating the
command gives the same result.
"""

import logging
import os
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from autoj.errors import ConfigError
from autoj.jsonl import count_lines, read_records, whole_lines, write_records
from autoj.records import Asked
from autoj.runs.cost import Meter
from autoj.runs.files import (
    BAD_ROWS,
    CASES,
    FAILURES,
    FOLLOW,
    LEDGER,
    PLAN,
    TIMINGS,
    VERDICTS,
)
from autoj.runs.folder import RunFolder
from autoj.runs.intake import REFERENCES, count_references
from autoj.runs.kind import is_jury
from autoj.runs.ledger import LedgerReader, RecordedAnswer
from autoj.runs.merge.cases import JoinedCases, JoinedRun
from autoj.runs.merge.ledgers import MergedLedger, merge_failures, write_lines
from autoj.runs.merge.plans import follow_rows, plan_rows
from autoj.runs.merge.staging import recover, staging_folder
from autoj.runs.place import locked
from autoj.runs.resolving import resolve_run
from autoj.runs.settings import differences, stable_part, versions, write_settings
from autoj.runs.shards import missing_parts
from autoj.runs.spec import RunSpec

_log = logging.getLogger(__name__)

_TASKS = ("judge", "rate", "compare")
_TEMPLATE = "template_sha256"


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """The result of merging several runs."""

    run: str
    """The folder."""
    n_runs: int
    n_cases: int
    n_unjudged: int
    """Cases without a verdict so far."""
    n_answers: int
    n_repeated: int
    """Answers that an earlier run had, too."""
    n_failed: int
    """Requests without an answer in any run."""
    n_missing: int
    """Cases of the data that no run holds."""
    shard: str | None
    """The part of the data that the runs hold together; None where it is all."""
    missing: str | None
    """The missing shards; None where there are none."""
    several_data: bool
    """True where the runs are of different data sets, with cases in the order of the runs."""


def merge_runs(paths: Sequence[Path], out: Path) -> Merged:
    """Merges runs of the same settings.

    Args:
        paths: the runs' folders, in order of precedence.
        out: the folder of the merged run; a run that is already there is merged, too, and first.

    Raises:
        ConfigError: the runs have different settings, or `out` is not a run.
        DataError: a run is damaged, or two of them hold different answers to one question.
        RunBusy: another process writes to one of them.
        StorageFull: the disk is full.
    """
    place = out.absolute()
    recover(place)
    folders = _distinct([*_existing(out), *paths])
    if juries := [path for path in folders if is_jury(path)]:
        raise ConfigError(
            f"{juries[0]} is a jury's folder; only runs of one judge can be merged",
            hint=f"Merge each judge's runs, under {juries[0] / 'judges'}/, with a separate "
            "--out for each.",
        )
    with ExitStack() as opened:
        for path in folders:
            if (path / "run.json").is_file() and os.access(path, os.W_OK):
                opened.enter_context(locked(path))
        sources = [opened.enter_context(closing(JoinedRun(path))) for path in folders]
        _check_settings(sources)
        cases = JoinedCases(sources)
        with staging_folder(place) as draft:
            merged = _write(draft, sources, cases)
    missing = None if cases.shard is None else missing_parts(cases.shard, cases.dealt[1])
    return Merged(
        run=str(out),
        n_runs=len(sources),
        n_missing=cases.n_missing,
        shard=None if cases.shard is None else str(cases.shard),
        missing=None if missing is None else str(missing),
        several_data=cases.several_data,
        **merged,
    )


def _write(draft: Path, sources: Sequence[JoinedRun], cases: JoinedCases) -> dict[str, int]:
    """Writes all files of the merged run; returns the counts of `Merged`."""
    folders = [source.path for source in sources]
    ledger = MergedLedger(folders, lambda key: _case_of(key, folders))
    ledger.write(draft / LEDGER)
    n_failed = merge_failures(folders, draft)
    counts: Counter[str] = Counter()
    n_cases = write_records(draft / CASES, count_references(cases, counts))
    n_bad_rows = _join_lines([s.path / BAD_ROWS for s in cases.first_sources()], draft)
    _join_lines([folder / TIMINGS for folder in folders], draft)
    stated = {"n_bad_rows": n_bad_rows, "n_references": counts[REFERENCES]}
    record = _settings(sources, cases) | stated
    write_settings(draft, record)
    folder = RunFolder(draft)
    spec = folder.spec()
    with closing(LedgerReader(draft)) as answers:
        rows = (row for case in folder.cases() for row in plan_rows(case, spec, sources, answers))
        write_records(draft / PLAN, rows)
    if spec.critique:
        write_records(draft / FOLLOW, follow_rows(folder, spec, sources))
    folder.write_verdicts(verdict for _, verdict in resolve_run(folder, spec))
    _record_cost(folder, spec)
    folder.record_scored_by()
    folder.note_digests(CASES, BAD_ROWS, PLAN, FOLLOW, LEDGER, FAILURES)
    return {
        "n_cases": n_cases,
        "n_unjudged": n_cases - count_lines(draft / VERDICTS),
        "n_answers": len(ledger),
        "n_repeated": ledger.n_repeated,
        "n_failed": n_failed,
    }


def _record_cost(folder: RunFolder, spec: RunSpec) -> None:
    """Records what the answers cost; an answer that several runs have counts once."""
    meter = Meter(spec.priced_judge)
    if meter.is_priced:
        for answer in read_records(folder.path / LEDGER, RecordedAnswer):
            meter.count_earlier(answer)
    if (cost := meter.cost()) is not None:
        folder.record_cost(cost.run_usd)


def _settings(sources: Sequence[JoinedRun], cases: JoinedCases) -> dict[str, Any]:
    first = sources[0].settings
    record: dict[str, Any] = {
        **_template(sources),
        "spec": {**first["spec"], "shard": None if cases.shard is None else str(cases.shard)},
        "data": cases.data(),
        "versions": versions(),
        "merged": [
            {"run": str(source.path), "versions": source.settings.get("versions")}
            for source in sources
        ],
    }
    if cases.shard is not None:
        n_cases, n_distinct = cases.dealt
        record["dealt"] = {"n_cases": n_cases, "n_distinct": n_distinct}
    return record


def _check_settings(sources: Sequence[JoinedRun]) -> None:
    """Refuses runs of different settings."""
    first = sources[0]
    if first.spec.task not in _TASKS:
        raise ConfigError(f"{first.path} is a run of autoj {first.spec.task}; it cannot be merged")
    wanted = _comparable(first)
    for source in sources[1:]:
        found = differences(wanted, _comparable(source))
        if found:
            lines = "\n".join(f"    {name}: {one!r} and {other!r}" for name, one, other in found)
            raise ConfigError(
                f"{first.path} and {source.path} were made with different settings:\n{lines}",
                hint="Only runs of the same settings can be merged; shards may differ.",
            )
        if first.spec.calibration != source.spec.calibration:
            _log.warning(
                "%s was resolved with another calibration than %s, which takes precedence",
                source.path,
                first.path,
            )
        if first.spec.prompt != source.spec.prompt:
            _log.warning(
                "%s was read by another text of its prompt than %s, which takes precedence",
                source.path,
                first.path,
            )


def _template(sources: Sequence[JoinedRun]) -> dict[str, str]:
    """The chat template that the runs' keys were made with; empty where there is none.

    Raises:
        ConfigError: they were made with different ones.
    """
    noted = {source.path: source.settings.get(_TEMPLATE) for source in sources}
    known = {path: sha256 for path, sha256 in noted.items() if isinstance(sha256, str)}
    if not known:
        return {}
    (first, wanted), *others = known.items()
    for path, sha256 in others:
        if sha256 != wanted:
            raise ConfigError(
                f"{first} and {path} were made with different chat templates of the judge",
                hint="Only runs of the same settings can be merged.",
            )
    return {_TEMPLATE: wanted}


def _comparable(source: JoinedRun) -> dict[str, Any]:
    spec: dict[str, Any] = stable_part(source.settings)["spec"]
    spec.pop("shard", None)
    return spec


def _case_of(key: str, folders: Sequence[Path]) -> str | None:
    """The first case that a key was asked about."""
    files = [folder / name for folder in folders for name in (PLAN, FOLLOW)]
    rows = chain.from_iterable(read_records(path, Asked) for path in files)
    return next((row.case_id for row in rows if row.key == key), None)


def _join_lines(paths: Sequence[Path], draft: Path) -> int:
    """Writes the distinct lines of small files of one name; returns their number."""
    lines = list(dict.fromkeys(chain.from_iterable(whole_lines(path) for path in paths)))
    if lines:
        write_lines(draft / paths[0].name, lines)
    return len(lines)


def _distinct(paths: Sequence[Path]) -> list[Path]:
    """Each folder once, even if it is named twice."""
    found: dict[Path, Path] = {}
    for path in paths:
        found.setdefault(path.resolve(), path)
    return list(found.values())


def _existing(out: Path) -> list[Path]:
    """The run that is already at the target path."""
    if (out / "run.json").is_file():
        return [out]
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ConfigError(f"--out {out} exists and is not a run", hint="Choose another --out.")
    return []
