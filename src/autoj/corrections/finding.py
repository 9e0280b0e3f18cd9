"""The sentence of a critique that names a correction."""

import re

from autoj.corrections.base import NEAR, OUTSIDE, Correction

_SAID = re.compile(r'"[^"\n]+" seems wrong: it should (?:not )?say "[^"\n]+"(?:, not "[^"\n]+")?\.')
_BEFORE, _AFTER = 3, 2
"""Words of the passage that are quoted before and after the wrong one."""


def said_of(made: Correction, response: str) -> str:
    """The sentence of a critique that names what is wrong, with the words around it.

    >>> text = "The loft was built in 1831 by the town."
    >>> said_of(Correction(start=22, old="1831", new="1813"), text)
    '"was built in 1831 by the" seems wrong: it should say "1813", not "1831".'
    """
    passage = _passage(response, made)
    if not made.new:
        return f'"{passage}" seems wrong: it should not say "{made.old}".'
    return f'"{passage}" seems wrong: it should say "{made.new}", not "{made.old}".'


def beyond_finding(critique: str) -> str:
    """A critique without the sentence at its beginning that names a wrong word, if it has one.

    >>> beyond_finding('"to 64 desks" seems wrong: it should say "46", not "64". Clear.')
    ' Clear.'
    """
    found = _SAID.match(critique)
    return critique if found is None else critique[found.end() :]


def _passage(response: str, made: Correction) -> str:
    before = OUTSIDE.split(response[max(0, made.start - NEAR) : made.start])[-1]
    after = OUTSIDE.split(response[made.end : made.end + NEAR])[0]
    # From the first of the words on, with what stands between them.
    first = re.search(rf"(?:\S+ +){{0,{_BEFORE}}}\S*\Z", before)
    last = re.match(rf"\S*(?: +\S+){{0,{_AFTER}}}", after)
    passage = (first[0] if first else "") + made.old + (last[0] if last else "")
    return passage.strip(" ,;.!?")
