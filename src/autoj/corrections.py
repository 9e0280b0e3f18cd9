"""Corrections of a word or a few in a response, and the sentence of a critique that names one."""

import re
import unicodedata
from dataclasses import dataclass
from itertools import islice
from math import inf
from typing import NamedTuple

WORD = re.compile(r"[^\W_]+(?:[.,'’-][^\W_]+)*")
"""A word or a number; marks inside it belong to it."""
_MARKS = re.compile(r"[.,-]")
_SAID = re.compile(r'"[^"\n]+" seems wrong: it should (?:not )?say "[^"\n]+"(?:, not "[^"\n]+")?\.')
_OUTSIDE = re.compile(
    r"[\"“”\[\]`:]|[^\S ]|[\x00-\x1f\x7f-\x9f]"
    r"|[\xad\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]"
)
"""Ends the passage that is quoted around a word: no mark of a critique may come from a response."""
_BEFORE, _AFTER = 3, 2
"""Words of the passage that are quoted before and after the wrong one."""
_NEAR = 80
"""Characters that are looked at on each side of a word."""
_LONGEST = 40
"""Characters of a word; what is longer is an address or data."""
_PIECE = re.compile(r"[^\W_]+(?:['’][^\W_]+)*|_+|[^\w\s]")
"""A word or a mark; of code, what may stand for another one."""
_MOST_PIECES = 6
"""Of a text that is replaced, and of the one in its place."""
_MOST_CHARACTERS = 60
_TELLING = 3
"""Letters of a word after which two texts go on alike; after a shorter one or a mark the next one
must be alike, too."""
_CODE = "=<>+*/%&|^)"
"""Marks that may be wrong in code."""
_ADDRESS = re.compile(r"\w@\w|://|\bwww\.")
"""Part of an address, which could be any."""
_PARTS = frozenset(("Mn", "Mc", "Me", "Cf"))
"""Categories of characters that belong to the one before them, or are not seen."""
_NEGATIONS = frozenset(("not", "never", "no"))
_ENDS = ".,;:!?*"
# A writing without spaces has no words that could be told apart.
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u2e80-\ud7ff\uf900-\ufaff]")


class Thresholds(NamedTuple):
    """A card's settings of proofreading (`Proofreading`)."""

    surprise: float
    """The least surprise with which a mistake is named."""
    evidence: float
    """The least evidence."""
    trusted_below: float | None = None
    """The rating, 1 to 10, from which on a critique keeps no claim of an error but the one that was
    found; None keeps all."""


def read_thresholds(option: object) -> Thresholds:
    """Reads the thresholds of a card's option, which a run's file may hold, whoever wrote it.

    Raises:
        ValueError: they are not two or three finite numbers above 0.

    >>> read_thresholds({"surprise": 5, "evidence": 0.75})
    Thresholds(surprise=5.0, evidence=0.75, trusted_below=None)
    """
    given = option if isinstance(option, dict) else {}
    found = {
        name: float(value)
        for name, value in given.items()
        if isinstance(value, int | float) and value is not True and 0 < value < inf
    }
    names = set(Thresholds._fields)
    if (
        len(found) < len(given)
        or not names - set(Thresholds._field_defaults) <= set(found) <= names
    ):
        raise ValueError(
            "proofread has thresholds above 0, such as {surprise: 4.0, evidence: 0.7}, and may "
            "have trusted_below: 7.0"
        )
    return Thresholds(**found)


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


def correction(response: str, place: int, expected: str) -> Correction | None:
    """The correction that follows from what was expected in a place of a response.

    Args:
        response: the response.
        place: the character from which on it was to go on otherwise; inside a word, its beginning
            stays.
        expected: how it was to go on: to where both texts go on alike, or at least to the end of a
            word.

    Returns:
        What stands between the place and where both go on alike; where they never do, one word with
        another one in its place; None where neither can be told.

    >>> correction("It has 64 desks.", 6, " 46 desks")
    Correction(start=7, old='64', new='46')
    >>> correction("return n * f(n);", 14, " - 1);")
    Correction(start=11, old='f(n)', new='f(n - 1)')
    >>> correction("It takes O(n²), as it", 10, "(log n), as")
    Correction(start=9, old='O(n²)', new='O(log n)')
    >>> correction("It has 164 desks.", 8, "46 chairs")
    Correction(start=7, old='164', new='146')
    >>> correction("It may not be so.", 6, " be so")
    Correction(start=7, old='not', new='')
    """
    phrase = _read_phrase(response, place, expected)
    if phrase is not None:
        return _of_phrase(response, phrase)
    return _of_word(response, place, expected) if _is_whole(expected) else None


