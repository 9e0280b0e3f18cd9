"""Numbers as text: counts, shares, values, p-values and times; a dash where there is none."""

from __future__ import annotations

MISSING = "-"
"""Stands in a table for a number that there is not."""


def count(n: int) -> str:
    """A count with its thousands apart.

    >>> count(12345)
    '12,345'
    """
    return f"{n:,}"


def percent(share: float | None, digits: int = 2, unit: str = " %") -> str:
    """A share in percent.

    Args:
        share: 0-1, or a difference of shares; None where it is not known.
        digits: after the point.
        unit: follows the number; empty where a table's heading says it.

    >>> percent(0.5), percent(0.5, 0, "%"), percent(None)
    ('50.00 %', '50%', '-')
    """
    return MISSING if share is None else f"{share * 100:.{digits}f}{unit}"


def number(value: float | None, digits: int, *, signed: bool = False) -> str:
    """A number with a fixed count of digits after the point.

    >>> number(0.25, 3), number(0.25, 1, signed=True), number(None, 3)
    ('0.250', '+0.2', '-')
    """
    return MISSING if value is None else f"{value:{'+' if signed else ''}.{digits}f}"


def p_value(p_value: float | None) -> str:
    """A p-value of three digits; smaller ones are told by that alone.

    >>> p_value(0.04), p_value(1e-9), p_value(None)
    ('0.040', '<0.001', '-')
    """
    return "<0.001" if p_value is not None and p_value < 0.001 else number(p_value, 3)


def seconds(seconds: float) -> str:
    """A time in whole seconds.

    >>> seconds(1234.4)
    '1,234 s'
    """
    return f"{seconds:,.0f} s"


def lost(n_unreadable: int, n_failed: int, unit: str = "") -> str:
    """Counts of the judgments that state nothing and of the requests without an answer.

    >>> lost(1200, 3, " judgments")
    '1,200 and 3 judgments'
    """
    return f"{n_unreadable:,} and {n_failed:,}{unit}"
