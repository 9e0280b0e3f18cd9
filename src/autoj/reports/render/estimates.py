"""Estimates as text: on a line with all that is known of them, and in a cell.

A figure that is a share is written in percent, any other with the digits of its metric.
"""

from __future__ import annotations

from dataclasses import dataclass

from autoj.records import Estimate
from autoj.reports.render.numbers import MISSING, number

_DIGITS = {
    "mean rating": 2,
    "mean score": 3,
    "kappa": 3,
    "correlation": 3,
    "position bias": 3,
    "length bias": 3,
    "format bias": 3,
    "calibration": 3,
    "expected calibration error": 3,
}
"""Figures that are no shares, with the digits after the point."""
_BEGINNINGS = ("best of ", "pearson", "spearman", "kendall")
"""Names of figures that are no shares begin so, too; they have three digits."""


def is_share(name: str) -> bool:
    """Whether a figure of that name is a share, which is written in percent."""
    return name not in _DIGITS and not name.startswith(_BEGINNINGS)


def estimate_value(estimate: Estimate) -> str:
    """The value alone, or a dash."""
    if estimate.value is None:
        return MISSING
    return _number(estimate, estimate.value) + (" %" if is_share(estimate.name) else "")


def estimate_interval(estimate: Estimate) -> str:
    """The interval in brackets, or nothing where there is none."""
    if estimate.low is None or estimate.high is None:
        return ""
    return f"[{_number(estimate, estimate.low)}, {_number(estimate, estimate.high)}]"


def estimate_line(estimate: Estimate) -> str:
    """The whole estimate on a line: value, interval, cases, queries, what is unscored, bounds.

    >>> estimate_line(Estimate(name="accuracy", value=0.5, low=0.4, high=0.6, n=90, n_clusters=80))
    '50.00 %  [40.00, 60.00]  n=90 on 80 queries'
    """
    if estimate.value is None:
        return f"none: {estimate.reason}"
    text = estimate_value(estimate)
    if interval := estimate_interval(estimate):
        text += f"  {interval}"
    text += f"  n={estimate.n:,}"
    if estimate.n_clusters != estimate.n:
        text += f" on {estimate.n_clusters:,} queries"
    if estimate.n_unscored:
        text += f", {estimate.n_unscored:,} unscored"
    if estimate.bounds is not None:
        low, high = (_number(estimate, bound) for bound in estimate.bounds)
        text += f" (with them {low} to {high})"
    return text


@dataclass(frozen=True, slots=True, kw_only=True)
class CellFormat:
    """The digits and the interval of an estimate in a cell."""

    digits: int
    """Of the value, after the point."""
    interval_digits: int
    interval: str = " [{}, {}]"
    """Follows the value, with the interval's ends filled in; a figure that may be negative has no
    dash between them."""
    signed: bool = False
    """Whether the value of a difference has its sign where it is positive, too."""
    signed_interval: bool = False
    equal_ends: bool = True
    """Whether an interval is shown that is narrower than its digits."""


PERCENT_CELL = CellFormat(digits=2, interval_digits=0, interval=" {}-{}")
"""A share, such as "50.00 20-80"."""
ROUNDED_CELL = CellFormat(digits=0, interval_digits=0, interval=" {}-{}")
"""A share of few cases beside many columns, such as "50 20-80"."""
COEFFICIENT_CELL = CellFormat(digits=3, interval_digits=2)
"""A correlation or a mean, such as "0.512 [0.40, 0.61]"."""
_COEFFICIENT = CellFormat(digits=2, interval_digits=2)
"""A figure that may be negative, unless told otherwise: "0.51 [0.40, 0.61]"."""
TIGHT_COEFFICIENT_CELL = CellFormat(digits=3, interval_digits=2, interval=" [{},{}]")
"""The same where three intervals below 0 must fit into 80 columns: "-0.512 [-0.61,-0.40]"."""


def estimate_cell(estimate: Estimate | None, form: CellFormat | None = None) -> str:
    """The value and its interval, narrow; a dash where there is no value.

    Args:
        estimate: None where there is none.
        form: the digits; by default one less than on a line, and no more in a share's interval.

    >>> found = Estimate(name="accuracy", value=0.5, n=8, n_clusters=8, low=0.2, high=0.8)
    >>> estimate_cell(found), estimate_cell(found, PERCENT_CELL)
    ('50.0 [20-80]', '50.00 20-80')
    """
    if estimate is None or estimate.value is None:
        return MISSING
    if form is None:
        form = _default_form(estimate)
    scale = _scale(estimate)
    text = number(estimate.value * scale, form.digits, signed=form.signed)
    if estimate.low is None or estimate.high is None:
        return text
    low, high = (
        number(end * scale, form.interval_digits, signed=form.signed_interval)
        for end in (estimate.low, estimate.high)
    )
    return text if low == high and not form.equal_ends else text + form.interval.format(low, high)


def _default_form(estimate: Estimate) -> CellFormat:
    name, digits = estimate.name, _digits(estimate.name)
    if not is_share(name) and not name.startswith("mean "):
        return _COEFFICIENT
    if estimate.low is None:
        return CellFormat(digits=digits, interval_digits=digits)
    interval_digits = 0 if is_share(name) else digits - 1
    return CellFormat(digits=digits - 1, interval_digits=interval_digits, interval=" [{}-{}]")


def _digits(name: str) -> int:
    return 2 if is_share(name) else _DIGITS.get(name, 3)


def _scale(estimate: Estimate) -> int:
    return 100 if is_share(estimate.name) else 1


def _number(estimate: Estimate, value: float) -> str:
    return number(value * _scale(estimate), _digits(estimate.name))
