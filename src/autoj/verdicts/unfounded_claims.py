"""Claims of an error that a judge's critique has no ground for.

A small judge that has looked for a mistake in a good response and found none may still claim one:
of the claims that the shipped one adds of its own, nearly all are false (`experiments/LOG.md`).
"""

import re

from autoj.corrections import beyond_finding
from autoj.critiques import strip_rating
from autoj.mistakes import beyond_mistake
from autoj.verdicts.claims import read_sentences

OMITTED = "[…]"
"""Stands for what is left out of a critique."""
NOTHING_FOUND = "Nothing surely wrong was found."
"""Stands where nothing is left of one."""

_CONTRAST = re.compile(
    r"[,:]?\s+(?:but|however|although|though|yet|except|while|whereas)\b", re.IGNORECASE
)
_FEWEST_WORDS = 3
"""Of a clause that is kept of a sentence."""


def without_unfounded_claims(critique: str) -> str:
    """A critique up to its first claim of an error that is not the finding at its beginning.

    What follows such a claim explains it, and goes with it. Of its sentence the clause before a
    "but" stays. The closing rating stays, too.

    Args:
        critique: the text, with the mistake that was found at its beginning, if one was.

    Returns:
        The critique, with `OMITTED` where something was left out; the same text where nothing was.

    >>> without_unfounded_claims("The sum is right, but the unit is wrong. It is km.")
    'The sum is right. […]'
    >>> without_unfounded_claims("Wrong answer.")
    'Nothing surely wrong was found. […]'
    """
    prose = strip_rating(critique)
    rest = beyond_mistake(beyond_finding(prose))
    claim = next((each for each in read_sentences(rest) if each.claims_error), None)
    if claim is None:
        return critique
    begin = len(prose) - len(rest) + claim.start
    sentence = prose[begin : begin + len(claim.text)]
    kept = (prose[:begin] + _before_contrast(sentence)).rstrip() or NOTHING_FOUND
    return f"{kept} {OMITTED}{critique[len(prose) :]}"


def _before_contrast(sentence: str) -> str:
    """The clause of a sentence before its first contrast; empty where it claims an error, too."""
    found = _CONTRAST.search(sentence)
    if found is None:
        return ""
    clause = sentence[: found.start()]
    claims = any(each.claims_error for each in read_sentences(clause))
    return "" if claims or len(clause.split()) < _FEWEST_WORDS else f"{clause}."
