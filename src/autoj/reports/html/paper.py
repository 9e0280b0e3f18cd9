"""Figures like the paper's, of runs that rated: best-of-N curves, and models beside a reference."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from autoj.bench.eval_r.best_of_n import BESIDE, BestOfN
from autoj.bench.eval_r.evaluate import BENCH as EVAL_R
from autoj.bench.eval_r.evaluate import evaluate
from autoj.bench.eval_r.selection import RatedCandidates
from autoj.bench.system_level.evaluate import BENCH as SYSTEM_LEVEL
from autoj.bench.system_level.model_table import Ranked
from autoj.errors import DataError
from autoj.jsonl import decode_as, encode
from autoj.metrics.result import Result, read_result
from autoj.records import Case
from autoj.reports import render
from autoj.reports.html.charts import Curve, curve_chart, scatter_chart
from autoj.reports.html.drawing import Chart
from autoj.reports.html.listing import PageTable, apart, shown
from autoj.reports.html.sections import MOST_ROWS, Section
from autoj.runs.kind import is_jury
from autoj.tasks.run import Run

_N_NAMED = 8
"""The models whose names stand in the scatter: those that the judge misplaces most."""
_AXES = ("N", "mean reference score of the picks")
_BEST_OF_N_HINT = (
    "They need a run that rated two or more responses of each query, whose rows state reference "
    "scores, or eval-r.json, which autoj bench eval-r leaves in its run's folder."
)


def best_of_n_sections(run: Run, prefix: str = "") -> list[Section]:
    """The section of a run's best-of-N curves; none where the run cannot have them.

    Args:
        run: of judge or select.
        prefix: the beginning of its charts' file names.

    Raises:
        DataError: a file of the run is damaged.
        MissingExtra: the extra `report` is not installed.
    """
    result = _curves_of(run)
    return [] if result is None else [_best_of_n([result], prefix)]


def joint_best_of_n_sections(runs: Sequence[Run], names: Sequence[str]) -> list[Section]:
    """The section of several runs' best-of-N curves in one chart.

    There is none where a run has no curve, or theirs are not of the same responses.

    Args:
        runs: of judge or select.
        names: of the runs, of which no two are equal.

    Raises:
        DataError: a file of a run is damaged.
        MissingExtra: the extra `report` is not installed.
    """
    results: list[Result] = []
    for run, name in zip(runs, names, strict=True):
        result = _curves_of(run)
        if result is None or (results and _subject(result) != _subject(results[0])):
            return []
        results.append(replace(result, judge=name))
    return [_best_of_n(results, "")]


def _best_of_n(results: Sequence[Result], prefix: str) -> Section:
    compared = [_comparisons(result) for result in results]
    names = [*(shown(result.judge) for result in results), *BESIDE]
    rows = tuple(
        (
            str(same[0].size),
            *(render.estimate_cell(found.figures["judge"]) for found in same),
            *(render.estimate_cell(same[0].figures[name]) for name in BESIDE),
        )
        for same in zip(*compared, strict=True)
    )
    notes = dict.fromkeys(note for result in results for note in result.notes)
    return Section(
        title="Best of N",
        note="The mean reference score of the pick among the first N responses, with 95 % "
        "intervals over queries. " + " ".join(map(shown, notes)),
        tables=(PageTable(headings=("N", *names), rows=rows),),
        charts=(best_of_n_chart(results, prefix),),
    )


def best_of_n_chart(results: Sequence[Result], prefix: str = "") -> Chart:
    """Best-of-N curves of judges, beside those of the oracle and the picks that read nothing.

    Args:
        results: of `bench.eval_r`, on the same responses.
        prefix: the beginning of its file names.

    Raises:
        MissingExtra: the extra `report` is not installed.
    """
    # A curve is known by its name, and two runs may be of one judge.
    labels = apart([*BESIDE, *(result.judge for result in results)])[len(BESIDE) :]
    curves = [_curve(result, "judge", label) for result, label in zip(results, labels, strict=True)]
    curves += [_curve(results[0], name, name) for name in BESIDE]
    title = "mean reference score of the picks from the first N"
    known = [curve for curve in curves if curve.points]
    return curve_chart(f"{prefix}best_of_n", title, known, _AXES)


def _curve(result: Result, name: str, label: str) -> Curve:
    points = [
        (found.size, its.value, its.low, its.high, its.n)
        for found in _comparisons(result)
        if (its := found.figures[name]).value is not None
    ]
    return Curve(label=label, points=points, is_judge=name == "judge")


def _comparisons(result: Result) -> list[BestOfN]:
    """Those of all queries, by N; a stored result has them as plain values."""
    found = decode_as(list[BestOfN], encode(result.details["comparisons"]))
    return [each for each in found if each.base_model is None]


def read_all_curves(paths: Sequence[Path]) -> list[Result]:
    """The best-of-N figures of stored runs or results, which are on the same responses.

    Args:
        paths: folders of runs that rated or selected, or results' files.

    Raises:
        DataError: one has none, or they are not on the same responses.
    """
    results = [read_curves(path) for path in paths]
    first, *others = map(_subject, results)
    for path, its in zip(paths[1:], others, strict=True):
        for what, value in first.items():
            if its.get(what) != value:
                raise DataError(
                    f"is not on the same responses as {paths[0]}: its {what} is {its.get(what)}, "
                    f"and not {value}",
                    path=path,
                    hint="Plot each by itself: autoj plot best_of_n with one path.",
                )
    return results


def _subject(result: Result) -> dict[str, str]:
    """The figures of a result that no judge has a part in: equal on the same responses."""
    found = _comparisons(result)
    subject = {
        "number of queries": f"{result.n_cases:,}",
        "N": ", ".join(str(each.size) for each in found),
    }
    for each in found:
        for name in BESIDE:
            its = each.figures[name]
            subject[f"{name} of {each.size}"] = f"{render.number(its.value, 6)} (n={its.n:,})"
    return subject


def read_curves(path: Path) -> Result:
    """The best-of-N figures of a stored run, or of a stored result.

    Args:
        path: the folder of a run that rated or selected, or a result's file.

    Raises:
        DataError: it has none.
    """
    found = None if path.is_file() else _curves_of(_single(path))
    if found is not None:
        return found
    return _stored(path, EVAL_R, "comparisons", _BEST_OF_N_HINT)


def _single(path: Path) -> Run:
    if is_jury(path):
        raise DataError("is a jury, which has no best-of-N curve", path=path, hint=_BEST_OF_N_HINT)
    return Run.open(path)


def _curves_of(run: Run) -> Result | None:
    """The figures of a run's own ratings and reference scores, else those stored beside it."""
    cases: list[Case] = []
    ratings: list[tuple[float | None, ...]] = []
    if run.spec.task == "rate":
        for case, verdict in run:
            if len(case.responses) < 2 or not _is_scored(case):
                cases = []
                break
            cases.append(case)
            ratings.append(verdict.ratings or (None,) * len(case.responses))
    if cases:
        judge = RatedCandidates(
            judge=run.spec.judge.name, source=f"run {run.path}", ratings=ratings
        )
        (result,) = evaluate(cases, [judge], _sizes(cases), "those of the run's rows")
        return result
    stored = run.path / f"{EVAL_R}.json"
    return _stored(stored, EVAL_R, "comparisons", _BEST_OF_N_HINT) if stored.is_file() else None


