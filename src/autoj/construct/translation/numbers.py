"""Numbers of a text that its translation lacks, whatever words write them.

Chinese counts in ten thousands ("1.5 million" is 150万), and both languages write small numbers in
words and months by number or by name; a number is kept where its value is there in any of these.
"""

import re
import unicodedata
from collections.abc import Iterator
from decimal import Decimal

_DIGITS = re.compile(
    r"(?<![0-9])(?P<number>[0-9]+(?:,[0-9]{3})*(?![0-9])(?:\.[0-9]+)*|[0-9]+(?:\.[0-9]+)*)"
    r"(?:[ \t-]?(?P<unit>hundred|thousand|million|billion|trillion|百万|千万|百|千|万|亿|bn|k|m|b)"
    r"(?![A-Za-z])|(?P<decade>s\b))?",
    re.IGNORECASE,
)
_UNITS = {
    "hundred": 10**2, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12,
    "百": 10**2, "千": 10**3, "万": 10**4, "百万": 10**6, "千万": 10**7, "亿": 10**8,
    "k": 10**3, "m": 10**6, "b": 10**9, "bn": 10**9,
}  # fmt: skip
_HAN = re.compile(r"[零〇一二两三四五六七八九十百千]+")
_HAN_DIGITS = {digit: value for value, digit in enumerate("零一二三四五六七八九")} | {
    "〇": 0, "两": 2,
}  # fmt: skip
_HAN_UNITS = {"十": 10, "百": 100, "千": 1000}
_WORD = re.compile(r"[a-z]+")
_WORDS = {
    word: value
    for value, words in enumerate(
        (
            "zero", "one first once january jan", "two second twice february feb",
            "three third march mar", "four fourth april apr", "five fifth may",
            "six sixth june jun", "seven seventh july jul", "eight eighth august aug",
            "nine ninth september sep sept", "ten tenth october oct",
            "eleven eleventh november nov", "twelve twelfth december dec", "thirteen", "fourteen",
            "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty",
        )
    )
    for word in words.split()
} | {"thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80,
     "ninety": 90, "hundred": 100}  # fmt: skip


def missing_numbers(text: str, translation: str) -> list[str]:
    """The numbers in digits of a text whose value its translation has nowhere, in order.

    >>> missing_numbers("In 1990 it was 1.5 million, or 3%.", "1990年是150万。")
    ['3']
    """
    there = {value for values, _ in _in_digits(translation) for value in values}
    there.update(_in_words(translation))
    found = dict.fromkeys(written for values, written in _in_digits(text) if not values & there)
    return list(found)


def _in_digits(text: str) -> Iterator[tuple[set[str], str]]:
    """Each number with the values that it may have, and how it is written."""
    plain = unicodedata.normalize("NFKC", text)
    for found in _DIGITS.finditer(plain):
        written = found["number"]
        bare = written.replace(",", "")
        if bare.count(".") > 1:  # a version, an address
            yield {bare}, written
            continue
        values = {_value(Decimal(bare))}
        if found["unit"] is not None:
            values.add(_value(Decimal(bare) * _UNITS[found["unit"].lower()]))
        if found["decade"] is not None and bare.isdigit():  # the 1980s are 80年代, too
            values.add(_value(Decimal(bare[-2:])))
        yield values, written


def _in_words(text: str) -> Iterator[str]:
    """The values of numbers that are written in words."""
    for found in _HAN.finditer(text):
        yield from _han_values(found[0])
    for word in _WORD.findall(text.lower()):
        if word in _WORDS:
            yield str(_WORDS[word])


def _han_values(numeral: str) -> Iterator[str]:
    """The value of a Chinese numeral: its digits in a row, or with tens, hundreds and thousands."""
    if not any(unit in numeral for unit in _HAN_UNITS):
        yield "".join(str(_HAN_DIGITS[digit]) for digit in numeral).lstrip("0") or "0"
        return
    total, digit = 0, None
    for sign in numeral:
        if sign in _HAN_DIGITS:
            digit = _HAN_DIGITS[sign]
        else:
            total += (1 if digit is None else digit) * _HAN_UNITS[sign]
            digit = None
    yield str(total + (digit or 0))


def _value(number: Decimal) -> str:
    """A number in one spelling."""
    return f"{number.normalize():f}"
