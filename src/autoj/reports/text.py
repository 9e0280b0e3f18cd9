"""Judged text that is harmless where it is shown: on a terminal, a page, or in a spreadsheet."""

import re
from dataclasses import dataclass
from typing import Any

from rich.text import Text

# Control characters (but line feed and tab) and directional overrides, which reorder what follows.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
MOST_CHARACTERS = 50_000
"""The characters of one text on a page; the rest stays in the run's folder."""
_SURROGATE = re.compile(r"[\ud800-\udfff]")
# The full-width forms are formulas in a spreadsheet in Japanese or Chinese. Blanks and quotes
# before a formula may be dropped when a cell is read. A match begins where such a run does, so that
# each run is looked at once.
_RUN = "[\\s\"'`\ufeff]"
_FORMULA = re.compile(rf"(?:\A|(?<!{_RUN}))(?P<run>{_RUN}*)(?=[=+\-@＝＋－＠])|\A(?=[\t\r\n])")


def visible(text: str) -> str:
    r"""A text with control characters spelled out.

    >>> visible("red: \x1b[31m")
    'red: \\x1b[31m'
    """
    return _CONTROL.sub(
        lambda found: found[0].encode("unicode_escape").decode(), text.replace("\r\n", "\n")
    )


def visible_text(text: str, style: str = "") -> Text:
    """The same for Rich, without interpreting markup in it."""
    return Text(visible(text), style=style)


def excerpt(text: str, n_characters: int) -> Text:
    """The beginning of a text on one line."""
    line = " ".join(visible(text).split())
    return Text(line if len(line) <= n_characters else line[: n_characters - 1] + "…")


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


def guarded(value: Any) -> Any:
    """A cell that is not a formula to any spreadsheet, whatever separates its cells.

    A spreadsheet takes a cell that begins with `=`, `+`, `-` or `@` for a formula. Where semicolons
    or tabs separate cells, as in many countries, a file with commas is cut at other places: behind
    a `;`, a tab or a line end within a text, quoted or not. An apostrophe before such a character
    makes a text of the cell, at the beginning and at these places.

    **Source**: OWASP, "CSV Injection", for the characters and the separators.

    >>> guarded("=1+1"), guarded("1 = 1"), guarded(-1.5)
    ("'=1+1", '1 = 1', -1.5)
    >>> guarded("so;=1+1")
    "so;'=1+1"
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    return _FORMULA.sub(_guard, value) if isinstance(value, str) else value


def _guard(found: re.Match[str]) -> str:
    run, at = found["run"] or "", found.start()
    first = "'" if at == 0 else ""
    cuts = any(end in run for end in "\t\r\n") or (at > 0 and found.string[at - 1] == ";")
    return f"{first}{run}'" if cuts and found["run"] is not None else f"{first}{run}"
