"""The overview's figures of the cases that are indexed so far, from their columns."""

from collections.abc import Iterator

import numpy as np

from autoj.bench.base import group_name
from autoj.metrics.base import proportion_of
from autoj.records import WINNERS, Estimate
from autoj.reports import render
from autoj.reports.html.listing import PageTable
from autoj.reports.html.sections import Section
from autoj.reports.text import page_text
from autoj.serve.view.columns import (
    CONSISTENT,
    FLAGS,
    JUDGED,
    TWO_ORDERS,
    WINNER_CODES,
    Bools,
    Columns,
    flag_bit,
)

_MOST_ROWS = 80
_HEADINGS = ("value", "95 % interval", "n")


def overview(columns: Columns, *, paired: bool) -> list[Section]:
    """Figures, verdicts against labels, and agreement by group and scenario.

    Args:
        columns: the run's.
        paired: True where pairs are judged.
    """
    judged = columns.has(JUDGED)
    found = [_counts(columns, judged)]
    if paired:
        found += [_figures(columns, judged), _verdicts(columns, judged)]
        found += _parts(columns, judged)
    return found


def _figures(columns: Columns, judged: Bools) -> Section:
    rows = tuple((each.name, *_cells(each)) for each in _estimates(columns, judged))
    return Section(
        title="Figures",
        note="Intervals are over queries. A case without a winner is unscored, not wrong.",
        tables=(PageTable(headings=("figure", *_HEADINGS), rows=rows),),
    )


def _estimates(columns: Columns, judged: Bools) -> Iterator[Estimate]:
    yield accuracy(columns, judged)
    yield _win_rate(columns, judged)
    both = judged & columns.has(TWO_ORDERS)[: len(judged)]
    if both.any():
        agree = columns.has(CONSISTENT)[: len(judged)][both].astype(float)
        clusters = columns["cluster"][: len(judged)][both]
        name = "consistency of both orders"
        if np.count_nonzero(both) < np.count_nonzero(judged):
            # A second order that is asked where the first is unsure is one of a hard pair.
            name += ", of pairs asked in both"
        yield proportion_of(name, agree, clusters)


def _win_rate(columns: Columns, judged: Bools) -> Estimate:
    decided = judged & (columns["winner"][: len(judged)] > 0)
    winner = columns["winner"][: len(judged)][decided]
    halves = np.select([winner == WINNER_CODES["a"], winner == WINNER_CODES["tie"]], [1.0, 0.5], 0)
    n_unscored = int(np.count_nonzero(judged)) - len(winner)
    clusters = columns["cluster"][: len(judged)][decided]
    return proportion_of("win rate of a", halves, clusters, n_unscored)


def accuracy(columns: Columns, among: Bools) -> Estimate:
    """The share of verdicts that equal their label.

    Args:
        columns: the run's.
        among: the rows to look at, `[n]`.
    """
    n = len(among)
    winner, label = columns["winner"][:n], columns["label"][:n]
    labelled = among & (label > 0)
    scored = labelled & (winner > 0)
    n_unscored = int(np.count_nonzero(labelled) - np.count_nonzero(scored))
    right = (winner == label)[scored].astype(float)
    return proportion_of("verdict accuracy", right, columns["cluster"][:n][scored], n_unscored)


def _cells(estimate: Estimate) -> tuple[str, str, str]:
    n = f"{estimate.n:,}"
    if estimate.n_unscored:
        n += f", {estimate.n_unscored:,} unscored"
    interval = render.estimate_interval(estimate) or "-"
    return render.estimate_value(estimate), interval, n


def _counts(columns: Columns, judged: Bools) -> Section:
    says = {
        "wrong": "against the label", "disagree": "orders disagree", "failed": "a request failed",
        "unreadable": "an answer was unreadable", "unsure": "unsure", "close": "close ratings",
        "truncated": "a response was cut to fit",
    }  # fmt: skip
    rows = [("indexed", f"{columns.n:,}"), ("judged", f"{int(np.count_nonzero(judged)):,}")]
    rows += [
        (says[name], f"{int(np.count_nonzero(columns.has(flag_bit(name)))):,}") for name in FLAGS
    ]
    return Section(
        title="Cases", tables=(PageTable(headings=("cases", "number"), rows=tuple(rows)),)
    )


def _verdicts(columns: Columns, judged: Bools) -> Section:
    n = len(judged)
    winner, label = columns["winner"][:n][judged], columns["label"][:n][judged]
    counts = np.bincount(label.astype(np.int64) * 4 + winner, minlength=16).reshape(4, 4)
    names = {"a": "a wins", "b": "b wins", "tie": "tie", None: "no winner"}
    shown = [*WINNERS, None]
    rows = tuple(
        (
            "no label" if its is None else names[its],
            *(f"{int(counts[WINNER_CODES[its], WINNER_CODES[each]]):,}" for each in shown),
        )
        for its in shown
    )
    headings = ("label", *(names[each] for each in shown))
    return Section(
        title="Verdicts against labels", tables=(PageTable(headings=headings, rows=rows),)
    )


def _parts(columns: Columns, judged: Bools) -> Iterator[Section]:
    codes = columns["scenario"][: len(judged)]
    names = [name for name in list(columns.scenarios) if name is not None]
    groups: dict[str, list[int]] = {}
    for name in names:
        groups.setdefault(group_name(name) or "", []).append(columns.scenarios[name])
    by_scenario = {name: [columns.scenarios[name]] for name in names[:_MOST_ROWS]}
    for title, parts in (("group", groups), ("scenario", by_scenario)):
        # One mask after the other: together those of 60 scenarios would take as much as the index.
        found = {
            name: accuracy(columns, judged & np.isin(codes, its)) for name, its in parts.items()
        }
        known = {name: its for name, its in found.items() if its.value is not None}
        if len(known) > 1:
            rows = tuple((page_text(name).text, *_cells(its)) for name, its in known.items())
            left = len(names) - len(by_scenario)
            yield Section(
                title=f"Verdict accuracy by {title}",
                note=f"{left:,} more scenarios are not shown."
                if left and len(parts) < len(names)
                else "",
                tables=(PageTable(headings=(title, *_HEADINGS), rows=rows),),
            )
