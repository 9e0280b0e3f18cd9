"""Code that is taken out of a text before it is translated, and put back afterwards.

A translator that sees code changes it: of the 55 responses with fenced code in the release's own
translation, 22 have other code than the original. What is not sent cannot change.
"""

import re
from dataclasses import dataclass

_FENCED = re.compile(
    r"^(?P<fence>[ \t]*(?P<marks>```|~~~))[^\n]*\n.*?(?:^[ \t]*(?P=marks)`*~*[ \t]*$|\Z)",
    re.MULTILINE | re.DOTALL,
)
_SIGN = re.compile(r"⟦\s*(?P<number>[0-9]+)\s*⟧")
_BRACKETS = "⟦⟧"


@dataclass(frozen=True, slots=True, kw_only=True)
class SetAside:
    """A text without its fenced code."""

    text: str
    """The text, with a sign ⟦1⟧, ⟦2⟧ … in place of each piece of code."""
    pieces: tuple[str, ...] = ()
    """The code, in the order of its signs."""


def fenced_code(text: str) -> tuple[str, ...]:
    """The fenced code of a text; a fence that is not closed reaches to the end."""
    return tuple(found[0].rstrip() for found in _FENCED.finditer(text))


def set_aside(text: str) -> SetAside:
    r"""Takes the fenced code out of a text.

    A text that holds such signs itself stays whole, as its own could not be told from ours.

    >>> set_aside("Run it:\n```\nls\n```\nDone.").text
    'Run it:\n⟦1⟧\nDone.'
    """
    if any(bracket in text for bracket in _BRACKETS):
        return SetAside(text=text)
    pieces: list[str] = []

    def replaced(found: re.Match[str]) -> str:
        pieces.append(found[0])
        return f"⟦{len(pieces)}⟧"

    return SetAside(text=_FENCED.sub(replaced, text), pieces=tuple(pieces))


def put_back(translation: str, aside: SetAside) -> str | None:
    """A translation with its code in place; None where its signs are not those of the text."""
    if not aside.pieces:
        return translation
    numbers = [int(found["number"]) for found in _SIGN.finditer(translation)]
    if numbers != list(range(1, len(aside.pieces) + 1)):
        return None
    return _SIGN.sub(lambda found: aside.pieces[int(found["number"]) - 1], translation)