def _is_scored(case: Case) -> bool:
    return any(response.reference_score is not None for response in case.responses)


def _sizes(cases: Sequence[Case]) -> list[int]:
    """The powers of two up to the fewest responses of a query, and that number."""
    fewest = min(len(case.responses) for case in cases)
    return sorted({2**power for power in range(fewest.bit_length())} | {fewest})


def _stored(path: Path, bench: str, detail: str, hint: str) -> Result:
    place = path / f"{bench}.json" if path.is_dir() else path
    if not place.is_file():
        raise DataError(f"has no figures of {bench}", path=path, hint=hint)
    result = read_result(place)
    if result.bench != bench or not result.details.get(detail):
        raise DataError(f"is not a result of autoj bench {bench}", path=place, hint=hint)
    try:
        _check_curves(result) if bench == EVAL_R else _models(result)
    except ValueError as error:
        raise DataError(f"is damaged ({error})", path=place, hint=hint) from None
    return result


def _check_curves(result: Result) -> None:
    comparisons = _comparisons(result)
    if not comparisons:
        raise ValueError("it has no figures of all queries")
    for found in comparisons:
        if lacking := {"judge", *BESIDE} - found.figures.keys():
            raise ValueError(f"best of {found.size} lacks {', '.join(sorted(lacking))}")


_RANKING_HINT = (
    "autoj bench system-level leaves system-level.json in its run's folder; with --ratings, "
    "--save writes it."
)


def read_ranking(path: Path) -> Result:
    """The stored result of `autoj bench system-level`.

    Args:
        path: its run's folder, or the result's file.

    Raises:
        DataError: there is none.
    """
    return _stored(path, SYSTEM_LEVEL, "models", _RANKING_HINT)


def ranking_sections(path: Path, prefix: str = "") -> Iterator[Section]:
    """The section of models beside a reference; none where a run's folder has no such result.

    Args:
        path: the run's folder.
        prefix: the beginning of its charts' file names.

    Raises:
        DataError: the stored result is damaged.
        MissingExtra: the extra `report` is not installed.
    """
    if not (path / f"{SYSTEM_LEVEL}.json").is_file():
        return
    result = read_ranking(path)
    models = _models(result)
    rows = tuple(
        (shown(one.title), render.number(one.rating, 2), render.number(one.reference, 2),
         str(one.reference_rank), str(one.rank), f"{one.delta:+d}" if one.delta else "0")
        for one in models[:MOST_ROWS]
    )  # fmt: skip
    headings = ("model", "mean rating", "reference", "rank by reference", "by the judge", "less")
    figures = tuple(
        (its.name, render.estimate_value(its), render.estimate_interval(its) or "-", f"{its.n:,}")
        for its in result.estimates
    )
    yield Section(
        title="Models",
        note="Mean ratings beside a reference ranking of the same models. "
        + " ".join(map(shown, result.notes)),
        tables=(
            PageTable(headings=("correlation", "value", "95 % interval", "n"), rows=figures),
            PageTable(headings=headings, rows=rows),
        ),
        charts=(ranking_chart(result, prefix),),
        is_open=True,
    )


def ranking_chart(result: Result, prefix: str = "") -> Chart:
    """Models by their mean rating and their reference, with the rank correlation.

    Args:
        result: of `bench.system_level`.
        prefix: the beginning of its file names.

    Raises:
        MissingExtra: the extra `report` is not installed.
    """
    models = _models(result)
    spearman = result.estimate("spearman")
    words = "" if spearman is None else f", Spearman {render.estimate_cell(spearman)}"
    misplaced = sorted(models, key=lambda one: -abs(one.delta))[:_N_NAMED]
    return scatter_chart(
        f"{prefix}system_level",
        f"{len(models):,} models{words}",
        [(one.title, one.reference, one.rating) for one in models],
        ("reference", f"mean rating by {shown(result.judge)}"),
        # The judge places a model too high where it lies above the others, at the left.
        {one.title: one.delta > 0 for one in misplaced if one.delta},
    )


def _models(result: Result) -> list[Ranked]:
    return decode_as(list[Ranked], encode(result.details["models"]))
