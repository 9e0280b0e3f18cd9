"""The table of a fitted calibration: what it is, and what it did on the file it was fitted on."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from autoj.calibration import tie_width
from autoj.calibration.fitting import N_FOLDS, CalibrationFit
from autoj.reports.text import visible_text
from autoj.runs import RunSpec

__all__ = ["calibration_view"]


def calibration_view(found: CalibrationFit, spec: RunSpec) -> RenderableType:
    """A calibration with its figures before and after.

    Args:
        found: the fit.
        spec: the settings of the run that it was fitted on.
    """
    table = Table(box=None, show_header=False, padding=(0, 1))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    rows = [
        ("judge", f"{spec.judge.name} ({spec.protocol})"),
        ("fitted on", found.calibration.fitted_on or "-"),
        ("pairs", _pairs(found)),
        ("ties", _ties(found)),
        ("temperature", f"{found.calibration.temperature:g}"),
        ("tie", _band(found, "rating" if not spec.has_orders else "log-odds")),
    ]
    if surface := found.calibration.surface:
        weights = (f"{name} {weight:+.3g}" for name, weight in surface.items())
        rows.append(("surface", ", ".join(weights)))
    for label, value in rows:
        table.add_row(label, visible_text(value))
    return Group(table, Text(), _figures(found), Text(), _note(found))


def _pairs(found: CalibrationFit) -> str:
    text = f"{sum(found.n.values()):,}"
    if found.n_left_out:
        text += f"; {found.n_left_out:,} more have no label, or a judgment that cannot be read"
    return text


def _ties(found: CalibrationFit) -> str:
    own = found.n["tie"] / sum(found.n.values())
    if abs(own - found.tie_share) < 5e-4:
        return f"{_percent(own, 1)}, as in the file"
    return f"{_percent(own, 1)} in the file, weighted to {_percent(found.tie_share, 1)}"


def _band(found: CalibrationFit, unit: str) -> str:
    text = f"{found.calibration.tie:g}"
    if found.reason is not None:
        return f"{text}: {found.reason}"
    width = tie_width(found.calibration)
    if width == 0:
        return f"{text}: a tie is never the likeliest but where both responses are exactly level"
    return f"{text}: a tie is the likeliest up to a difference of {width:.3g} in {unit}"


def _figures(found: CalibrationFit) -> Table:
    table = Table(box=None, header_style="bold", padding=(0, 1))
    columns = {"before": found.before, "after": found.after}
    if found.held_out is not None:
        columns["held out"] = found.held_out
    table.add_column("on the pairs it was fitted on", no_wrap=True)
    for name in columns:
        table.add_column(name, justify="right", no_wrap=True)
    each = columns.values()
    table.add_row("accuracy of the verdict", *(_percent(its.accuracy) for its in each))
    table.add_row("better of decided pairs preferred", *(_percent(its.decided) for its in each))
    table.add_row("log-loss (nats)", *(_number(its.log_loss) for its in each))
    table.add_row("Brier score", *(_number(its.brier) for its in each))
    return table


def _percent(share: float, digits: int = 2) -> str:
    return f"{share * 100:.{digits}f} %"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def _note(found: CalibrationFit) -> Text:
    text = "Before and after are in-sample: measure the judge on other pairs with autoj bench."
    if found.held_out is not None:
        text += f" Held out: each pair by a fit without its query, {N_FOLDS} folds."
    else:
        text += " There are too few pairs or queries to hold some out."
    if found.before.log_loss is None:
        text += " -: there are no probabilities, or one gave a label none."
    return Text(text, style="dim")
