"""Estimates as text: on a line with their counts and bounds, and in a cell.

A share is written in percent with one digit, a rating with two digits, any other figure with three.
The ends of an interval have the digits of their value; in a short cell, shares are rounded to whole
percents there and other figures to two digits.
"""

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
    "risk coverage": 3,
}
"""Digits after the point of the figures that are not shares."""
_BEGINNINGS = ("best of ", "pearson", "spearman", "kendall")
"""Beginnings of the names of further figures that are not shares; they have three digits."""
_SIGNED = {
    "position bias",
    "length bias",
    "format bias",
    "above trivial",
    "flips above harmless text",
}
"""Figures that are differences, so that a positive one has its sign, too."""


def is_share(name: str) -> bool:
    """Tell whether a figure of that name is a share, which is written in percent."""
    return name not in _DIGITS and not name.startswith(_BEGINNINGS)


def estimate_value(estimate: Estimate) -> str:
    """The value alone, or a dash."""
    if estimate.value is None:
        return MISSING
    unit = " %" if is_share(estimate.name) else ""
    return _number(estimate, estimate.value, signed=estimate.name in _SIGNED) + unit


def estimate_interval(estimate: Estimate) -> str:
    """The interval in brackets, or an empty text without one."""
    return _interval(estimate, signed=estimate.name in _SIGNED)


def estimate_line(estimate: Estimate) -> str:
    """The estimate on a line: value, interval or why there is none, counts and bounds.

    >>> estimate_line(Estimate(name="accuracy", value=0.5, low=0.4, high=0.6, n=90, n_clusters=80))
    '50.0 %  [40.0, 60.0]  n=90 on 80 queries'
    """
    if estimate.value is None:
        return _sentence(estimate.reason)
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
    return text if estimate.reason is None else f"{text} ({estimate.reason})"


def estimate_cell(estimate: Estimate | None, *, short: bool = False, signed: bool = False) -> str:
    """The value and its interval, a share without its sign; a dash without a value.

    Args:
        estimate: None if the row has no such figure.
        short: round the interval's ends, shares to whole percents and other figures to two digits,
            and leave out an interval whose ends are then equal; for tables with several intervals
            in a row.
        signed: write the sign of positive numbers, as for differences.

    >>> found = Estimate(name="accuracy", value=0.5, n=8, n_clusters=8, low=0.2, high=0.8)
    >>> estimate_cell(found), estimate_cell(found, short=True), estimate_cell(found, signed=True)
    ('50.0 [20.0, 80.0]', '50.0 [20, 80]', '+50.0 [+20.0, +80.0]')
    """
    if estimate is None or estimate.value is None:
        return MISSING
    signed = signed or estimate.name in _SIGNED
    text = _number(estimate, estimate.value, signed=signed)
    interval = _interval(estimate, short=short, signed=signed)
    low, _, high = interval[1:-1].partition(", ")
    return text if not interval or (short and low == high) else f"{text} {interval}"


def _sentence(reason: str | None) -> str:
    return f"{reason[0].upper()}{reason[1:]}." if reason else MISSING


def _interval(estimate: Estimate, *, short: bool = False, signed: bool) -> str:
    if estimate.low is None or estimate.high is None:
        return ""
    most = 2 if short else 3
    if short and is_share(estimate.name):
        most = 0
    low, high = (
        _number(estimate, end, most, signed=signed) for end in (estimate.low, estimate.high)
    )
    return f"[{low}, {high}]"


def _number(estimate: Estimate, value: float, most: int = 3, *, signed: bool = False) -> str:
    """A value with the digits of its figure, but no more than a given count."""
    if is_share(estimate.name):
        return number(100 * value, min(1, most), signed=signed)
    return number(value, min(_DIGITS.get(estimate.name, 3), most), signed=signed)
