"""Corrections of a phrase: all that stands up to where a text goes on as expected."""

import re
import unicodedata
from dataclasses import dataclass
from itertools import islice

from autoj.corrections.base import (
    LONGEST,
    OUTSIDE,
    PARTS,
    UNSPACED,
    Correction,
    is_apart,
    is_number,
    may_be_wrong,
)

_PIECE = re.compile(r"[^\W_]+(?:['’][^\W_]+)*|_+|[^\w\s]")
"""A word or a mark; of code, what may stand for another one."""
_MOST_PIECES = 6
"""Of a text that is replaced, and of the one in its place."""
_MOST_CHARACTERS = 60
_TELLING = 3
"""Letters of a word after which two texts go on alike; after a shorter one or a mark the next one
must be alike, too."""
_ADDRESS = re.compile(r"\w@\w|://|\bwww\.")
"""Part of an address, which could be any."""
_NEGATIONS = frozenset(("not", "never", "no"))
_ENDS = ".,;:!?*"


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrase:
    """A text that stands from a place to where both go on alike, and what is expected there."""

    start: int
    end: int
    n_old: int
    """Words and marks that stand there."""
    written: str


def read_phrase(response: str, place: int, expected: str) -> Phrase | None:
    """The text to be replaced; None where both do not go on alike, as far as is known."""
    rest = response[place:].lstrip(" ")
    if not rest or rest[0].isspace() or expected.lstrip(" ")[:1].isspace():
        return None
    place = len(response) - len(rest)
    start = _beginning(response, place)
    lead = ""
    if start < place:
        # A word may end where the response's goes on.
        text = response[start:place] + expected
    else:
        text = expected.lstrip(" ")
        lead = " " * (text != expected and response[place - 1 : place] not in ("", " "))
    old, new = _pieces(response[start:]), _pieces(text)
    meeting = _meeting(old, new, len(text))
    if meeting is None:
        return None
    n_old, n_new = meeting
    end = start + (old[n_old - 1].end() if n_old else 0)
    # What is put in between goes up to what follows it.
    last = 0 if not n_new else new[n_new - 1].end() if n_old else new[n_new].start()
    written = text[:last] and lead + text[:last]
    return Phrase(start=start, end=end, n_old=n_old, written=written)


def correction_of_phrase(response: str, phrase: Phrase) -> Correction | None:
    """The correction that a phrase comes to; None where it is a matter of taste."""
    start, end, written = phrase.start, phrase.end, phrase.written
    # A phrase that is too much is a matter of taste; one word may be wrong, such as a "not".
    if not written and (phrase.n_old > 1 or not is_apart(response, start, end)):
        return None
    # "240 kJ" may be expected to go on as "240 000 J", where no word is wrong.
    if written[:1].isdigit() and response[:start].rstrip(" ")[-1:].isdigit():
        return None
    # A word that is missing is a matter of taste, too, but for a denial and inside of code.
    is_inside = start > 0 and not response[start - 1].isspace()
    if not phrase.n_old and not is_inside and _NEGATIONS.isdisjoint(written.casefold().split()):
        return None
    return _between_spaces(response, start, end, written)


def _beginning(response: str, place: int) -> int:
    """The first character of the word that a character stands inside."""
    first = max(0, place - LONGEST)
    found = (each for each in _PIECE.finditer(response, first, place + LONGEST))
    return next((each.start() for each in found if each.start() < place < each.end()), place)


def _pieces(text: str) -> list[re.Match[str]]:
    return list(islice(_PIECE.finditer(text, 0, 4 * _MOST_CHARACTERS), _MOST_PIECES + 3))


def _meeting(
    old: list[re.Match[str]], new: list[re.Match[str]], n_written: int
) -> tuple[int, int] | None:
    """The numbers of pieces of two texts after which they go on alike, with the smallest sum."""
    for both in range(1, 2 * _MOST_PIECES + 1):
        for n_old in range(max(0, both - _MOST_PIECES), min(both, _MOST_PIECES) + 1):
            if _is_alike(old[n_old:], new[both - n_old :], n_written):
                return n_old, both - n_old
    return None


def _is_alike(old: list[re.Match[str]], new: list[re.Match[str]], n_written: int) -> bool:
    """True where two texts begin alike, for long enough to tell."""
    if not old or not new or old[0][0] != new[0][0]:
        return False
    # The last word may still be written.
    is_cut = new[0].end() == n_written and new[0][0][-1].isalnum()
    if is_cut or len(new[0][0]) >= _TELLING:
        return not is_cut
    if len(new) == 1:
        return len(old) == 1
    if len(old) == 1:
        return False
    both = old[1][0], new[1][0]
    is_begun = new[1].end() == n_written and both[0].startswith(both[1])
    return both[0] == both[1] or is_begun or set(both) <= set(_ENDS)


def _between_spaces(response: str, start: int, end: int, written: str) -> Correction | None:
    """The correction of what stands between spaces around a place; None where none can be shown."""
    # What is too much is left out as it stands.
    head = tail = ""
    if written:
        head = re.split(r"\s", response[max(0, start - LONGEST) : start])[-1]
        tail = re.split(r"\s", response[end : end + LONGEST])[0]
    if max(len(head), len(tail)) == LONGEST:
        return None
    old, new = head + response[start:end] + tail, head + written + tail
    start -= len(head)
    while old[-1:] == new[-1:] and old[-1:] and old[-1] in _ENDS:
        old, new = old[:-1], new[:-1]
    while old[:1] == new[:1] and old[:1] and old[0] in _ENDS:
        old, new, start = old[1:], new[1:], start + 1
    return Correction(start=start, old=old, new=new) if _may_stand_for(old, new) else None


def _may_stand_for(old: str, new: str) -> bool:
    """True for a text that can be quoted, and one that says something else."""
    both = old + new
    return not (
        not may_be_wrong(old)
        or any(unicodedata.category(char) in PARTS for char in both)
        # "won't" is not "won".
        or (old.startswith(new) and old[len(new) : len(new) + 1] in ("'", "’"))
        or _plain(old) == _plain(new)
        or max(len(old), len(new)) > _MOST_CHARACTERS
        or OUTSIDE.search(both)
        or _ADDRESS.search(both)
        or UNSPACED.search(both)
        or not any(map(str.isalnum, both))
        or (is_number(old) != is_number(new) and new != "" and " " not in both)
    )


def _plain(text: str) -> str:
    """A text without what is a matter of taste."""
    return re.sub(r"[\s,'’`*.-]", "", text.casefold())
