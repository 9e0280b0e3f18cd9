"""Win rates by other tools' conventions: of a run, or of each pair of models in a file."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from autoj.metrics.win_rate import CONVENTIONS
from autoj.records import Estimate
from autoj.reports import render
from autoj.reports.text import visible_text
from autoj.reports.verdict_cells import side_name
from autoj.runs.authors import NOBODY, Authors, authors_of
from autoj.tasks.run import Run


def rates_view(run: Run, rates: Mapping[str, Estimate]) -> render.Listing:
    """The win rates of a run, with the models behind a and b where all cases name them.

    Args:
        run: the run on pairs.
        rates: by the convention's name.
    """
    return convention_table(rates, authors_of(case for case, _ in run.folder.outlined()))


def rates_record(run: Run, rates: Mapping[str, Estimate]) -> dict[str, Any]:
    """The win rates of a run as plain values."""
    return {"run": str(run.path), "win_rates": [asdict(rate) for rate in rates.values()]}


def published_view(found: Mapping[tuple[str, str], Mapping[str, Estimate]]) -> RenderableType:
    """The win rates of each pair of models of a file of verdicts.

    Args:
        found: by the names of models a and b, the rates by the convention's name.
    """
    parts: list[RenderableType] = []
    for (a, b), rates in found.items():
        parts += [
            visible_text(f"a is {a}, b is {b}", style="bold"),
            convention_table(rates),
            Text(),
        ]
    return Group(*parts)


def published_record(
    path: Path, found: Mapping[tuple[str, str], Mapping[str, Estimate]]
) -> dict[str, Any]:
    """The same of a file as plain values."""
    pairs = [
        {"a": a, "b": b, "win_rates": [asdict(rate) for rate in rates.values()]}
        for (a, b), rates in found.items()
    ]
    return {"verdicts": str(path), "pairs": pairs}


def convention_table(rates: Mapping[str, Estimate], authors: Authors = NOBODY) -> render.Listing:
    """The win rate of response a by the conventions of other tools, side by side.

    Args:
        rates: by the convention's name.
        authors: the models behind a and b.
    """
    columns = (
        render.Column.text("convention"),
        render.Column.word(f"win rate of {side_name('a', authors)}"),
        render.Column.prose("rule"),
    )
    listing = render.Listing(*columns)
    for name, rate in rates.items():
        interval = f"{render.estimate_value(rate)} {render.estimate_interval(rate)}".strip()
        listing.add(name, f"{interval} n={rate.n:,}", rate.reason or CONVENTIONS[name].says)
    return listing
