"""The size of a run before it is asked, as a table."""

import math
from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from autoj.reports import render
from autoj.runs.estimate import Range, RunEstimate

_SECONDS_PER_MINUTE = 60.0


def plan_view(estimates: Sequence[RunEstimate]) -> RenderableType:
    """The requests that are left for each judge and, of several, for all together."""
    parts: list[RenderableType] = []
    for found in estimates:
        parts += [_one(found), Text()]
    if len(estimates) > 1:
        parts += [_all(estimates), Text()]
    return Group(*parts[:-1])


def _one(found: RunEstimate) -> RenderableType:
    about = ("at most " if found.is_most else "") + ("" if found.is_exact else "about ")
    rows = [
        ("judge", f"{found.judge} ({found.protocol})"),
        ("cases", render.count(found.n_cases)),
        ("requests", f"{about}{found.n_left:,} to send{_known(found)}"),
    ]
    if found.is_most:
        rows.append(("counted", "as if asked everywhere; it is asked where an answer is unsure"))
    if found.n_too_long:
        rows.append(("too long", f"{about}{found.n_too_long:,} requests fail without being sent"))
    if found.n_left:
        rows += [
            ("tokens read", f"about {found.prompt_tokens:,}"),
            ("tokens written", _tokens(found.completion_tokens)),
            ("dollars", _dollars(found)),
            ("minutes", _minutes(found)),
        ]
    return render.facts(rows)


def _known(found: RunEstimate) -> str:
    known = [
        f"{n:,} {what}"
        for n, what in (
            (found.n_answered, "answered in this run"),
            (found.n_reused, "reused from earlier runs"),
        )
        if n
    ]
    return f" of {found.n_requests:,}; {', '.join(known)}" if known else ""


def _tokens(tokens: Range) -> str:
    least, most = f"{tokens.least:,.0f}", f"{tokens.most:,.0f}"
    about = None if tokens.about is None else f"{tokens.about:,.0f}"
    return _range(least, about, most, "no answer's length is known yet")


def _dollars(found: RunEstimate) -> str:
    if found.usd is None:
        return f"not known: the card of judge {found.judge!r} states no prices"
    about = None if found.usd.about is None else render.usd(found.usd.about)
    return _range(render.usd(found.usd.least), about, render.usd(found.usd.most), "prompts alone")


def _range(least: str, about: str | None, most: str, why_least: str) -> str:
    if least == most:
        return f"about {most}"
    if about is None:
        return f"{least} ({why_least}) to {most} (all answers at --max-tokens)"
    return f"about {about}, at most {most}"


def _minutes(found: RunEstimate) -> str:
    if found.seconds is None:
        return "not known before the first answers"
    return f"about {minutes_text(found.seconds)}, by {found.timed_by}"


def minutes_text(seconds: float) -> str:
    """A time in minutes, in seconds below one, in hours above 120.

    >>> minutes_text(30), minutes_text(150), minutes_text(36_000)
    ('30 s', '3 min', '10.0 h')
    """
    if seconds < _SECONDS_PER_MINUTE:
        return f"{math.ceil(seconds)} s"
    n_minutes = seconds / _SECONDS_PER_MINUTE
    return f"{math.ceil(n_minutes)} min" if n_minutes <= 120 else f"{n_minutes / 60:,.1f} h"


def _all(estimates: Sequence[RunEstimate]) -> RenderableType:
    rows = [("all judges", f"{sum(found.n_left for found in estimates):,} requests to send")]
    priced = [found.usd for found in estimates if found.usd is not None]
    if priced:
        least, most = (render.usd(sum(values)) for values in (
            (usd.least for usd in priced), (usd.most for usd in priced)))  # fmt: skip
        known = [usd.about for usd in priced if usd.about is not None]
        about = render.usd(sum(known)) if len(known) == len(priced) else None
        without = [found.judge for found in estimates if found.usd is None]
        rows.append(
            ("dollars", _range(least, about, most, "prompts alone")
             + (f"; without {', '.join(without)}: no prices" if without else ""))
        )  # fmt: skip
    return render.facts(rows)
