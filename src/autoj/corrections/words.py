"""Corrections of one word, where a text never goes on as expected."""

import re
import unicodedata

from autoj.corrections.base import (
    LONGEST,
    NEAR,
    PARTS,
    UNSPACED,
    Correction,
    is_apart,
    is_number,
)

WORD = re.compile(r"[^\W_]+(?:[.,'’-][^\W_]+)*")
"""A word or a number; marks inside it belong to it."""
_MARKS = re.compile(r"[.,-]")


def correction_of_word(response: str, place: int, expected: str) -> Correction | None:
    """One word with another one in its place."""
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
        if not is_apart(response, old.start(), old.end()):
            return None
        return Correction(start=old.start(), old=old[0], new="")
    # A word is missing before the old one, which would still stand there.
    if behind and (behind.startswith(old[0]) or old[0].startswith(behind)):
        return None
    # "240 kJ" may be expected to go on as "240 000 J", where no word is wrong.
    if is_number(old[0]) != is_number(new[0]):
        return None
    return Correction(start=old.start(), old=old[0], new=new[0])


def _word_around(response: str, place: int) -> re.Match[str] | None:
    """The word that a character belongs to; None where it belongs to none, or to a long one."""
    first = max(0, place - LONGEST)
    while first > 0 and not response[first - 1].isspace() and place - first < NEAR:
        first -= 1
    found = WORD.finditer(response, first, place + NEAR)
    return next((word for word in found if word.start() <= place < word.end()), None)


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


def _may_replace(old: re.Match[str], new: re.Match[str]) -> bool:
    """True for two words of which one may be wrong, and the other right."""
    words = old[0], new[0]
    same = len({word.casefold().replace(",", "").replace("’", "'") for word in words}) == 1
    joined = any(map(is_number, words)) or _MARKS.findall(old[0]) == _MARKS.findall(new[0])
    plain = not UNSPACED.search("".join(words)) and max(map(len, words)) <= LONGEST
    return joined and plain and not same and not any(map(_is_cut, (old, new)))


def _is_cut(word: re.Match[str]) -> bool:
    """True where a word goes on with marks that are no letters, as in "_private" and in Hindi."""
    before, behind = word.string[: word.start()][-1:], word.string[word.end() :][:1]
    return "_" in (before, behind) or unicodedata.category(behind or " ") in PARTS
