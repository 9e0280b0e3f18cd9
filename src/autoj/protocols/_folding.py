"""One spelling for what a judge wrote, so that the parsers need to know only one.

`clean` drops what cannot be seen; `fold` then maps each character to one character, so that a
match in the folded text stands at the same place in the clean one.
"""

from __future__ import annotations

import re
import unicodedata

__all__ = ["clean", "fold"]

# Zero-width and directional marks, soft hyphens and byte-order marks: a judge's text may carry
# them between any two characters, and they are no part of any statement.
_INVISIBLE = re.compile(
    r"[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]"
)
_BRACKETS = str.maketrans("【】〔〕〖〗「」『』", "[][][][][]")


def clean(text: str) -> str:
    """The text without characters that cannot be seen."""
    return _INVISIBLE.sub("", text)


def fold(text: str) -> str:
    """The text with full-width forms as plain ones; as long as `text`."""
    if text.isascii():
        return text
    return "".join(_fold_character(character) for character in text).translate(_BRACKETS)


def _fold_character(character: str) -> str:
    folded = unicodedata.normalize("NFKC", character)
    return folded if len(folded) == 1 else character
