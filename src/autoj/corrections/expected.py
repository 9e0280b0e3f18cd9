"""The correction that follows from what was expected in a place of a response."""

from autoj.corrections.base import Correction
from autoj.corrections.phrases import correction_of_phrase, read_phrase
from autoj.corrections.words import WORD, correction_of_word, is_whole

# Articles, pronouns, "and" and forms of "be": none denies, counts, or says where or when.
_WITHOUT_CONTENT = frozenset((
    "a", "an", "the", "this", "that", "these", "those", "it", "its", "he", "him", "his", "she",
    "her", "they", "them", "their", "we", "us", "our", "you", "your", "me", "my", "there", "and",
    "so", "as", "is", "are", "was", "were", "be", "been",
))  # fmt: skip
# Of four letters and more; whoever takes such a word for an article may correct a real mistake.
_TELLING = frozenset((
    "all", "although", "because", "before", "after", "both", "cannot", "could", "double", "each",
    "either", "else", "every", "except", "from", "half", "hers", "into", "least", "less", "many",
    "mine", "more", "most", "much", "must", "neither", "never", "nobody", "none", "nothing", "once",
    "only", "other", "ours", "over", "same", "should", "some", "than", "theirs", "though", "twice",
    "under", "unless", "until", "when", "where", "while", "will", "with", "without", "would",
    "yours", "zero", "three", "four", "five", "seven", "eight", "nine", "eleven", "twelve",
    "twenty", "thirty", "forty", "fifty", "hundred", "thousand", "million",
))  # fmt: skip
_TITLES = frozenset(("dr", "miss", "mr", "mrs", "ms", "mx", "prof"))
_SHORTEST = 3
"""Letters; a shorter word may be a name of one, a mistyped article or an abbreviation."""


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
    """True where both may be said.

    So where one word without content stands for words with some, and where a name is written with
    its title and was expected without.

    >>> _is_taste(Correction(start=0, old="Kindly", new="The"))
    True
    >>> _is_taste(Correction(start=0, old="he", new="she"))
    False
    """
    old_title, new_title = (text.casefold() in _TITLES for text in (made.old, made.new))
    if old_title and not new_title:
        return True
    outside = [word for word in WORD.findall(made.old) if word.casefold() not in _WITHOUT_CONTENT]
    new = made.new if made.new.islower() else made.new[:1].lower() + made.new[1:]
    # "A" may be an answer of four, and "US" a country.
    is_plain = new in _WITHOUT_CONTENT and all(map(_has_plain_content, outside))
    return is_plain and bool(outside) and made.new != "A"


def _has_plain_content(word: str) -> bool:
    """True for a word of letters that names, says or describes something."""
    is_word = word.isalpha() and len(word) > _SHORTEST and word[1:].islower()
    return is_word and word.casefold() not in _TELLING


def goes_on_alike(response: str, place: int, expected: str) -> bool:
    """True where a text that is being written has come back to the response's own.

    >>> goes_on_alike("It has 64 desks.", 6, " 46")
    False
    >>> goes_on_alike("It has 64 desks.", 6, " 46 desks.")
    True
    """
    return read_phrase(response, place, expected) is not None
