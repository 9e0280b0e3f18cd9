"""The table of a fitted calibration: what it is, and what it did on the file it was fitted on."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from autoj.reports.text import visible_text
from autoj.runs import RunSpec
from autoj.ties import tie_width
from autoj.ties.fitting import CalibrationFit

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
    table.add_column("on the very pairs it was fitted on", no_wrap=True)
    for name in ("before", "after"):
        table.add_column(name, justify="right", no_wrap=True)
    before, after = found.before, found.after
    table.add_row("accuracy of the verdict", _percent(before.accuracy), _percent(after.accuracy))
    table.add_row("log-loss (nats)", _number(before.log_loss), _number(after.log_loss))
    table.add_row("Brier score", _number(before.brier), _number(after.brier))
    return table


def _percent(share: float, digits: int = 2) -> str:
    return f"{share * 100:.{digits}f} %"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def _note(found: CalibrationFit) -> Text:
    text = "In-sample: measure the judge on other pairs with autoj bench."
    if found.before.log_loss is None:
        text += " -: there are no probabilities, or one gave a label none."
    return Text(text, style="dim")
