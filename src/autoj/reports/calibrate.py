"""The table of a fitted calibration: its parameters, and its figures before and after."""

from rich.console import Group, RenderableType
from rich.text import Text

from autoj.calibration import tie_width
from autoj.calibration.fitting import CalibrationFit
from autoj.calibration.folds import N_FOLDS
from autoj.reports import render
from autoj.runs import RunSpec
from autoj.tasks.calibrate import FittedRun


def fitted_view(found: FittedRun) -> RenderableType:
    """A calibration with its figures and, where no card has it, the way to write it to one."""
    view = calibration_view(found.fit, found.spec)
    if found.card is not None:
        return view
    hint = "Add --write CARD to write this to the judge's card."
    return Group(view, Text(), Text(hint, style="dim"))


def calibration_view(found: CalibrationFit, spec: RunSpec) -> RenderableType:
    """A calibration with its figures before and after.

    Args:
        found: the fit.
        spec: the settings of the run that it was fitted on.
    """
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
        rows.append(("style features", ", ".join(weights)))
    return Group(render.facts(rows), Text(), _figures(found), Text(), *render.notes([_note(found)]))


def _pairs(found: CalibrationFit) -> str:
    text = render.count(sum(found.n.values()))
    if found.n_left_out:
        text += f"; {found.n_left_out:,} more have no label, or an unreadable judgment"
    return text


def _ties(found: CalibrationFit) -> str:
    own = found.n["tie"] / sum(found.n.values())
    if abs(own - found.tie_share) < 5e-4:
        return f"{render.percent(own)}, as in the file"
    return f"{render.percent(own)} in the file, weighted to {render.percent(found.tie_share)}"


def _band(found: CalibrationFit, unit: str) -> str:
    text = f"{found.calibration.tie:g}"
    if found.reason is not None:
        return f"{text}: {found.reason}"
    width = tie_width(found.calibration)
    if width == 0:
        return f"{text}: a tie is the likeliest only if both responses are exactly equal"
    return f"{text}: a tie is the likeliest for differences up to {width:.3g} in {unit}"


def _figures(found: CalibrationFit) -> render.Listing:
    columns = {"before": found.before, "after": found.after}
    if found.held_out is not None:
        columns["held out"] = found.held_out
    listing = render.Listing(
        render.Column.text("on the pairs it was fitted on"),
        *(render.Column.number(name) for name in columns),
    )
    its = columns.values()
    listing.add("accuracy of the verdict", *(render.percent(one.accuracy) for one in its))
    listing.add("better of decided pairs preferred", *(render.percent(one.decided) for one in its))
    listing.add("log-loss (nats)", *(render.number(one.log_loss, 4) for one in its))
    listing.add("Brier score", *(render.number(one.brier, 4) for one in its))
    return listing


def _note(found: CalibrationFit) -> str:
    text = "Before and after are in-sample: measure the judge on other pairs with autoj bench."
    if found.held_out is not None:
        text += f" Held out: each pair by a fit without its query, {N_FOLDS} folds."
    else:
        text += " Too few pairs or queries to hold some out."
    if found.before.log_loss is None:
        text += " -: there are no probabilities, or one of a label is 0."
    return text
