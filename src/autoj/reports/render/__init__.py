"""Every number, estimate and table that reports are made of, each built once."""

from autoj.reports.render.estimates import (
    COEFFICIENT_CELL,
    PERCENT_CELL,
    ROUNDED_CELL,
    TIGHT_COEFFICIENT_CELL,
    CellFormat,
    estimate_cell,
    estimate_interval,
    estimate_line,
    estimate_value,
    is_share,
)
from autoj.reports.render.headings import ESTIMATE_LABELS, GROUP_HEADINGS
from autoj.reports.render.numbers import MISSING, count, lost, number, p_value, percent, seconds
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
    "COEFFICIENT_CELL",
    "ESTIMATE_LABELS",
    "GROUP_HEADINGS",
    "MISSING",
    "PERCENT_CELL",
    "ROUNDED_CELL",
    "TIGHT_COEFFICIENT_CELL",
    "Cell",
    "CellFormat",
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
    "seconds",
    "with_more",
]
