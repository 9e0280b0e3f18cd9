"""Reads a judge's decision: the last statement wins, an invalid one is unreadable."""

from __future__ import annotations

import re

from autoj.protocols._folding import clean, fold
from autoj.records import Decision, Reading, Shown, Unreadable

__all__ = ["parse_decision"]

# Allowed between "final decision is" and the answer: space, markdown, quotes, brackets.
_LEAD = r"[\s:*_\"'“”‘’`\[\](){}<>#~\-]*"
_STATEMENT = re.compile(
    rf"(?:\bfinal\s+decision[*_\"'\s]*(?:\bis\b|:)|最终的?(?:决定|决策|判断|裁决)\s*(?:是|为|:)){_LEAD}"
    rf"(?:(?:that|in\s+favou?r\s+of)\b{_LEAD})?",
    re.IGNORECASE,
)
# "The final decision is based on …" talks about a decision and states none.
_NO_STATEMENT = re.compile(
    r"(?:based|made|due|because|supported|justified|reached|drawn|tied\s+to)\b|基于|根据",
    re.IGNORECASE,
)
_NOUN = r"(?:response|回应|回复|响应|回答)"
_NUMBERED = re.compile(rf"{_NOUN}[\s*_#]*(?P<number>[0-9]+)(?!\.?[0-9])", re.IGNORECASE)
_TIE = re.compile(
    r"(?:a\s+)?tie(?:d)?\b(?![\s\-]*break)|平局|平手|持平|打平|不相上下", re.IGNORECASE
)
# Allowed between an option and the next word; bounded, so that no text is slow to read.
_GAP = r"[\s*_\"'“”‘’`\])]{0,8}"
_MENU = re.compile(
    rf"{_GAP}(?:[/|]|\bor\b|或|还是"
    rf"|[,、][\s*_\"'“”‘’`\[(]{{0,8}}{_NOUN}[\s*_#]{{0,8}}2{_GAP}[,、/|]?\s{{0,4}}(?:or|and|或|和)?"
    rf"[\s*_\"'“”‘’`\[(]{{0,8}}(?:a\s)?(?:tie\b|平局))",
    re.IGNORECASE,
)
_BOTH = re.compile(
    rf"{_GAP}(?:and\b|&|和|与|跟|=|≈|vs\b\.?|versus\b)[\s*_\"'“‘`\[(=]{{0,8}}"
    rf"(?:{_NOUN}?[\s*_#]{{0,8}}(?P<number>[12])(?!\.?[0-9])|tie\b|平局)",
    re.IGNORECASE,
)
_AGAINST = re.compile(
    rf"{_GAP}(?:\b(?:is\s+(?:not|worse|inferior|less)|(?:isn|doesn|can|shouldn)['’]t|cannot"
    r"|(?:does|should)\s+not|loses|lost|falls\s+short|fails)\b"
    r"|不(?:如|及|是|好|佳)|(?:较|更|稍|略|最|很)?(?:差|劣|逊|糟)|比[^。,\n]{0,8}(?:差|劣|逊|糟))",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[^.。\n]*")
_NUMBERS: dict[str, Shown] = {"1": "1", "2": "2"}


def parse_decision(text: str) -> Reading:
    """Reads a pairwise completion that ends in "So, the final decision is …", English or Chinese.

    Args:
        text: the judge's text.

    Returns:
        A `Decision` in the page's frame with the whole text as its critique, or `Unreadable` with
        the reason. Never raises.

    **Source:** the release's README takes the last "final decision is"; we differ in that an
    invalid answer, or a repetition of the options, is unreadable and not passed on as a label.

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
    tied = _TIE.match(folded, position)
    numbered = _NUMBERED.match(folded, position)
    option = tied or numbered
    if option is None:
        return _off_menu(folded, position)
    end = option.end()
    if _MENU.match(folded, end):
        return Unreadable(reason="the final decision repeats the options")
    if (both := _BOTH.match(folded, end)) is not None:
        if numbered and both["number"] and _TIE.search(_sentence(folded, both.end())):
            return "tie"
        return Unreadable(reason="the final decision names several options")
    if _AGAINST.match(folded, end):
        return Unreadable(reason="the final decision names an option and speaks against it")
    if numbered is None:
        return "tie"
    return _NUMBERS.get(numbered["number"]) or _off_menu(folded, position)


def _sentence(folded: str, position: int) -> str:
    found = _SENTENCE.match(folded, position)
    return found[0] if found else ""


def _off_menu(folded: str, position: int) -> Unreadable:
    said = folded[position : position + 40].split("\n")[0].strip()
    return Unreadable(reason=f"the final decision is not one of the options: {said!r}")
