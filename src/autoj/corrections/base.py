"""A correction, and the texts that one may be of."""

import re
from dataclasses import dataclass

OUTSIDE = re.compile(
    r"[\"“”\[\]`:]|[^\S ]|[\x00-\x1f\x7f-\x9f]"
    r"|[\xad\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]"
)
"""Ends the passage that is quoted around a word: no mark of a critique may come from a response."""
PARTS = frozenset(("Mn", "Mc", "Me", "Cf"))
"""Categories of characters that belong to the one before them, or are not seen."""
# A writing without spaces has no words that could be told apart.
UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u2e80-\ud7ff\uf900-\ufaff]")
NEAR = 80
"""Characters that are looked at on each side of a word."""
LONGEST = 40
"""Characters of a word; what is longer is an address or data."""
_CODE = "=<>+*/%&|^)"
"""Marks that may be wrong in code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """A word of a response, or a few, with others in their place, or with none."""

    start: int
    """The first character that is replaced."""
    old: str
    new: str
    """Empty where the old text is too much."""

    @property
    def end(self) -> int:
        """The character behind the old text."""
        return self.start + len(self.old)

    def made_in(self, response: str) -> str:
        """The response with the correction.

        >>> Correction(start=4, old="not", new="").made_in("may not be")
        'may be'
        """
        before, rest = response[: self.start], response[self.end :]
        is_between = not before or before[-1].isspace()
        return before + (rest.lstrip(" ") if not self.new and is_between else self.new + rest)


def may_be_wrong(text: str) -> bool:
    """True for a text with a word, or with a mark that may be wrong in code.

    >>> may_be_wrong(" desks"), may_be_wrong(" ="), may_be_wrong(", ")
    (True, True, False)
    """
    return any(char.isalnum() or char in _CODE for char in text)


def is_apart(response: str, start: int, end: int) -> bool:
    """True where nothing is left hanging if a text is left out: no mark belongs to it."""
    before, behind = response[:start][-1:], response[end:][:1]
    return before in ("", " ", "\n") and behind in ("", " ", "\n", ".", "!", "?")


def is_number(word: str) -> bool:
    """True for a text with a digit."""
    return any(map(str.isdigit, word))
