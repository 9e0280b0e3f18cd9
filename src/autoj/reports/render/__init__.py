"""Number formats, estimates and tables, shared by all reports."""

from autoj.reports.render.estimates import (
    estimate_cell,
    estimate_interval,
    estimate_line,
    estimate_value,
    is_share,
)
from autoj.reports.render.headings import ESTIMATE_HEADINGS, ESTIMATE_LABELS, GROUP_HEADINGS
from autoj.reports.render.numbers import (
    MISSING,
    count,
    lost,
    number,
    p_value,
    percent,
    percent_cell,
    seconds,
    usd,
)
from autoj.reports.render.tables import (
    Cell,
    Column,
    FigureRow,
    Listing,
    citations,
    facts,
    figures,
    notes,
    with_more,
)

__all__ = [
    "ESTIMATE_HEADINGS",
    "ESTIMATE_LABELS",
    "GROUP_HEADINGS",
    "MISSING",
    "Cell",
    "Column",
    "FigureRow",
    "Listing",
    "citations",
    "count",
    "estimate_cell",
    "estimate_interval",
    "estimate_line",
    "estimate_value",
    "facts",
    "figures",
    "is_share",
    "lost",
    "notes",
    "number",
    "p_value",
    "percent",
    "percent_cell",
    "seconds",
    "usd",
    "with_more",
]
