"""Style features of responses: length, layout and markup, without regard to content.

A judge's preferences can be corrected for the effect of style on human labels (`Calibration`), and
they serve as a baseline: a judge that does not beat them is worthless. "Log" is the natural
logarithm of one plus a count.
"""

import math
import re
from collections.abc import Mapping

from autoj.records import Case

STYLE_FEATURES: Mapping[str, str] = {
    "characters": "log, without the space around the text",
    "sentences": "log, stretches that end in . ! or ? (or their full-width forms)",
    "lines": "log, those that are not blank",
    "word_length": "natural logarithm of the mean letters and digits of a word; 0 without words",
    "not_ascii": "share of the characters",
    "list_items": "log, lines that begin with a bullet or a number",
    "headings_and_bold": "log, lines that begin with # and spans in **",
    "code_blocks": "log, pairs of ``` fences",
    "digits": "log",
    "question_marks": "log",
    "exclamation_marks": "log",
    "refusal": "1 where it says that it cannot, is sorry, or is an AI; else 0",
    "overlap": "share of the query's distinct words that it uses",
    "repetition": "share of its 4-grams of words that stood in it before",
    "whole_ending": "1 where it ends in punctuation, a bracket, a quote or a fence; else 0",
}
"""The features with their definitions, in the order of `style_features`."""

# Scripts without spaces between words have words of one character.
_ALONE = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_ALONE}]|[^\W{_ALONE}]+")
# Possessive: each run of marks is scanned once, however long it is.
_SENTENCE_END = re.compile(r"(?<![.!?])[.!?]++(?!\S)|[。！？]++")
_LIST_ITEM = re.compile(r"^[ \t]*+(?:[-*•+]|\d{1,3}[.)])[ \t]+\S", re.MULTILINE)
_EMPHASIS = re.compile(r"^#{1,6}[ \t]+\S|\*\*[^*\n]+\*\*", re.MULTILINE)
_REFUSAL = re.compile(
    r"\bI(?:['’]m| am) (?:sorry|unable|not able)\b|\bI (?:apologi[sz]e|cannot|can['’]t|can not)\b"
    r"|\bas an (?:AI|artificial intelligence)\b|\b(?:an|just an) AI (?:language )?model\b",
    re.IGNORECASE,
)
_WHOLE_ENDING = frozenset(""".!?:…。！？)]}"'”’*`""")


def style_features(query: str, response: str) -> tuple[float, ...]:
    r"""The style features of one response, in the order of `STYLE_FEATURES`.

    >>> found = style_features("Why?", "- So.\n- So!")
    >>> round(dict(zip(STYLE_FEATURES, found, strict=True))["lines"], 4)
    1.0986
    """
    text = response.strip()
    words, wanted = _words(text), set(_words(query))
    grams = list(zip(words, words[1:], words[2:], words[3:], strict=False))
    counts = (
        len(text),
        len(_SENTENCE_END.findall(text)),
        sum(bool(line.strip()) for line in text.splitlines()),
    )
    marks = (
        len(_LIST_ITEM.findall(text)),
        len(_EMPHASIS.findall(text)),
        text.count("```") // 2,
        sum(character.isdigit() for character in text),
        text.count("?") + text.count("？"),
        text.count("!") + text.count("！"),
    )
    return (
        *map(math.log1p, counts),
        math.log(_share(sum(map(len, words)), len(words)) or 1.0),
        _share(sum(not character.isascii() for character in text), len(text)),
        *map(math.log1p, marks),
        float(_REFUSAL.search(text) is not None),
        _share(len(wanted.intersection(words)), len(wanted)),
        1.0 - _share(len(set(grams)), len(grams)) if grams else 0.0,
        float(text[-1:] in _WHOLE_ENDING),
    )


def style_lead(case: Case, weights: Mapping[str, float]) -> float:
    """The style score of a pair's first response minus that of its second.

    Args:
        case: a pair.
        weights: weight of one unit of each feature; others weigh nothing.

    Returns:
        The difference of two weighted sums: exchanging the responses changes its sign and nothing
        else.
    """
    a, b = (style_score(case.query, response.text, weights) for response in case.responses)
    return a - b


def style_score(query: str, response: str, weights: Mapping[str, float]) -> float:
    """The weighted sum of a response's style features; features without a weight count nothing."""
    found = zip(STYLE_FEATURES, style_features(query, response), strict=True)
    return math.fsum(weights.get(name, 0.0) * value for name, value in found)


def _words(text: str) -> list[str]:
    """The words of a text, lower case."""
    return _WORD.findall(text.casefold())


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
