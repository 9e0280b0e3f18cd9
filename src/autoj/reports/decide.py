"""The figures of a run that is decided above a confidence alone."""

from rich.console import RenderableType

from autoj.reports import render
from autoj.reports.verdict_cells import wins_text
from autoj.tasks.decide import Decided


def decided_view(found: Decided) -> RenderableType:
    """The winners before and after, and the accuracy where there are labels."""
    handed = "ties" if found.to == "tie" else "without a winner"
    rows: list[tuple[str, render.Cell]] = [
        ("judge", found.judge),
        ("verdicts", render.count(found.n)),
        (
            "unsure",
            f"{found.n_handed:,} with a confidence below {found.above:g}, which are now {handed}",
        ),
        ("before", wins_text(found.before)),
        ("after", wins_text(found.after)),
    ]
    if found.n_without:
        rows.append(("no confidence", f"{found.n_without:,}, which stay as they are"))
    for name, accuracy in (("before", found.accuracy_before), ("after", found.accuracy_after)):
        if accuracy is not None:
            rows.append((f"accuracy {name}", render.estimate_line(accuracy)))
    return render.facts(rows)
