"""A run beside its baseline: what flipped, and whether that is within the limits."""

from rich.console import Group, RenderableType
from rich.text import Text

from autoj.reports import render
from autoj.reports.diff import diff_view
from autoj.reports.text import visible_text
from autoj.tasks.drift import Drift


def drift_view(drift: Drift, n_shown: int) -> RenderableType:
    """The flipped cases, the figures, and the limits that were passed.

    Args:
        drift: a run beside its baseline, which is called "one".
        n_shown: the number of cases to list.
    """
    rows = [("flipped", render.estimate_line(drift.flipped))]
    if drift.repeatability is not None:
        rows.append(("repeatability", render.estimate_line(drift.repeatability)))
    if drift.lost is not None:
        rows.append(("agreement lost", _signed(drift)))
    parts: list[RenderableType] = [diff_view(drift.diff, n_shown), Text(), render.facts(rows)]
    if drift.beyond:
        parts += [visible_text(f"Drift: {line}.", style="bold red") for line in drift.beyond]
    elif drift.limits.most_flipped is not None or drift.limits.most_lost is not None:
        parts.append(Text("Within the limits.", style="green"))
    return Group(*parts)


def _signed(drift: Drift) -> str:
    assert drift.lost is not None
    return f"{render.estimate_cell(drift.lost, signed=True)} points  n={drift.lost.n:,}"
