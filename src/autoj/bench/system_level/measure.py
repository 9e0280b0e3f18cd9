"""Models ranked by mean ratings and by win rates: `autoj bench system-level` as one call."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeAlias, assert_never

from autoj.bench.sources import StoredRun, judge_all, rating_spec
from autoj.bench.system_level.evaluate import (
    BENCH,
    evaluate_ratings,
    evaluate_table,
    length_result,
)
from autoj.bench.system_level.model_outputs import (
    OutputSet,
    open_outputs,
    output_files,
    read_queries,
)
from autoj.bench.system_level.model_table import ModelRow, read_models
from autoj.bench.system_level.query_ratings import QueryRatings, collect
from autoj.datasets import catalog
from autoj.errors import ConfigError, DataError
from autoj.metrics.result import Result, keep_result
from autoj.runs import RunFolder, RunSpec, resolve_run, spec_digest
from autoj.runs.budget import Budget
from autoj.runs.fit import OnOverflow
from autoj.runs.watch import SILENT, Watch
from autoj.tasks.default_paths import RUNS, slug


@dataclass(frozen=True, slots=True)
class MeanRatings:
    """A table of mean ratings that were published."""

    path: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedModels:
    """A judge that rates the models' outputs now, or did."""

    spec: RunSpec
    """Of the task "rate"."""
    outputs: Sequence[Path] = ()
    """Folders of outputs, or a file of each model; none takes AlpacaEval's."""
    sample: int | None = None
    """The number of queries to rate, the same for all models; None rates all."""
    seed: int = 0
    """The seed of the sample."""
    exclude: Path | None = None
    """A file of queries to leave out."""
    out: Path | None = None
    """The run's folder; None takes one under `runs/`."""


ModelRatings: TypeAlias = MeanRatings | StoredRun | RatedModels


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingMeasurement:
    """The correlations of mean ratings with a reference, and those of lengths."""

    result: Result
    folder: Path | None
    """The run that holds the ratings, where one does."""
    lengths: Result | None
    """Of the length baseline; None where no lengths are known."""

    @property
    def n_failed(self) -> int:
        """Ratings without an answer."""
        n_failed: int = self.result.details.get("n_failed", 0)
        return n_failed

    def as_json(self) -> dict[str, Any]:
        """The figures as plain values, for JSON."""
        baseline = [] if self.lengths is None else [asdict(self.lengths)]
        return {"results": [asdict(self.result)], "trivial": baseline}

    def keep(self, place: Path | None = None) -> None:
        """Saves the result in a place, else in its run's folder, if there is one."""
        keep_result(self.result, self.folder, place)


def model_ratings(
    judge: str,
    *,
    run: Path | None = None,
    ratings: Path | None = None,
    protocol: str | None = None,
    on_overflow: OnOverflow = "error",
    **settings: Any,
) -> ModelRatings:
    """The one source of ratings that is given; where neither run nor table is, the judge.

    Args:
        judge: its name, the path of its card, or backend:model.
        run: the folder of a finished run.
        ratings: a table of mean ratings.
        protocol: of the judge; None takes its own.
        on_overflow: the treatment of a case that is too long for the judge's context.
        settings: further ones of `RatedModels`.

    Raises:
        ConfigError: both a run and a table are given, or the judge cannot rate by the protocol.
        UnknownComponent: there is no such judge.
    """
    if run is not None and ratings is not None:
        raise ConfigError("give --run or --ratings, not both")
    if ratings is not None:
        return MeanRatings(ratings)
    if run is not None:
        return StoredRun(run)
    return RatedModels(spec=rating_spec(judge, protocol, on_overflow=on_overflow), **settings)


