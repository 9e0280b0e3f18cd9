"""Recognises a statement that stands by itself in an answer, as a verdict does.

It begins a line, with nothing before it but words that open a verdict ("So, the …", "My …"). Before
that line there is prose of the judge's own, or nothing: some judges write their verdict first, or
nothing else. It is not in quotation marks, in a block quote or in code; it
is not introduced ("Response 1 says:", a heading or tag that names a response) or attributed
afterwards; and the text around it is not the text around it in a judged text, which would make it
part of a longer quotation. An answer that is a judged text word for word is a copy of it.
"""

import re

from autoj.protocols._quotations import Judged, Statement, words

# Characters of an answer that are looked at, before and after a statement.
_LINE, _NEARBY = 300, 600
# Words that are compared with a judged text.
_BEFORE, _AFTER = 8, 6
_FEWEST_WORDS = 3
"""Words that say something: fewer may stand in any text."""

_OPENING = re.compile(
    r"[\s*_#.–—•0-9-]{0,12}"
    r"(?:(?:\b(?:so|therefore|thus|hence|overall|accordingly|consequently|finally|in|to|sum|up"
    r"|summary|conclusion|conclude|my|the|a|an|is|final|verdict|decision|rating|score|choice"
    r"|assessment|judge?ment|evaluation|result|i|would|will|give|rate|score|assign|choose|pick"
    r"|select|grade|it|this|that|response|answer|of|as|for|and|option)\b"
    r"|所以|因此|因而|综上|所述|总之|最终|最后|总体|我|的|是|为|给出|认为|评分|打分|评级|得分|选项|选择|答案)"
    r"[\s*_,:=，、–—-]{0,6}){0,14}",
    re.IGNORECASE,
)
_HEADING = re.compile(
    r"[\s*_#.0-9()=\[–—-]{0,12}"
    r"(?:(?:\b(?:the|my|final|overall|decision|verdict|rating|score|conclusion|summary|assessment"
    r"|judge?ment|evaluation|result|and|statement)\b"
    r"|最终|最后|总体|决定|决策|判断|裁决|评分|打分|评级|结论|总结|评价|的)[\s*_]{0,4}){1,6}"
    r"[\s*_#:.=\]–—-]{0,12}",
    re.IGNORECASE,
)
_SPEECH = (
    r"(?:says?|said|saying|stat(?:es?|ed|ing)|writ(?:es?|ing|ten)|wrote|reads?|claims?|claimed|ends?|ended|closes?"
    r"|concludes?|concluded|contains?|includes?|quotes?|quoted?|quotation|asserts?|declares?|adds?"
    r"|inserts?|repeats?|prints?|outputs?|follows?|following|verbatim|line|sentence|text|words)"
)
# At the end of a line: a colon or an opening mark, or a verb without its object; with a full stop
# only words that point ahead, since "… easier to follow." is prose.
_INTRODUCTION = re.compile(
    rf"(?:[:>\"“‘「『«`\[{{(|=]|\s'|\b{_SPEECH}(?:\s(?:this|that|thus|with|in|by|as|the|is))?[\s,*_…–—-]*"
    r"|\b(?:as\sfollows|the\sfollowing(?:\s\w{1,12})?|th(?:is|ese)\s(?:line|sentence|text|words))"
    r"[\s.*_]*|(?:说|写道|声称|写着|结尾|原文|引用|如下|表示|称)[\s*_。,…—]*)\Z",
    re.IGNORECASE,
)
_SOURCE = re.compile(
    r"[\s#*_\[(<=-]{0,8}(?:(?:the|end|of|begin|from|model|text)\s){0,3}"
    r"(?:responses?|assistant|answer|feedback|critique|user|query|question|reference|回应|回复|回答"
    r"|反馈|问题)[\s#*_]{0,3}[0-9a-c]?(?:\s?[(\[][^()\[\]]{0,30}[)\]])?[\s*_\])>.=-]{0,8}",
    re.IGNORECASE,
)
_ATTRIBUTION = re.compile(
    r"[\s.,*_。!\"”’»`)\]]{0,8}"
    r"(?:[(\[]\s?(?:from|quot|source|sic|according|copied|cited|as\b|response|assistant|in\b)"
    r"|[–—-]{1,2}\s?(?:response|assistant|the\b|from\b)|(?:is|was|are|were)\s"
    r"(?:what|the\s(?:text|line|sentence|words)|a\squot|quot|from\b|in\b|taken|copied|part\sof|written)"
    rf"|{_SPEECH}\b|according\sto|(?:this|that|these|the\s(?:line|sentence|text|words))\b.{{0,30}}"
    rf"\b(?:{_SPEECH}|is\swhat|is\sfrom|comes?\sfrom|quot\w*|taken)\b"
    r"|(?:这|以上|上面).{0,12}(?:引用|原文|所说|说的|写的))",
    re.IGNORECASE,
)
_QUOTES = re.compile(r"[\"“”„«»「」『』`]")
_CLOSING = re.compile(r"[\s.*_。!]{0,6}(?:[\"”’»`」』]|</)")
_PASSAGE_START = re.compile(r"\s+['‘]?|>")
_SEGMENT = re.compile(r"[.!?。:;\"“”]")
_FENCE = re.compile(r"```|~~~")
_SENTENCE_GAP = re.compile(r"(?<=[.!?。])\s+")


