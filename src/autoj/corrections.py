"""Corrections of one word in a response, and the sentence of a critique that names one."""

import re
from dataclasses import dataclass

WORD = re.compile(r"\w+(?:[.,'’-]\w+)*")
"""A word or a number; marks inside it belong to it."""
_OUTSIDE = re.compile(r"[\"“”\[\]\n`]")
"""Ends the passage that is quoted around a word: no mark of a critique may come from a response."""
_BEFORE, _AFTER = 3, 2
"""Words of the passage that are quoted before and after the wrong one."""
# A writing without spaces has no words that could be told apart.
_UNSPACED = re.compile(r"[\u2e80-\ud7ff\uf900-\ufaff]")


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
    if (start > place) != expected[:1].isspace() and _joins(response, place):
        return None
    beginning = response[_word_start(response, start) : start]
    if beginning and expected[:1].isspace():
        return None
    start -= len(beginning)
    old, new = WORD.match(response, start), WORD.match(beginning + expected.lstrip())
    if old is None or new is None or old[0] == new[0] or _UNSPACED.search(old[0] + new[0]):
        return None
    following = WORD.match(response[old.end() :].lstrip(" "))
    is_extra = following is not None and following[0] == new[0]
    return Correction(start=start, old=old[0], new="" if is_extra else new[0])


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


def _passage(response: str, made: Correction) -> str:
    before = _OUTSIDE.split(response[: made.start])[-1]
    after = _OUTSIDE.split(response[made.end :])[0]
    # From the first of the words on, with what stands between them.
    first = re.search(rf"(?:\S+[^\S\n]+){{0,{_BEFORE}}}\S*\Z", before)
    last = re.match(rf"[^\s]*(?:[^\S\n]+\S+){{0,{_AFTER}}}", after)
    passage = (first[0] if first else "") + made.old + (last[0] if last else "")
    return passage.strip(" \t,;:.!?")


def _joins(response: str, place: int) -> bool:
    """True where a word goes on at a place, or would without a space there."""
    return 0 < place < len(response) and response[place - 1].isalnum()


def _word_start(response: str, place: int) -> int:
    while place > 0 and response[place - 1].isalnum():
        place -= 1
    return place