def measure_ranking(
    source: ModelRatings,
    *,
    reference: Path | None = None,
    budget: Budget | None = None,
    watch: Watch = SILENT,
) -> RankingMeasurement:
    """Rank models by mean ratings, and compare with a reference.

    Args:
        source: the ratings.
        reference: a table of models; None takes that of the ratings, else Table 23 of the paper.
        budget: what a judge may spend; None sets no limit.
        watch: told what happens.

    Raises:
        DataError: a file cannot be read, or holds no reference.
        Unfinished: the budget left some outputs without a rating.
        BackendError: the engine broke down; what was rated is kept.
    """
    if isinstance(source, MeanRatings):
        table = read_models(source.path)
        references = _references(reference, table)
        judge = _rated_by(source.path, table)
        lengths = {row.key: row.mean_length for row in table if row.mean_length is not None}
        result = evaluate_table(table, references, judge=judge, source=source.path)
        return _measurement(result, None, lengths, references)
    references = _references(reference, ())
    folder, spec, found = _ratings(source, budget, watch)
    result = evaluate_ratings(
        found, references, judge=spec.judge.name, source=f"run {folder} ({spec.protocol})"
    )
    lengths = dict(zip(found.models, found.mean_lengths, strict=True))
    return _measurement(result, folder, lengths, references)


def _measurement(
    result: Result,
    folder: Path | None,
    lengths: Mapping[str, float],
    references: Sequence[ModelRow],
) -> RankingMeasurement:
    return RankingMeasurement(
        result=result,
        folder=folder,
        lengths=length_result(lengths, references) if lengths else None,
    )


def _references(path: Path | None, table: Sequence[ModelRow]) -> list[ModelRow]:
    """The table that is named, else the ratings' own, else the paper's.

    Raises:
        DataError: none of its models has a reference.
    """
    if path is None and any(row.reference is not None for row in table):
        return list(table)
    place = path or catalog.find("system-level-index")
    rows = read_models(place)
    if all(row.reference is None for row in rows):
        raise DataError(
            "has no reference to rank models by: expected reference, gpt4_winrate or win_rate",
            path=place,
        )
    return rows


def _rated_by(path: Path, table: Sequence[ModelRow]) -> str:
    """The judge that the ratings' field is named for, else the file."""
    field = next((row.rated_by for row in table if row.rated_by is not None), None)
    if field is None:
        raise DataError("has no ratings: expected rating or autoj_rating", path=path)
    return field.removesuffix("rating").rstrip("_") or path.stem


def _ratings(
    source: StoredRun | RatedModels, budget: Budget | None, watch: Watch
) -> tuple[Path, RunSpec, QueryRatings]:
    match source:
        case StoredRun(path):
            return _stored(path)
        case RatedModels():
            return _rated(source, budget, watch)
        case other:
            assert_never(other)


def _stored(path: Path) -> tuple[Path, RunSpec, QueryRatings]:
    folder = RunFolder.existing(path)
    spec = folder.spec()
    found = collect(resolve_run(folder, spec), path)
    if found.n_cases < folder.n_cases():
        raise DataError(
            f"is not finished: {found.n_cases:,} of {folder.n_cases():,} cases are judged",
            path=path,
            hint="Repeat the command that started it to finish it.",
        )
    return path, spec, found


def _rated(
    source: RatedModels, budget: Budget | None, watch: Watch
) -> tuple[Path, RunSpec, QueryRatings]:
    """The judge's ratings of the models' outputs, from a run that is made or resumed."""
    files = output_files(source.outputs or [catalog.find("alpaca-eval")])
    excluded = None if source.exclude is None else read_queries(source.exclude)
    found = open_outputs(files, sample=source.sample, seed=source.seed, exclude=excluded)
    for line in _said_of(found, source.exclude):
        watch.message(line)
    spec = source.spec
    name = f"{BENCH}-{slug(spec.judge.name)}-{spec_digest(spec, found.cases)}"
    run = judge_all(found.cases, spec, source.out or RUNS / name, budget=budget, watch=watch)
    return run.path, spec, collect(resolve_run(run.folder, spec), run.path)


def _said_of(found: OutputSet, exclude: Path | None) -> list[str]:
    lines = [
        f"{len(found.models):,} models, {found.n_queries:,} of {found.n_set_queries:,} queries each"
    ]
    if exclude is None:
        return lines
    lines.append(f"{found.n_excluded:,} queries are left out because {exclude} lists them")
    if found.not_found:
        listed = "; ".join(repr(text[:60]) for text in found.not_found[:3])
        lines.append(
            f"{len(found.not_found):,} of its queries are not among the models': {listed}"
            + ("; …" if len(found.not_found) > 3 else "")
        )
    return lines
