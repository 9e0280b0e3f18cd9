"""Checks of a translation beside its text; each fault has a name that a stage counts.

The bounds are those of the release's own translation from English (960 queries, responses and
judgments of its training data, GPT-3.5): a wider band, so that it drops what no translation is, and
not an unusual one.
"""

import re
from typing import TypeAlias

from autoj.construct.languages import Identify
from autoj.construct.translation.code import fenced_code, set_aside
from autoj.construct.translation.numbers import missing_numbers
from autoj.critiques import Language

Fault: TypeAlias = tuple[str, str | None]
"""The reason for which a row is dropped, with details."""

SHORTEST, LONGEST = 0.15, 1.3
"""Characters of a Chinese text to those of the English one, without code; all but one in a hundred
of the release's are between 0.19 and 1.0."""
SHORT, LONG = 0.24, 0.52
"""Nine in ten of the release's are between these; one that is shorter and has lost lines, too, has
lost words."""
_SLACK = 12
"""Characters by which a short text may be out of these bounds."""
_LEAST_LINES = 0.6
"""Lines with words to those of the text; all but one in 40 of the release's have 0.8 or more. Those
that have fewer and not fewer words are of a text whose lines were broken at a width."""
_SHORT, _LONG = 20, 160
"""Letters: of fewer than the first, the script alone tells the language; of more than the second,
both halves of the text are identified."""
_ADDRESS = re.compile(r"(?:https?://|www\.)[^\s<>()\[\]{}\"'`，。；、！？）】》”’]+", re.IGNORECASE)
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_OTHER_EAST_ASIAN = re.compile(r"[\u3040-\u30ff\uac00-\ud7af]")
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]")
# The words of a verdict may stand without a stop.
_ENDS = re.compile(
    r"(?:[.!?。！？…:：;；)）\]】\"”'’」』》*_~>|`⟧]|回应[12]|平局|\bResponse [12]|\bTie)\s*\Z"
)
_DECLINES = re.compile(
    r"\A\W*(?:(?:很|非常|十分)?(?:抱歉|对不起|遗憾)|不好意思|我(?:无法|不能|没有办法)"
    r"|作为(?:一个|一名|一款)?(?:AI|人工智能|语言模型)"
    r"|(?:I'?m |I am |We are )?(?:very |so )?sorry\b|I (?:cannot|can't|can not|am unable|won't)"
    r"|I apologi[sz]e|Unfortunately, I|As an? (?:AI|language model))",
    re.IGNORECASE,
)
# A text that may well begin its translation with words of refusal.
_MAY_DECLINE = re.compile(
    r"sorry|apolog|unable|not able|cannot|can't|can’t|don't|don’t|do not|won't|unfortunately|regret"
    r"|\bAI\b|language model|抱歉|对不起|遗憾|不好意思|无法|不能|没有|人工智能|语言模型",
    re.IGNORECASE,
)
_ASKS = re.compile(r"[?？]")
_OPENING = 160
"""The characters of a text that its translation's first words are of."""


def has_words(text: str, to: Language) -> bool:
    """True where a text has words that a translation would change.

    >>> has_words("42", "zh"), has_words("Paris", "zh"), has_words("巴黎", "zh")
    (False, True, False)
    """
    prose = _prose(text)
    if to == "en":
        return any(letter.isalpha() and not _LATIN.match(letter) for letter in prose)
    return any(letter.isalpha() and not _HAN.match(letter) for letter in prose)


def reply_fault(text: str, translation: str, to: Language, identify: Identify) -> Fault | None:
    """The reason for which a reply is no translation of a text, with details; None for one that is.

    Args:
        text: the original, with words to translate.
        translation: with its code put back.
        to: the language that was asked for.
        identify: identifies languages.
    """
    prose, translated = _prose(text), _prose(translation)
    if _DECLINES.match(translation) and not _MAY_DECLINE.search(text, 0, _OPENING):
        return "refused", None
    if _bare(prose) == _bare(translated):
        return "not translated", None
    if (language := _other_language(translated, to, identify)) is not None:
        return "reply in another language", language
    if _ASKS.search(prose) and not _ASKS.search(translated):
        # All 494 texts of the release that ask something do so in its translation, too.
        return "answered", "the text has a question mark"
    return _length_fault(prose, translated, to) or _ending_fault(prose, translated)


def kept_fault(text: str, translation: str) -> Fault | None:
    """The fault of a translation that changes what none may change: code, addresses and numbers.

    Args:
        text: the original.
        translation: with its code put back.
    """
    if fenced_code(text) != fenced_code(translation):
        return "code changed", None
    lost = [address for address in _addresses(text) if address not in translation]
    if lost:
        return "addresses changed", lost[0]
    if missing := missing_numbers(_prose(text), _prose(translation)):
        return "numbers changed", f"{', '.join(missing[:5])} not found"
    return None


def _prose(text: str) -> str:
    """A text without code and addresses."""
    return _ADDRESS.sub(" ", set_aside(text).text)


def _bare(text: str) -> str:
    return "".join(text.casefold().split())


def _other_language(prose: str, to: Language, identify: Identify) -> str | None:
    """The language of a text that is not in the wanted one; None where it is."""
    letters = sum(character.isalpha() for character in prose)
    if letters >= _SHORT:
        # A weak translator may fall back into the language of the text halfway.
        middle = len(prose) // 2
        parts = (prose[:middle], prose[middle:]) if letters >= _LONG else (prose,)
        found = [identify(part) for part in parts]
        return next((f"{code} ({sure:.2f})" for code, sure in found if code != to), None)
    wanted = _HAN if to == "zh" else _LATIN
    if _OTHER_EAST_ASIAN.search(prose) or not wanted.search(prose):
        return "another script"
    return None


def _length_fault(prose: str, translated: str, to: Language) -> Fault | None:
    n_text, n_translated = len(prose.strip()), len(translated.strip())
    least, low, most = (SHORTEST, SHORT, LONGEST)
    if to == "en":
        least, low, most = 1 / LONGEST, 1 / LONG, 1 / SHORTEST
    ratio = f"{n_translated:,} characters for {n_text:,}"
    if n_translated < least * n_text - _SLACK:
        return "too short for a translation", ratio
    if n_translated > most * n_text + _SLACK:
        return "too long for a translation", ratio
    n_lines, n_kept = _n_lines(prose), _n_lines(translated)
    if n_kept < _LEAST_LINES * n_lines and n_translated < low * n_text - _SLACK:
        return "too short for a translation", f"{n_kept:,} lines for {n_lines:,}, {ratio}"
    return None


def _n_lines(text: str) -> int:
    return sum(bool(line.strip()) for line in text.split("\n"))


def _ending_fault(prose: str, translated: str) -> Fault | None:
    """The fault of a translation that stops within a sentence, where its text does not."""
    if _ENDS.search(prose) and not _ENDS.search(translated):
        return "cut off", f"it ends with {translated.strip()[-12:]!r}"
    return None


def _addresses(text: str) -> list[str]:
    return [found.rstrip(".,;:!?*_") for found in _ADDRESS.findall(set_aside(text).text)]
