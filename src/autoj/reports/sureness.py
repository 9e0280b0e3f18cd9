"""The figures of a fitted threshold of unsure verdicts."""

from rich.console import Group, RenderableType
from rich.text import Text

from autoj.calibration.folds import N_FOLDS
from autoj.reports import render
from autoj.tasks.sureness import FittedSureness


def sureness_view(found: FittedSureness) -> RenderableType:
    """A threshold with the share of right verdicts at or above it, on its pairs and held out."""
    threshold = found.threshold
    rows = [
        ("judge", f"{found.spec.judge.name} ({found.spec.protocol})"),
        ("fitted on", threshold.fitted_on or "-"),
        ("pairs", _pairs(found)),
        ("unsure below", f"{threshold.below:g}"),
        ("sure", render.estimate_line(found.coverage)),
        ("right of these", render.estimate_line(found.right)),
        ("held out", render.estimate_line(found.held_out)),
        ("right of all", render.estimate_line(found.everywhere)),
    ]
    note = (
        "Held out: the sure pairs by thresholds fitted without their query, "
        f"{N_FOLDS} folds: what to expect of new pairs of this kind."
    )
    view = Group(render.facts(rows), Text(), *render.notes([note]))
    if found.card is not None:
        return view
    hint = "Add --write CARD to write this to the judge's card."
    return Group(view, Text(), Text(hint, style="dim"))


def _pairs(found: FittedSureness) -> str:
    text = render.count(0 if found.threshold.n is None else found.threshold.n)
    if found.n_left_out:
        text += f"; {found.n_left_out:,} more have no label, no winner or no probabilities"
    return text
