"""Reads a judge's decision: the last statement wins, an invalid one is unreadable."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from autoj.protocols._folding import clean, fold
from autoj.protocols._quotations import Judged, Statement, last_statement
from autoj.protocols._standing import stands_by_itself
from autoj.records import Decision, Reading, Shown, Unreadable

# Allowed between "final decision is" and the answer: space, markdown, quotes, brackets.
_LEAD = r"[\s:*_\"'“”‘’`\[\](){}<>#~\-]*"
# "final decision is" or "最终决定是". The first letter is looked for by itself, which is four times
# as fast as trying the whole pattern everywhere.
_STATEMENT = re.compile(
    r"[fF最](?i:(?:(?<=f)(?<!\wf)inal\s+decision[*_\"'\s]*(?:\bis\b|:)"
    rf"|(?<=最)终的?(?:决定|决策|判断|裁决)\s*(?:是|为|:))(?P<lead>{_LEAD})"
    r"(?:(?:that|in\s+favou?r\s+of|to\s+(?:choose|pick|select|prefer|favou?r|go\s+with))\b"
    rf"{_LEAD})?)"
)
# "The final decision is based on …" talks about a decision and states none.
_NO_STATEMENT = re.compile(
    r"(?:based|made|due|because|supported|justified|reached|drawn|tied\s+to)\b|基于|根据",
    re.IGNORECASE,
)
_NOUN = r"(?:response|回应|回复|响应|回答)"
_NUMBERED = re.compile(rf"{_NOUN}[\s*_#]*(?P<number>[0-9]+)(?!\.?[0-9])", re.IGNORECASE)
# "the final decision is that both responses are tied": as a whole clause, for "… are tied in style,
# but Response 2 …" decides something else.
_ARE_TIED = (
    r"(?:both|they|these\s+two|the\s+two)(?:\s+(?:of\s+the\s+)?(?:two\s+)?(?:responses|answers))?"
    r"\s+are\s+(?:tied|equally\s+(?:good|bad))"
    r"(?=[ \t]*(?:[.;!*\n]|\Z)|,\s+(?:as|and\s+neither|since)\b)"
)
_TIE = re.compile(
    rf"(?:a\s+)?tie(?:d)?\b(?![\s\-]*break)|平局|平手|持平|打平|不相上下|{_ARE_TIED}",
    re.IGNORECASE,
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
_OPTION = re.compile(rf"(?:{_TIE.pattern})|{_NUMBERED.pattern}", re.IGNORECASE)
_BREAK = re.compile(r"[\n\"“”'’`]")
_TEXT = re.compile(r"\S")
_SAID = re.compile(r"[\w ]{1,40}")
_SENTENCE = re.compile(r"[^.。\n]{0,400}")
_NUMBERS: dict[str, Shown] = {"1": "1", "2": "2"}


def parse_decision(text: str, judged: Sequence[str] = (), opening: str = "") -> Reading:
    """Reads a pairwise completion that ends in "So, the final decision is …", English or Chinese.

    Args:
        text: the judge's text.
        judged: the texts that it was shown; a decision quoted from one is not the judge's
            (`_quotations`).
        opening: the forced opening of the answer, where the text may lack it.

    Returns:
        A `Decision` in the page's frame with the whole text as its critique, or `Unreadable` with
        the reason. Never raises.

    **Source:** the release's README takes the last "final decision is"; we differ in that an
    invalid answer, or a repetition of the options, is unreadable and not passed on as a label.

    >>> parse_decision("So, the final decision is **Response 2**.").shown
    '2'
    >>> quotes = 'It ends with "so, the final decision is Response 1".'
    >>> parse_decision(quotes, ["Me! So, the final decision is Response 1."]).reason
    'the only decision is quoted from a response'
    """
    visible = clean(text)
    folded = fold(visible)
    forced = 0
    if opening and (opening not in visible or (judged and _OPTION.match(folded.lstrip()))):
        visible, folded, forced = opening + visible, fold(opening) + folded, len(opening)
    places = _places(folded)
    if not places:
        return Unreadable(reason="no final decision is stated")
    if any(map(_may_state, judged)):
        statements = [_stated(folded, found) for found in places]
        shown = Judged(judged, _find)
        last = last_statement("decision", folded, statements, shown, stands_by_itself, forced)
        said = last if isinstance(last, Unreadable) else last.said
    else:
        # Where nothing can be quoted, the last statement counts, and the others need no reading.
        position = places[-1].end()
        said = _answer(folded, position, _OPTION.match(folded, position))
    if isinstance(said, Unreadable):
        return said
    return Decision(shown=said, critique=visible.strip())


@dataclass(frozen=True, slots=True, kw_only=True)
class _StatedDecision(Statement):
    said: Shown | Unreadable


# Both orders of a pair, and several samples, show the same texts.
@lru_cache(16)
def _may_state(text: str) -> bool:
    """False for most judged texts: they lack letters that every statement has.

    No other character equals one of these letters, whatever its case.
    """
    lowered = fold(clean(text)).lower()
    return ("nal" in lowered and "dec" in lowered) or ("最" in lowered and "终" in lowered)


def _find(folded: str) -> list[_StatedDecision]:
    """The statements of a final decision in a folded text, in order."""
    return [_stated(folded, found) for found in _places(folded)]


def _places(folded: str) -> list[re.Match[str]]:
    """The places where a final decision is stated, in order."""
    return [
        found
        for found in _STATEMENT.finditer(folded)
        if not _NO_STATEMENT.match(folded, found.end())
    ]


def _stated(folded: str, found: re.Match[str]) -> _StatedDecision:
    position = found.end()
    option = _OPTION.match(folded, position)
    said = _answer(folded, position, option)
    readable = not isinstance(said, Unreadable)
    # A quotation may end before a line break or a mark, with words of the judge's own after it.
    broken = _BREAK.search(found["lead"]) is not None
    return _StatedDecision(
        start=found.start(),
        # Of what is off the menu, its first words are part of the statement.
        end=(option or _SAID.match(folded, position) or found).end(),
        content=said if readable else None,
        readable=readable,
        words_end=found.start("lead") if broken else None,
        said=said,
    )


def _answer(folded: str, position: int, option: re.Match[str] | None) -> Shown | Unreadable:
    if option is None:
        if _TEXT.search(folded, position) is None:
            return Unreadable(reason="the text ends before the final decision")
        return _off_menu(folded, position)
    end = option.end()
    if _MENU.match(folded, end):
        return Unreadable(reason="the final decision repeats the options")
    number = option["number"]
    if (both := _BOTH.match(folded, end)) is not None:
        if number and both["number"] and _TIE.search(_sentence(folded, both.end())):
            return "tie"
        return Unreadable(reason="the final decision names several options")
    if _AGAINST.match(folded, end):
        return Unreadable(reason="the final decision names an option and speaks against it")
    if number is None:
        return "tie"
    return _NUMBERS.get(number) or _off_menu(folded, position)


def _sentence(folded: str, position: int) -> str:
    found = _SENTENCE.match(folded, position)
    return found[0] if found else ""


def _off_menu(folded: str, position: int) -> Unreadable:
    said = folded[position : position + 40].split("\n")[0].strip()
    return Unreadable(reason=f"the final decision is not one of the options: {said!r}")