def may_be_wrong(text: str) -> bool:
    """True for a text with a word, or with a mark that may be wrong in code.

    >>> may_be_wrong(" desks"), may_be_wrong(" ="), may_be_wrong(", ")
    (True, True, False)
    """
    return any(char.isalnum() or char in _CODE for char in text)


def goes_on_alike(response: str, place: int, expected: str) -> bool:
    """True where a text that is being written has come back to the response's own.

    >>> goes_on_alike("It has 64 desks.", 6, " 46")
    False
    >>> goes_on_alike("It has 64 desks.", 6, " 46 desks.")
    True
    """
    return _read_phrase(response, place, expected) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Phrase:
    """A text that stands from a place to where both go on alike, and what is expected there."""

    start: int
    end: int
    n_old: int
    """Words and marks that stand there."""
    written: str


def _read_phrase(response: str, place: int, expected: str) -> _Phrase | None:
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
    return _Phrase(start=start, end=end, n_old=n_old, written=written)


def _of_phrase(response: str, phrase: _Phrase) -> Correction | None:
    """The correction that a phrase comes to; None where it is a matter of taste."""
    start, end, written = phrase.start, phrase.end, phrase.written
    # A phrase that is too much is a matter of taste; one word may be wrong, such as a "not".
    if not written and (phrase.n_old > 1 or not _is_apart(response, start, end)):
        return None
    # "240 kJ" may be expected to go on as "240 000 J", where no word is wrong.
    if written[:1].isdigit() and response[:start].rstrip(" ")[-1:].isdigit():
        return None
    # A word that is missing is a matter of taste, too, but for a denial and inside of code.
    is_inside = start > 0 and not response[start - 1].isspace()
    if not phrase.n_old and not is_inside and _NEGATIONS.isdisjoint(written.casefold().split()):
        return None
    return _between_spaces(response, start, end, written)


def _is_apart(response: str, start: int, end: int) -> bool:
    """True where nothing is left hanging if a text is left out: no mark belongs to it."""
    before, behind = response[:start][-1:], response[end:][:1]
    return before in ("", " ", "\n") and behind in ("", " ", "\n", ".", "!", "?")


def _beginning(response: str, place: int) -> int:
    """The first character of the word that a character stands inside."""
    first = max(0, place - _LONGEST)
    found = (each for each in _PIECE.finditer(response, first, place + _LONGEST))
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
        head = re.split(r"\s", response[max(0, start - _LONGEST) : start])[-1]
        tail = re.split(r"\s", response[end : end + _LONGEST])[0]
    if max(len(head), len(tail)) == _LONGEST:
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
        or any(unicodedata.category(char) in _PARTS for char in both)
        # "won't" is not "won".
        or (old.startswith(new) and old[len(new) : len(new) + 1] in ("'", "’"))
        or _plain(old) == _plain(new)
        or max(len(old), len(new)) > _MOST_CHARACTERS
        or _OUTSIDE.search(both)
        or _ADDRESS.search(both)
        or _UNSPACED.search(both)
        or not any(map(str.isalnum, both))
        or (_is_number(old) != _is_number(new) and new != "" and " " not in both)
    )


def _plain(text: str) -> str:
    """A text without what is a matter of taste."""
    return re.sub(r"[\s,'’`*.-]", "", text.casefold())


def _of_word(response: str, place: int, expected: str) -> Correction | None:
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
        is_apart = _is_apart(response, old.start(), old.end())
        return Correction(start=old.start(), old=old[0], new="") if is_apart else None
    # A word is missing before the old one, which would still stand there.
    if behind and (behind.startswith(old[0]) or old[0].startswith(behind)):
        return None
    # "240 kJ" may be expected to go on as "240 000 J", where no word is wrong.
    if _is_number(old[0]) != _is_number(new[0]):
        return None
    return Correction(start=old.start(), old=old[0], new=new[0])


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


def _is_whole(expected: str) -> bool:
    """True where a text that is being written has a word, and something behind it.

    >>> _is_whole(" 7."), _is_whole(" 7.5"), _is_whole(" 7 h"), _is_whole(" ***")
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
    is_number = any(map(_is_number, words))
    joined = is_number or _MARKS.findall(old[0]) == _MARKS.findall(new[0])
    plain = not _UNSPACED.search("".join(words)) and max(map(len, words)) <= _LONGEST
    return joined and plain and not same and not any(map(_is_cut, (old, new)))


def _is_cut(word: re.Match[str]) -> bool:
    """True where a word goes on with marks that are no letters, as in "_private" and in Hindi."""
    before, behind = word.string[: word.start()][-1:], word.string[word.end() :][:1]
    return "_" in (before, behind) or unicodedata.category(behind or " ") in _PARTS


def _is_number(word: str) -> bool:
    return any(map(str.isdigit, word))
