"""The stored runs behind a report: each judge's cases with their judgments, and what ran."""

import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from autoj.errors import ConfigError, DataError
from autoj.protocols import protocols_of
from autoj.reports.cost import cost_text
from autoj.reports.judge import scored_by_text
from autoj.reports.text import page_text
from autoj.reports.verdict_cells import threshold_text
from autoj.runs import CaseRecord, RunSpec, resolve_run
from autoj.runs.case_record import read_case_records
from autoj.runs.kind import kind_of
from autoj.runs.place import is_locked
from autoj.runs.settings import read_settings
from autoj.tasks.jury import JuryRun
from autoj.tasks.run import Run

SHOWN_KINDS = ("judge", "rate", "jury")
"""The kinds of runs with verdicts on single cases."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRun:
    """A judge's run, or the verdicts of a jury, as a source of a report."""

    name: str
    """Unique within the report."""
    path: Path
    paired: bool
    scalar: bool
    """True where ratings have no scale."""
    n_cases: int
    is_running: bool
    facts: tuple[tuple[str, str], ...]
    """Labels and values that say what judged, and how to run it again."""
    run: Run | JuryRun

    @property
    def is_finished(self) -> bool:
        """False where a run's verdicts are missing, or are in no file yet, only in its answers."""
        return isinstance(self.run, JuryRun) or self.run.n_judged >= self.n_cases

    def records(self) -> Iterator[CaseRecord]:
        """Its cases with their judgments, lazily.

        Raises:
            DataError: a file of it is damaged.
        """
        if isinstance(self.run, Run):
            yield from read_case_records(self.run.folder, self.run.spec)
            return
        for case, verdict in self.run:
            yield CaseRecord(case=case, verdict=verdict, judgments=(), paired=self.paired)


def open_page_runs(paths: Sequence[Path]) -> list[PageRun]:
    """Opens runs for a report; a jury stands for its own verdicts and those of its judges.

    Args:
        paths: folders of runs, finished or not.

    Raises:
        ConfigError: a run has no verdicts on single cases, or some runs compare and others rate.
        DataError: a folder is no run, or has no verdicts yet.
    """
    runs = [run for path in paths for run in _opened(path)]
    if len({run.paired for run in runs}) > 1:
        raise ConfigError(
            "these runs cannot stand in one report: some have winners of pairs, others ratings",
            hint="Write one report for each kind.",
        )
    return named_apart(runs)


def _opened(path: Path) -> Iterator[PageRun]:
    kind = kind_of(path)
    if kind not in SHOWN_KINDS:
        raise ConfigError(
            f"{path} is a run of autoj {kind}; runs of judge and rate, and juries, have verdicts",
            hint=f"autoj show {path} shows it.",
        )
    if kind != "jury":
        yield _of_run(Run.open(path))
        return
    jury = JuryRun.open(path)
    folders = [path / juror.folder for juror in jury.jury.jurors]
    # A judge that was asked about no case has no folder.
    jurors = [_of_run(Run.open(each)) for each in folders if (each / "run.json").is_file()]
    names = ", ".join(juror.name for juror in jury.jury.jurors)
    yield PageRun(
        name="jury",
        path=path,
        paired=jury.jury.paired,
        scalar=False,
        n_cases=jurors[0].n_cases,
        is_running=any(juror.is_running for juror in jurors),
        facts=(
            ("judges", names),
            ("rule", jury.jury.method or "mean of the ratings"),
            ("folder", str(path)),
        ),
        run=jury,
    )
    yield from jurors


def _of_run(run: Run) -> PageRun:
    # A session that was killed has answers, and the verdicts that follow from them in no file yet.
    if run.n_judged == 0 and next(resolve_run(run.folder, run.spec), None) is None:
        raise DataError(
            "has no verdicts yet", path=run.path, hint="Wait for the first, or resume the run."
        )
    return PageRun(
        name=page_text(run.spec.judge.name).text,
        path=run.path,
        paired=run.spec.paired,
        scalar=run.spec.protocol == "scalar",
        n_cases=run.n_cases,
        is_running=is_locked(run.path),
        facts=tuple((label, page_text(value).text) for label, value in run_facts(run)),
        run=run,
    )


def run_facts(run: Run) -> Iterator[tuple[str, str]]:
    """Labels and values that say what judged, as the files of a run spell them."""
    spec, record = run.spec, read_settings(run.path)
    card = spec.judge
    yield "judge", f"{card.name}: {card.title}"
    yield "model", f"{card.model}, {card.revision or 'no revision stated'}"
    if card.adapter is not None:
        yield "adapter", f"{card.adapter}, {card.adapter_revision or 'no revision stated'}"
    yield "protocol", spec.protocol
    decoding = spec.decoding
    yield (
        "decoding",
        f"temperature {decoding.temperature:g}, at most {decoding.max_tokens:,} tokens",
    )
    if spec.calibration is not None:
        yield "calibrated on", spec.calibration.fitted_on or "data that the card does not name"
    if spec.sure_threshold is not None:
        yield "marked unsure", threshold_text(spec.sure_threshold).removeprefix("unsure, ")
    if card.licence is not None:
        yield "licence", card.licence
    if (ways := scored_by_text(record.get("scored_by"))) is not None:
        yield "choices scored", ways
    if (spent := cost_text(run.cost, card)) is not None:
        yield "cost", spent
    yield "settings", f"sha256 {record.get('sha256', 'not stated')}"
    yield "folder", str(run.path)
    yield "again", run_again(spec, record)


def run_again(spec: RunSpec, record: dict[str, object]) -> str:
    """A command that judges the same data in the same way.

    Args:
        spec: the run's settings.
        record: the content of its `run.json`.
    """
    data = record.get("data")
    paths = data.get("paths", []) if isinstance(data, dict) else []
    words = ["autoj", str(record.get("kind") or spec.task), *map(str, paths)]
    words += ["--judge", spec.judge.name]
    if spec.task == "select":
        words += ["--by", "pairs"]
    defaults = [each.name for each in protocols_of(spec.judge)][:1]
    if [spec.protocol] != defaults:
        words += ["--protocol", spec.protocol]
    if spec.has_orders and spec.orders != "both":
        words += ["--orders", spec.orders]
    for option, value in (
        ("--limit", spec.limit), ("--sample", spec.sample), ("--seed", spec.seed),
        ("--samples", spec.samples),
    ):  # fmt: skip
        if value is not None:
            words += [option, str(value)]
    if spec.second_order is not None:
        words += ["--second-order", f"unsure:{spec.second_order.below:g}"]
        words += ["--always-full", f"{spec.second_order.always_full:g}"]
    if spec.critique:
        words.append("--critique")
    return shlex.join(words)


def named_apart(runs: Sequence[PageRun]) -> list[PageRun]:
    """The runs with names of their own: of equal judges each has its folder's name beside it."""
    names = names_apart([run.name for run in runs], [run.path for run in runs])
    return [replace(run, name=name) for run, name in zip(runs, names, strict=True)]


def names_apart(names: Sequence[str], paths: Sequence[Path]) -> list[str]:
    """Names of which no two are equal: equal ones get the name of their folder or file, too."""
    counts = Counter(names)
    found = [
        name if counts[name] == 1 else f"{name} in {page_text(path.resolve().name).text}"
        for name, path in zip(names, paths, strict=True)
    ]
    again = Counter(found)
    return [
        name if again[name] == 1 else f"{name} ({at})" for at, name in enumerate(found, start=1)
    ]
