"""Judges measured by their picks of N candidates: `autoj bench eval-r` as one call."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias, assert_never

from autoj.bench.eval_r.evaluate import all_picks, baseline_picks, baseline_results, evaluate
from autoj.bench.eval_r.selection import (
    SIZES,
    RatedCandidates,
    check_sizes,
    graded_cases,
    picked_cases,
    published_names,
    published_ratings,
    ratings_of_run,
)
from autoj.bench.sources import StoredRun, judge_all, part_of, rating_spec
from autoj.datasets import catalog
from autoj.datasets.base import Cases
from autoj.errors import ConfigError, DataError
from autoj.metrics.result import Result, keep_result
from autoj.records import Case
from autoj.runs import RunFolder, RunSpec, resolve_run
from autoj.runs.budget import Budget
from autoj.runs.fit import OnOverflow
from autoj.runs.watch import SILENT, Watch
from autoj.tasks.default_paths import slug


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingJudge:
    """A judge that rates the candidates now, or did."""

    spec: RunSpec
    """Of the task "rate"."""
    out: Path | None = None
    """Its run's folder; None takes one under `runs/`."""


@dataclass(frozen=True, slots=True)
class PublishedRatings:
    """A judge's ratings from the set's file."""

    judge: str


RatingSource: TypeAlias = RatingJudge | StoredRun | PublishedRatings


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectionMeasurement:
    """Results of best-of-N selection by the ratings of some judges."""

    results: Sequence[Result]
    """One a judge."""
    folders: Sequence[Path | None]
    """The run that each judge's ratings are from, where it is one."""
    baselines: Sequence[Result]
    """Of the oracle and the baselines."""
    published: Sequence[str]
    """Judges whose ratings are in the set's file."""
    n_failed: int
    """Judgments that failed, those of the grader included."""

    def as_json(self) -> dict[str, Any]:
        """The figures as plain values, for JSON."""
        return {
            "results": [asdict(result) for result in self.results],
            "trivial": [asdict(result) for result in self.baselines],
        }

    def keep(self, place: Path | None = None) -> None:
        """Saves each judge's result in its run's folder; the one of one judge in a place."""
        for result, folder in zip(self.results, self.folders, strict=True):
            keep_result(result, folder, place)


def rating_judges(
    names: Sequence[str],
    out: Path | None = None,
    *,
    protocol: str | None = None,
    on_overflow: OnOverflow = "error",
    limit: int | None = None,
) -> list[RatingJudge]:
    """Judges that rate the candidates; of several, each has a folder of its own in `out`.

    Args:
        names: of judges, paths of their cards, or backend:model.
        out: the folder of one judge's run, or of all; None takes `runs/`.
        protocol: None takes each judge's own.
        on_overflow: the treatment of a case that is too long for a judge's context.
        limit: the set's first cases that are taken; None takes all.

    Raises:
        UnknownComponent: there is no such judge.
        ConfigError: a judge cannot rate by the protocol.
    """
    specs = [rating_spec(name, protocol, on_overflow=on_overflow, limit=limit) for name in names]
    places = [out and out / slug(name) for name in names] if len(names) > 1 else [out]
    return [RatingJudge(spec=spec, out=place) for spec, place in zip(specs, places, strict=False)]


def default_set() -> Path:
    """The released set where it is on this machine, else the public one."""
    if not catalog.is_here("eval-r") and catalog.is_here("best-of-n"):
        return catalog.find("best-of-n")
    return catalog.find("eval-r")


