"""The correction that follows from what was expected in a place of a response."""

from autoj.corrections.base import Correction
from autoj.corrections.phrases import correction_of_phrase, read_phrase
from autoj.corrections.words import correction_of_word, is_whole


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
        return correction_of_phrase(response, phrase)
    return correction_of_word(response, place, expected) if is_whole(expected) else None


def goes_on_alike(response: str, place: int, expected: str) -> bool:
    """True where a text that is being written has come back to the response's own.

    >>> goes_on_alike("It has 64 desks.", 6, " 46")
    False
    >>> goes_on_alike("It has 64 desks.", 6, " 46 desks.")
    True
    """
    return read_phrase(response, place, expected) is not None
