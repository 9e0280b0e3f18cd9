"""Figures of a run that picked: by rule, by model beside chance, by lead and by place."""

from collections import Counter
from collections.abc import Iterator, Sequence

from autoj.metrics import Row
from autoj.metrics.base import mean, proportion
from autoj.metrics.rows import scored_row
from autoj.records import Estimate
from autoj.reports import render
from autoj.reports.html.beside import rating
from autoj.reports.html.charts import Dot, bar_chart, dot_chart
from autoj.reports.html.listing import PageTable, shown
from autoj.reports.html.sections import MOST_ROWS, Section
from autoj.reports.select import SelectionSummary
from autoj.tasks.run import Run
from autoj.tasks.selection_folder import Selection
from autoj.verdicts.selection import PICK_RULES

_LEADS = ((0.0, "none: equal ratings"), (0.5, "up to 0.5"), (1.0, "0.5 to 1"), (2.0, "1 to 2"))
_WIDEST = "over 2"


class SelectionTally:
    """Counts by model, by place and by lead."""

    def __init__(self, run: Run) -> None:
        self.rated = run.spec.task == "rate"
        self.scalar = run.spec.protocol == "scalar"
        self.picked: dict[str, list[Row]] = {}
        """By model, 1 where it was picked, 0 where another was, None where nobody was."""
        self.chance: dict[str, float] = {}
        """By model, the picks that chance alone would give it."""
        self.ratings: dict[str, list[Row]] = {}
        self.places: Counter[int] = Counter()
        self.leads: Counter[str] = Counter()
        self.n_largest = 0

    def add(self, found: Selection) -> None:
        """Count a query."""
        case, pick = found.case, found.picked
        self.n_largest = max(self.n_largest, len(case.responses))
        if pick is not None:
            self.places[pick.selected] += 1
        if found.gap is not None:
            self.leads[next((name for end, name in _LEADS if found.gap <= end), _WIDEST)] += 1
        winner = None if pick is None else case.responses[pick.selected].model
        models = Counter(response.model for response in case.responses)
        for model, n in models.items():
            if model is None:
                continue
            score = None if pick is None else float(winner == model)
            self.picked.setdefault(model, []).append(scored_row(case, score))
            share = 0.0 if pick is None else n / len(case.responses)
            self.chance[model] = self.chance.get(model, 0.0) + share
        for response, rated in zip(case.responses, found.verdict.ratings, strict=False):
            if response.model is not None:
                self.ratings.setdefault(response.model, []).append(scored_row(case, rated))


def selection_sections(
    summary: SelectionSummary, tally: SelectionTally, prefix: str = ""
) -> Iterator[Section]:
    """Sections of one run's figures.

    Args:
        summary: its counts.
        tally: its further counts.
        prefix: the beginning of its charts' file names.

    Raises:
        MissingExtra: the extra `report` is not installed.
    """
    ordered = sorted(summary.rules.items(), key=lambda item: -item[1])
    rules = tuple((PICK_RULES[rule], f"{n:,}") for rule, n in ordered)
    missing = summary.n_cases - summary.n_picked
    rules += (("no basis for a pick", f"{missing:,}"),) if missing else ()
    tables = [PageTable(headings=("picked because", "queries"), rows=rules)]
    if summary.estimates:
        rows = tuple(
            (f"{its.name} of {what}", render.estimate_value(its),
             render.estimate_interval(its) or "-", f"{its.n:,}")
            for what, its in zip(("the picks", "all responses"), summary.estimates, strict=True)
        )  # fmt: skip
        tables.insert(0, PageTable(headings=("figure", "value", "95 % interval", "n"), rows=rows))
    yield Section(title="Picks", tables=tuple(tables))
    if len(tally.picked) > 1:
        yield _by_model(tally, prefix)
    if tally.leads:
        names = [*(name for _, name in _LEADS), _WIDEST]
        leads = [(name, tally.leads[name]) for name in names if name in tally.leads]
        yield Section(
            title="How sure",
            note="Queries by the pick's lead over the next rating.",
            tables=(_counts("lead", leads),),
            charts=(bar_chart(f"{prefix}leads", "queries by lead", leads, "queries"),),
        )
    if 1 < tally.n_largest <= MOST_ROWS:
        places = [(f"response {at + 1}", tally.places[at]) for at in range(tally.n_largest)]
        yield Section(
            title="By place",
            note="Of equal ratings without output probabilities the first is picked, so early "
            "places lead where many ratings are equal.",
            tables=(_counts("place", places),),
            charts=(bar_chart(f"{prefix}places", "picks by place", places, "picks"),),
        )
    lost = [
        ("unreadable judgments", summary.n_unreadable),
        ("failed requests", summary.n_failed),
        ("responses without a rating", summary.n_unrated),
        ("matches without a verdict", summary.n_undecided),
        ("judgments of a response that was cut to fit", summary.n_truncated),
    ]
    if any(n for _, n in lost):
        yield Section(
            title="Lost judgments",
            note="What has no rating is never picked.",
            tables=(_counts("lost", [(name, n) for name, n in lost if n]),),
        )


def _by_model(tally: SelectionTally, prefix: str) -> Section:
    found: dict[str, Estimate] = {
        model: proportion("picked", rows, rating) for model, rows in tally.picked.items()
    }
    ordered = sorted(found, key=lambda model: (-(found[model].value or 0.0), model))[:MOST_ROWS]
    headings: tuple[str, ...] = ("model", "picked, %", "95 % interval", "by chance, %", "queries")
    if tally.rated:
        headings += ("mean rating",)
    rows = []
    for model in ordered:
        its = found[model]
        row = [shown(model), render.estimate_value(its).removesuffix(" %")]
        row += [render.estimate_interval(its) or "-"]
        row += [render.percent_cell(tally.chance[model] / its.n if its.n else None), f"{its.n:,}"]
        if tally.rated:
            name = "mean score" if tally.scalar else "mean rating"
            rated = mean(name, tally.ratings.get(model, []), rating, span=None)
            row.append(render.estimate_value(rated))
        rows.append(tuple(row))
    dots = [
        Dot(label=model, value=its.value, low=its.low, high=its.high, n=its.n)
        for model in ordered
        if (its := found[model]).value is not None
    ]
    more = len(found) - len(ordered)
    return Section(
        title="By model",
        note="The share of its queries in which a model's response was picked."
        + (f" The first {len(ordered)} of {len(found)} are shown." if more else ""),
        tables=(PageTable(headings=headings, rows=tuple(rows)),),
        charts=(dot_chart(f"{prefix}picks", "share of picks by model", dots, reference=None),),
    )


def _counts(what: str, counts: Sequence[tuple[str, int]]) -> PageTable:
    return PageTable(headings=(what, "n"), rows=tuple((name, f"{n:,}") for name, n in counts))
