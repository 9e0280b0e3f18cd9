"""Numbers as text: counts, shares, values, p-values and times; a dash for a missing one."""

MISSING = "-"
"""A missing number in a table."""


def count(n: int) -> str:
    """A count with commas between thousands.

    >>> count(12345)
    '12,345'
    """
    return f"{n:,}"


def percent(share: float | None) -> str:
    """A share in percent.

    Args:
        share: 0-1; None if it is not known.

    >>> percent(0.5), percent(None)
    ('50.0 %', '-')
    """
    return MISSING if share is None else f"{percent_cell(share)} %"


def percent_cell(share: float | None) -> str:
    """A share in percent without the sign, for a table whose heading says percent.

    Args:
        share: 0-1; None if it is not known.

    >>> percent_cell(0.5)
    '50.0'
    """
    return number(None if share is None else 100 * share, 1)


def number(value: float | None, digits: int, *, signed: bool = False) -> str:
    """A number with a fixed count of digits after the point.

    >>> number(0.25, 3), number(0.25, 1, signed=True), number(None, 3)
    ('0.250', '+0.2', '-')
    """
    return MISSING if value is None else f"{value:{'+' if signed else ''}.{digits}f}"


def p_value(p_value: float | None) -> str:
    """A p-value with three digits; one below 0.001 is written as such.

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


def usd(value: float) -> str:
    """An amount of US dollars, in whole cents or, below one, in two digits that count.

    >>> usd(1234.5), usd(0.9), usd(0.00123), usd(0)
    ('$1,234.50', '$0.90', '$0.0012', '$0.00')
    """
    if value == 0 or value >= 0.01:
        return f"${value:,.2f}"
    return f"${value:.4f}" if value >= 0.0001 else "under $0.0001"


def lost(n_unreadable: int, n_failed: int) -> tuple[str, str]:
    """A label and the counts of unreadable judgments and of failed requests.

    >>> lost(1200, 3)
    ('unreadable, failed', '1,200 and 3')
    """
    return "unreadable, failed", f"{n_unreadable:,} and {n_failed:,}"
