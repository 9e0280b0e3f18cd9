"""The sections of the leaderboards of ratings: Eval-R and the system level."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pydantic import TypeAdapter, ValidationError

from autoj.bench.eval_r import evaluate as eval_r
from autoj.bench.eval_r.best_of_n import BESIDE, BestOfN
from autoj.bench.eval_r.selection import SIZES
from autoj.bench.leaderboard.against_baselines import by_intervals, is_above_zero
from autoj.bench.leaderboard.board import (
    BaselineComparison,
    BoardRow,
    Figure,
    Measured,
    Section,
    by_name,
    measured_row,
    ours,
    published_row,
)
from autoj.bench.leaderboard.sections import Sections, public_cases
from autoj.bench.published import merged, published
from autoj.bench.system_level.evaluate import evaluate_table, length_result
from autoj.bench.system_level.model_table import TABLE_23, ModelRow, read_models
from autoj.datasets import catalog
from autoj.errors import DataError
from autoj.metrics.result import Result
from autoj.records import Estimate

_COEFFICIENTS = ("pearson", "spearman")
_ALL = " of all responses"
_INDEX = "system-level-index"


def eval_r_sections(measured: Sequence[Measured], _breakdown: str | None) -> Sections:
    """Best of N and correlations; each kind of reference scores has its own section."""
    rows = merged(published("eval-r"))
    bases = dict.fromkeys(row.base_model for row in rows if row.base_model is not None)
    sections = [
        _section(
            f"Best of N, responses of {base}: GPT-4's mean rating (1-10) of the picks",
            [published_row(row) for row in rows if row.base_model == base],
        )
        for base in bases
    ]
    sections.append(
        _section(
            "Correlation of ratings with GPT-4's on the picks of all judges, both base models",
            [published_row(row) for row in rows if row.base_model is None],
        )
    )
    found, against_baselines = _measured(measured)
    messages: list[str] = []
    if not measured:
        found, messages = _beside()
    return Sections(
        sections=[*sections, *found], against_baselines=against_baselines, messages=messages
    )


def _section(title: str, rows: Sequence[BoardRow]) -> Section:
    names = dict.fromkeys(name for row in rows for name in row.figures)
    return Section(title=title, figures=tuple(sorted(names, key=_place)), rows=tuple(rows))


def _place(name: str) -> tuple[str, int]:
    """Sizes by number, coefficients by name."""
    words = name.split()
    return (words[0], int(words[-1]) if words[-1].isdecimal() else 0)


def _measured(measured: Sequence[Measured]) -> tuple[list[Section], list[BaselineComparison]]:
    """Sections of the results, each with the oracle and the baselines on the same candidates."""
    picks: dict[str, list[BoardRow]] = {}
    correlated: dict[str, list[BoardRow]] = {}
    against_baselines: list[BaselineComparison] = []
    for item in measured:
        comparisons = _comparisons(item)
        reference = _reference(item.result)
        for base in dict.fromkeys(found.base_model for found in comparisons):
            its = [found for found in comparisons if found.base_model == base]
            rows = picks.setdefault(_title(base, reference), [])
            rows.append(_row(item, {f"best of {one.size}": one.figures["judge"] for one in its}))
            there = {row.judge for row in rows if row.status == "trivial"}
            rows += [
                _baseline(
                    name,
                    item.result.n_cases,
                    {f"best of {one.size}": one.figures[name] for one in its},
                )
                for name in BESIDE
                if name not in there
            ]
        against_baselines += _against_baselines(item, comparisons)
        for suffix, where in (("", "the judges' picks"), (_ALL, "all responses")):
            figures = {
                name: found
                for name in _COEFFICIENTS
                if (found := item.result.estimate(name + suffix)) is not None
            }
            if figures:
                title = f"Correlation of ratings with the reference scores {reference}, {where}"
                correlated.setdefault(title, []).append(_row(item, figures))
    sections = [_section(title, rows) for title, rows in {**picks, **correlated}.items()]
    return sections, against_baselines


def _reference(result: Result) -> str:
    return f"{result.details.get('reference', '(unknown)')}, {result.n_cases:,} cases"


def _title(base: str | None, reference: str) -> str:
    whose = "all responses" if base is None else f"responses of {base}"
    return f"Best of N, {whose}: mean reference score of the picks ({reference})"


def _comparisons(item: Measured) -> list[BestOfN]:
    try:
        return TypeAdapter(list[BestOfN]).validate_python(item.result.details["comparisons"])
    except (KeyError, ValidationError) as error:
        raise DataError(
            f"has no comparisons of best of N ({error})",
            path=item.path,
            field="details.comparisons",
            hint="Compute the result again from its run: autoj bench eval-r --run FOLDER.",
        ) from None


def _row(item: Measured, figures: Mapping[str, Figure]) -> BoardRow:
    return replace(measured_row(item, "single"), figures=figures, parts={})


def _baseline(name: str, n_cases: int, figures: Mapping[str, Figure]) -> BoardRow:
    return BoardRow(
        judge=name,
        status="trivial",
        kind="single",
        generative=False,
        figures=figures,
        sources=(ours(f"computed on {n_cases:,} cases"),),
        notes=(BESIDE[name],),
    )


def _against_baselines(item: Measured, comparisons: Sequence[BestOfN]) -> list[BaselineComparison]:
    return [
        BaselineComparison(
            judge=item.result.judge,
            source=str(item.path),
            baseline=name,
            figure=f"best of {found.size}",
            difference=less.estimate,
            beats=is_above_zero(less.estimate),
        )
        for found in comparisons
        if found.base_model is None
        for name, less in found.less.items()
    ]


def _beside() -> tuple[list[Section], list[str]]:
    """Rows of the baselines on the public set, for results that bring none of their own."""
    cases, messages = public_cases("best-of-n")
    if not cases:
        return [], messages
    fewest = min(len(case.responses) for case in cases)
    sizes = [size for size in SIZES if size <= fewest]
    rows = [
        _baseline(
            found.judge,
            found.n_cases,
            {one.name: one for one in found.estimates if one.name.startswith("best of ")},
        )
        for found in eval_r.baseline_results(cases, sizes)
    ]
    reference = f"of {catalog.find('best-of-n').name}, {len(cases):,} cases"
    return [_section(_title(None, reference), rows)], []


def system_level_sections(measured: Sequence[Measured], _breakdown: str | None) -> Sections:
    """Correlations of models' mean ratings with a reference: a section for each reference.

    The mean length baseline is shown for models whose lengths are known.
    """
    table = {TABLE_23: [published_row(row) for row in published("system-level")]}
    lengths: dict[str, BoardRow] = {}
    messages: list[str] = []
    if catalog.is_here(_INDEX):
        path = catalog.find(_INDEX)
        models = read_models(path)
        index = evaluate_table(models, models, judge="Auto-J", source=path)
        if index.details["reference"] == TABLE_23:
            table[TABLE_23] = [_with_intervals(row, index) for row in table[TABLE_23]]
        lengths = _mean_length(models)
    else:
        _, messages = public_cases(_INDEX)
    for reference, baseline in lengths.items():
        table.setdefault(reference, []).append(baseline)
    against_baselines: list[BaselineComparison] = []
    for item in measured:
        reference = str(item.result.details.get("reference", f"digest unknown: {item.path}"))
        table.setdefault(reference, []).append(measured_row(item, "single"))
        if reference in lengths:
            against_baselines += _against_length(item, lengths[reference])
        else:
            messages.append(
                f"{item.result.judge} ({item.path}) is compared with no baseline: mean "
                "lengths on the same models and reference are missing."
            )
    sections = [
        Section(
            title=_reference_title(reference),
            figures=("spearman", "pearson", "kendall"),
            rows=tuple(rows),
        )
        for reference, rows in table.items()
    ]
    return Sections(sections=sections, against_baselines=against_baselines, messages=messages)


def _reference_title(reference: str) -> str:
    what = "Correlation of models' mean ratings with"
    if reference == TABLE_23:
        return f"{what} GPT-4's win rates, over the 53 models of Table 23"
    return f"{what} another reference ({reference}): not comparable with other sections"


def _with_intervals(row: BoardRow, table: Result) -> BoardRow:
    """The row computed from Table 23 with figures that have intervals; others as they are."""
    if row.status != "computed":
        return row
    return replace(row, figures=by_name(table.estimates))


def _mean_length(models: Sequence[ModelRow]) -> dict[str, BoardRow]:
    """The baseline, by the reference it is compared on; none where no length is known."""
    lengths = {row.key: row.mean_length for row in models if row.mean_length is not None}
    if not lengths:
        return {}
    found = length_result(lengths, models)
    row = BoardRow(
        judge="mean length",
        status="trivial",
        kind="single",
        generative=False,
        figures=by_name(found.estimates),
        sources=(ours(f"computed on {found.n_cases:,} models"),),
        notes=(found.source,),
    )
    return {found.details["reference"]: row}


def _against_length(item: Measured, row: BoardRow) -> list[BaselineComparison]:
    own, other = item.result.estimate("spearman"), row.figures["spearman"]
    if own is None or own.value is None or not isinstance(other, Estimate):
        return []
    return [by_intervals(item.result, item.path, row.judge, own, other)]
