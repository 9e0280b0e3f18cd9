"""Judged text for a page: nothing in it is invisible, reorders its neighbours, or is too long."""

import re
from dataclasses import dataclass

from autoj.reports.text import visible

MOST_CHARACTERS = 50_000
"""The characters of one text on a page; the rest stays in the run's folder."""
_SURROGATE = re.compile(r"[\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class PageText:
    """A text as a page shows it."""

    text: str
    n_cut: int = 0
    """Characters that were left out at its end."""


def page_text(text: str) -> PageText:
    r"""A text with control characters, direction marks and lone surrogates spelled out.

    The page inserts it as text, never as markup, so nothing else needs to change.

    >>> page_text("a\x00\u202eb\ud800").text
    'a\\x00\\u202eb\\ud800'
    """
    shown = visible(text[:MOST_CHARACTERS])
    # ASCII, which is known of a text without reading it, holds no surrogates.
    if not shown.isascii():
        shown = _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", shown)
    return PageText(text=shown, n_cut=max(0, len(text) - MOST_CHARACTERS))
