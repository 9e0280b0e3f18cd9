"""The correction that follows from what was expected in a place of a response."""

from autoj.corrections.base import Correction
from autoj.corrections.phrases import correction_of_phrase, read_phrase
from autoj.corrections.words import WORD, correction_of_word, is_whole

# No denial, and none that says where, when or with what.
_WITHOUT_CONTENT = frozenset((
    "a", "an", "the", "this", "that", "these", "those", "it", "its", "he", "him", "his", "she",
    "her", "they", "them", "their", "we", "us", "our", "you", "your", "i", "me", "my", "who",
    "which", "there", "and", "or", "but", "so", "as", "is", "are", "was", "were", "be", "been",
    "am", "has", "have", "had", "do", "does", "did",
))  # fmt: skip


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
    phrase = read_phrase(response, place, expected)
    if phrase is not None:
        made = correction_of_phrase(response, phrase)
    else:
        made = correction_of_word(response, place, expected) if is_whole(expected) else None
    return None if made is None or _is_taste(made) else made


def _is_taste(made: Correction) -> bool:
    """True where one word without content stands for words with some: both may be said.

    >>> _is_taste(Correction(start=0, old="Kindly", new="The"))
    True
    >>> _is_taste(Correction(start=0, old="he", new="she"))
    False
    """
    old, new = (WORD.findall(text.casefold()) for text in (made.old, made.new))
    is_short = len(new) == 1 and made.new.casefold() == new[0] and new[0] in _WITHOUT_CONTENT
    return is_short and not _WITHOUT_CONTENT.issuperset(old)


def goes_on_alike(response: str, place: int, expected: str) -> bool:
    """True where a text that is being written has come back to the response's own.

    >>> goes_on_alike("It has 64 desks.", 6, " 46")
    False
    >>> goes_on_alike("It has 64 desks.", 6, " 46 desks.")
    True
    """
    return read_phrase(response, place, expected) is not None
