"""Read which response a judge decided for: the last statement wins, off the menu is unreadable."""

from __future__ import annotations

import re

from autoj.protocols._folding import clean, fold
from autoj.records import Decision, Reading, Shown, Unreadable

__all__ = ["parse_decision"]

# What may stand between "final decision is" and the answer: space, markdown, quotes, brackets.
_LEAD = r"[\s:*_\"'“”‘’`\[\](){}<>#~\-]*"
_STATEMENT = re.compile(
    rf"(?:\bfinal\s+decision[*_\"'\s]*(?:\bis\b|:)|最终的?(?:决定|决策|判断|裁决)\s*(?:是|为|:)){_LEAD}"
    rf"(?:(?:that|in\s+favou?r\s+of)\b{_LEAD})?",
    re.IGNORECASE,
)
# "The final decision is based on …" talks about a decision and states none.
_NO_STATEMENT = re.compile(
    r"(?:based|made|due|because|supported|justified|reached|drawn)\b|基于|根据", re.IGNORECASE
)
_NUMBERED = re.compile(
    r"(?:response|回应|回复|响应|回答)[\s*_#]*(?P<number>[0-9]+)(?!\.?[0-9])", re.IGNORECASE
)
_TIE = re.compile(r"(?:a\s+)?tie(?:d)?\b|平局|平手|持平|打平", re.IGNORECASE)
_MENU = re.compile(
    r"[\s*_\"'\])]*(?:/|\bor\b|或|,\s*(?:response|回应)\s*2\s*,?\s*(?:or|and|/|或)?\s*(?:tie|平局))",
    re.IGNORECASE,
)
_BOTH = re.compile(
    r"\s*(?:and|&|和|与)\s*(?:response|回应|回复|响应|回答)?\s*[12]\b", re.IGNORECASE
)
_AGAINST = re.compile(r"\s+is\s+(?:not\b|worse\b|inferior\b|less\b)", re.IGNORECASE)
_SENTENCE = re.compile(r"[^.。\n]*")
_NUMBERS: dict[str, Shown] = {"1": "1", "2": "2"}


def parse_decision(text: str) -> Reading:
    """Read a pairwise completion that ends in "So, the final decision is …", English or Chinese.

    Args:
        text: what the judge wrote.

    Returns:
        A `Decision` in the page's frame with the whole text as its critique, or `Unreadable` with
        the reason. Never raises.

    **Source:** the release's README takes the last "final decision is"; we differ in that an answer
    off the menu, or the menu itself, is unreadable and not passed on as a label.

    >>> parse_decision("So, the final decision is **Response 2**.").shown
    '2'
    """
    visible = clean(text)
    folded = fold(visible)
    statements = [
        found
        for found in _STATEMENT.finditer(folded)
        if not _NO_STATEMENT.match(folded, found.end())
    ]
    if not statements:
        return Unreadable(reason="no final decision is stated")
    answer = _answer(folded, statements[-1].end())
    if isinstance(answer, Unreadable):
        return answer
    return Decision(shown=answer, critique=visible.strip())


def _answer(folded: str, position: int) -> Shown | Unreadable:
    if not folded[position:].strip():
        return Unreadable(reason="the text ends before the final decision")
    if _TIE.match(folded, position):
        return "tie"
    numbered = _NUMBERED.match(folded, position)
    if numbered is None:
        return _off_menu(folded, position)
    end = numbered.end()
    if _MENU.match(folded, end):
        return Unreadable(reason="the final decision repeats the menu")
    if _BOTH.match(folded, end):
        tied = _TIE.search(_sentence(folded, end))
        return "tie" if tied else Unreadable(reason="the final decision names both responses")
    if _AGAINST.match(folded, end):
        return Unreadable(reason="the final decision names a response and speaks against it")
    return _NUMBERS.get(numbered["number"]) or _off_menu(folded, position)


def _sentence(folded: str, position: int) -> str:
    found = _SENTENCE.match(folded, position)
    return found[0] if found else ""


def _off_menu(folded: str, position: int) -> Unreadable:
    said = folded[position : position + 40].split("\n")[0].strip()
    return Unreadable(reason=f"the final decision is off the menu: {said!r}")