def stands_by_itself(folded: str, statement: Statement, judged: Judged) -> bool:
    """True where a statement that a judged text holds is a verdict of the judge's own by its place.

    Args:
        folded: the judge's text.
        statement: one of its statements.
        judged: the texts that the judge was shown.
    """
    begin = _line_start(folded, statement)
    return _is_free(folded, begin, folded[begin : statement.end], judged) and _is_on_its_own_line(
        folded, statement, judged
    )


def _line_start(folded: str, statement: Statement) -> int:
    return folded.rfind("\n", max(0, statement.start - _LINE), statement.start) + 1


def _is_on_its_own_line(folded: str, statement: Statement, judged: Judged) -> bool:
    """True where it begins a line, in no quotation that marks or the text around it show."""
    begin, after = _line_start(folded, statement), folded[statement.end : statement.end + _LINE]
    return (
        _OPENING.fullmatch(folded, begin, statement.start) is not None
        and _ATTRIBUTION.match(after) is None
        and not _goes_on(folded[statement.start : statement.end], after, judged)
        and not _is_marked(folded, statement, after)
    )


def _is_marked(folded: str, statement: Statement, after: str) -> bool:
    """True in quotation marks that are closed after the statement, and in fenced code."""
    stated = folded[statement.start : statement.end]
    marks = _QUOTES.findall(stated)
    if len(marks) % 2 or "</" in stated or (not marks and _CLOSING.match(after)):
        return True
    # Fences are counted in a bounded part: an answer of thousands of them is no verdict.
    fences = _FENCE.findall(folded, max(0, statement.start - 20_000), statement.start)
    return len(fences) % 2 == 1


def _is_free(folded: str, begin: int, line: str, judged: Judged) -> bool:
    """True where what precedes a line, headings aside, does not make it part of a quotation."""
    lines = [kept for kept in folded[max(0, begin - _NEARBY) : begin].split("\n") if kept.strip()]
    while lines and _HEADING.fullmatch(lines[-1]):
        line = f"{lines.pop()}\n{line}"
    if not lines:
        return begin <= _NEARBY and not judged.has_copy(folded)
    last = lines[-1].strip()
    if (
        last[:1] in {">", "|"}
        or _INTRODUCTION.search(last)
        or _SOURCE.fullmatch(_SENTENCE_GAP.split(last)[-1])
    ):
        return False
    said = words(last).split()[-_BEFORE:]
    if len(said) >= _FEWEST_WORDS and judged.holds(_joined(said)):
        return False
    return not _is_within_a_passage(last, line, judged)


def _is_within_a_passage(before: str, line: str, judged: Judged) -> bool:
    """True where the end of the line before, as a sentence or introduced, precedes it elsewhere."""
    stated = words(line).strip()
    segments = [kept for piece in _SEGMENT.split(before) if (kept := words(piece).strip())]
    if not segments or judged.holds(_joined([segments[-1], stated])):
        return True
    starts = [found.end() for found in _PASSAGE_START.finditer(before)][-_BEFORE:]
    return any(
        _INTRODUCTION.search(before[:start].rstrip())
        and judged.holds(_joined([words(before[start:]).strip(), stated]))
        for start in starts
    )


def _goes_on(stated: str, after: str, judged: Judged) -> bool:
    """True where a judged text goes on after the statement with the same words."""
    following = words(after).split()[:_AFTER]
    return bool(following) and judged.holds(_joined([words(stated).strip(), *following]))


def _joined(parts: list[str]) -> str:
    return f" {' '.join(parts)} "