def measure_selection(
    data: Cases,
    sources: Sequence[RatingSource],
    *,
    sizes: Sequence[int] = SIZES,
    grader: RatingJudge | None = None,
    limit: int | None = None,
    budget: Budget | None = None,
    watch: Watch = SILENT,
) -> SelectionMeasurement:
    """Pick the best of the first N candidates by each judge's ratings, and score the picks.

    Args:
        data: the set.
        sources: the judges; none measures the oracle and the baselines alone.
        sizes: the numbers N of candidates.
        grader: its ratings of the picks are the reference scores; None takes the file's.
        limit: the set's first cases that are taken; None takes all.
        budget: what judges and grader may cost together; None sets no limit.
        watch: told what happens.

    Raises:
        ConfigError: a case has fewer candidates, or there are no reference scores.
        DataError: a file cannot be read, or a run is not of this set.
        Unfinished: the budget left some cases without ratings.
        BackendError: an engine broke down; what was answered is kept.
    """
    cases = _candidates(data, limit)
    wanted = check_sizes(cases, sizes)
    if sources and not any(isinstance(source, PublishedRatings) for source in sources):
        data, cases = _first_candidates(data, cases, max(wanted))
    judges = [_ratings(source, data, cases, budget, watch) for source in sources]
    n_failed = sum(ratings.n_failed for ratings, _ in judges)
    rated = [ratings for ratings, _ in judges]
    if grader is None:
        reference = _reference(cases, data)
    else:
        picks = all_picks(cases, rated, wanted) | baseline_picks(cases, wanted)
        graded = picked_cases(data, cases, picks)
        grades, _ = _rated(grader, graded, _cases(graded), budget, watch)
        cases = graded_cases(cases, grades, graded)
        reference = _graded_by(grades)
        n_failed += grades.n_failed
    return SelectionMeasurement(
        results=evaluate(cases, rated, wanted, reference),
        folders=[folder for _, folder in judges],
        baselines=baseline_results(cases, wanted, rated),
        published=published_names(cases),
        n_failed=n_failed,
    )


def _candidates(data: Cases, limit: int | None) -> list[Case]:
    cases = _cases(data)[:limit]
    if not cases:
        raise DataError("is empty: it has no cases", path=data.paths[0])
    return cases


def _cases(data: Cases) -> list[Case]:
    return [case for _, case in data.readable()]


def _first_candidates(data: Cases, cases: list[Case], largest: int) -> tuple[Cases, list[Case]]:
    """The set without the candidates that no N includes, which need no ratings."""
    if all(len(case.responses) <= largest for case in cases):
        return data, cases
    cut = [replace(case, responses=case.responses[:largest]) for case in cases]
    return part_of(data, cut, f"the first {largest} candidates of each query"), cut


def _ratings(
    source: RatingSource,
    data: Cases,
    cases: Sequence[Case],
    budget: Budget | None,
    watch: Watch,
) -> tuple[RatedCandidates, Path | None]:
    """A judge's ratings, and the run that holds them where one does."""
    match source:
        case RatingJudge():
            return _rated(source, data, cases, budget, watch)
        case StoredRun(path):
            return _stored(cases, path), path
        case PublishedRatings(judge):
            return published_ratings(cases, judge, data.paths[0]), None
        case other:
            assert_never(other)


def _rated(
    judge: RatingJudge,
    data: Cases,
    cases: Sequence[Case],
    budget: Budget | None,
    watch: Watch,
) -> tuple[RatedCandidates, Path]:
    """The ratings of a judge, from a run that is made, resumed, or looked up."""
    run = judge_all(data, judge.spec, judge.out, budget=budget, watch=watch)
    judged = resolve_run(run.folder, judge.spec)
    return ratings_of_run(cases, judged, judge.spec.judge.name, run.path), run.path


def _stored(cases: Sequence[Case], path: Path) -> RatedCandidates:
    folder = RunFolder.existing(path)
    spec = folder.spec()
    most = max(len(case.responses) for case in cases)
    n_rated = max(len(case.responses) for case in folder.cases())
    if n_rated < most:
        raise ConfigError(
            f"{path} rated the first {n_rated} candidates, but --n needs {most}",
            hint=f"Use --n up to {n_rated}, or rate the others with --judge.",
        )
    judged = (
        (
            replace(case, responses=case.responses[:most]),
            replace(verdict, ratings=verdict.ratings[:most]),
        )
        for case, verdict in resolve_run(folder, spec)
    )
    return ratings_of_run(cases, judged, spec.judge.name, path)


def _reference(cases: Sequence[Case], data: Cases) -> str:
    n_responses = sum(len(case.responses) for case in cases)
    n_scored = sum(
        response.reference_score is not None for case in cases for response in case.responses
    )
    if n_scored == 0:
        published = ", ".join(published_names(cases))
        raise ConfigError(
            f"{data.paths[0]} has no reference scores to measure picks by",
            hint="Name a judge that grades the picks with --grader."
            + (
                f" The file has ratings by {published}; --published shows them."
                if published
                else ""
            ),
        )
    missing = n_responses - n_scored
    return f"those of {data.paths[0].name}" + (
        f"; {missing:,} responses have none" if missing else ""
    )


def _graded_by(grades: RatedCandidates) -> str:
    text = f"{grades.judge} graded {len(grades.ratings):,} picked responses ({grades.source})"
    lost = sum(rating is None for (rating,) in grades.ratings)
    return text + (f"; {lost:,} of its grades could not be read" if lost else "")
