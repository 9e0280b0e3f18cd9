"""Judged text on a terminal: untrusted, so it may not move the cursor or hide text."""

import re

from rich.text import Text

# Control characters (but line feed and tab) and directional overrides, which reorder what follows.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


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
