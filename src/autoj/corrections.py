"""Corrections of one word in a response, and the sentence of a critique that names one."""

import re
import unicodedata
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

WORD = re.compile(r"[^\W_]+(?:[.,'’-][^\W_]+)*")
"""A word or a number; marks inside it belong to it."""
_MARKS = re.compile(r"[.,-]")
_SAID = re.compile(r'"[^"\n]+" seems wrong: it should (?:not )?say "[^"\n]+"(?:, not "[^"\n]+")?\.')
_OUTSIDE = re.compile(r"[\"“”\[\]`:]|[^\S ]|[\x00-\x1f\x7f-\x9f]")
"""Ends the passage that is quoted around a word: no mark of a critique may come from a response."""
_BEFORE, _AFTER = 3, 2
"""Words of the passage that are quoted before and after the wrong one."""
_NEAR = 80
"""Characters that are looked at on each side of a word."""
_LONGEST = 40
"""Characters of a word; what is longer is an address or data."""
# A writing without spaces has no words that could be told apart.
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u2e80-\ud7ff\uf900-\ufaff]")


class Thresholds(NamedTuple):
    """The least surprise and the least evidence with which a word is named (`Proofreading`)."""

    surprise: float
    evidence: float


def read_thresholds(option: object) -> Thresholds:
    """Reads the thresholds of a card's option, which a run's file may hold, whoever wrote it.

    Raises:
        ValueError: they are not two finite numbers above 0.

    >>> read_thresholds({"surprise": 5, "evidence": 0.75})
    Thresholds(surprise=5.0, evidence=0.75)
    """
    given = option if isinstance(option, dict) else {}
    values = [given.get(name) for name in Thresholds._fields]
    found = [
        float(value)
        for value in values
        if isinstance(value, int | float) and value is not True and 0 < value < inf
    ]
    if len(found) < len(values) or set(given) - set(Thresholds._fields):
        raise ValueError(
            "proofread has two thresholds above 0, such as {surprise: 5.0, evidence: 0.75}"
        )
    return Thresholds(*found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """One word of a response with another in its place, or none."""

    start: int
    """The first character of the word in the response."""
    old: str
    new: str
    """Empty where the word is one too many."""

    @property
    def end(self) -> int:
        """The character behind the word."""
        return self.start + len(self.old)

    def made_in(self, response: str) -> str:
        """The response with the correction.

        >>> Correction(start=4, old="not", new="").made_in("may not be")
        'may be'
        """
        rest = response[self.end :]
        return response[: self.start] + (self.new + rest if self.new else rest.lstrip(" "))


def correction(response: str, place: int, expected: str) -> Correction | None:
    """The correction that follows from what was expected in the place of a word.

    Args:
        response: the response.
        place: the character from which on it was to go on otherwise; inside a word, its beginning
            stays.
        expected: how it was to go on; at least to the end of a word.

    Returns:
        None where no word would be replaced by another one.

    >>> correction("It has 64 desks.", 6, " 46 desks")
    Correction(start=7, old='64', new='46')
    >>> correction("It has 164 desks.", 8, "46 desks")
    Correction(start=7, old='164', new='146')
    >>> correction("It may not be so.", 6, " be so")
    Correction(start=7, old='not', new='')
    """
    start = place
    while start < len(response) and response[start].isspace():
        start += 1
    old = _word_around(response, start)
    text = expected.lstrip()
    lead = expected[: len(expected) - len(text)]
    if old is None or lead.strip(" ") != response[place:start].strip(" "):
        return None
    beginning = response[old.start() : start]
    if beginning or (start > place and not lead and response[place - 1 : place].isalnum()):
        # The word goes on, and cannot be left before its end.
        if lead or start > place or not text[:1].isalnum():
            return None
        text = beginning + text
    new = WORD.match(text)
    if new is None or not _may_replace(old, new):
        return None
    following, behind = response[old.end() :].lstrip(" "), text[new.end() :].lstrip(" ")
    if (next_word := WORD.match(following)) is not None and next_word[0] == new[0]:
        return Correction(start=old.start(), old=old[0], new="")
    # A word is missing before the old one, which would still stand there.
    if behind and (behind.startswith(old[0]) or old[0].startswith(behind)):
        return None
    # "240 kJ" may be expected to go on as "240 000 J", where no word is wrong.
    if _is_number(old[0]) != _is_number(new[0]):
        return None
    return Correction(start=old.start(), old=old[0], new=new[0])


def is_whole(expected: str) -> bool:
    """True where a text that is being written has a word, and something behind it.

    >>> is_whole(" 7."), is_whole(" 7.5"), is_whole(" 7 h"), is_whole(" ***")
    (False, False, True, True)
    """
    text = expected.lstrip()
    found = WORD.match(text)
    if found is None:
        return bool(text)
    behind = text[found.end() :]
    return bool(behind) and (behind[0].isspace() or len(behind) > 1)


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
    before = _OUTSIDE.split(response[max(0, made.start - _NEAR) : made.start])[-1]
    after = _OUTSIDE.split(response[made.end : made.end + _NEAR])[0]
    # From the first of the words on, with what stands between them.
    first = re.search(rf"(?:\S+ +){{0,{_BEFORE}}}\S*\Z", before)
    last = re.match(rf"\S*(?: +\S+){{0,{_AFTER}}}", after)
    passage = (first[0] if first else "") + made.old + (last[0] if last else "")
    return passage.strip(" ,;.!?")


def _word_around(response: str, place: int) -> re.Match[str] | None:
    """The word that a character belongs to; None where it belongs to none, or to a long one."""
    first = max(0, place - _LONGEST)
    while first > 0 and not response[first - 1].isspace() and place - first < _NEAR:
        first -= 1
    found = WORD.finditer(response, first, place + _NEAR)
    return next((word for word in found if word.start() <= place < word.end()), None)


def _may_replace(old: re.Match[str], new: re.Match[str]) -> bool:
    """True for two words of which one may be wrong, and the other right."""
    words = old[0], new[0]
    same = len({word.casefold().replace(",", "").replace("’", "'") for word in words}) == 1
    is_number = any(map(_is_number, words))
    joined = is_number or _MARKS.findall(old[0]) == _MARKS.findall(new[0])
    plain = not _UNSPACED.search("".join(words)) and max(map(len, words)) <= _LONGEST
    return joined and plain and not same and not any(map(_is_cut, (old, new)))


def _is_cut(word: re.Match[str]) -> bool:
    """True where a word goes on with marks that are no letters, as in "_private" and in Hindi."""
    before, behind = word.string[: word.start()][-1:], word.string[word.end() :][:1]
    return "_" in (before, behind) or unicodedata.category(behind or " ").startswith("M")


def _is_number(word: str) -> bool:
    return any(map(str.isdigit, word))
