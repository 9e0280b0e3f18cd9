"""Names of factors: those that say something, and those that only say that a factor follows."""

import re
from collections.abc import Iterable

from autoj.critiques import Language

_UNNAMED: dict[Language, str] = {"en": "overall", "zh": "整体"}
_GENERIC = re.compile(
    r"\b(?:factors?|criteri\w+|comparison|compar\w+|assess\w*|analysis|conclusion|decision|verdict|"
    r"summary|evaluation|judge?ment|review|overall|differences?|considerations?|points?)\b"
    r"|因素|标准|比较|分析|结论|决定|总结|评估",
    re.IGNORECASE,
)
# "Factor 1: depth": the name is what follows.
_LABEL = re.compile(
    r"(?:key |main |distinguishing )?(?:factor|criterion|aspect|point|difference|dimension)"
    r"(?: name)?\s*#?[0-9]{0,2}",
    re.IGNORECASE,
)
_MARKUP = re.compile(r"\*\*|__|`(?=[^`]*`)|(?<=[^`])`")
_MOST_WORDS = 8
_ENDS = (".", "!", "?", ";", ":", ",", "。", "！", "？", "；", "：")


def unnamed(language: Language) -> str:
    """The name of a factor that has none."""
    return _UNNAMED[language]


def is_generic(name: str) -> bool:
    """True for a heading such as "Key differences", which is no factor's name."""
    return _GENERIC.search(name) is not None


def is_label(name: str) -> bool:
    """True for a word that announces a factor, such as "Factor 2"."""
    return _LABEL.fullmatch(name) is not None


def is_name(text: str) -> bool:
    """True for a text that can be the name of a factor: a few words and no sentence."""
    return len(text.split()) <= _MOST_WORDS and not text.endswith((".", "!", "?", "。"))


def flat(text: str) -> str:
    """A text on one line, without emphasis."""
    return " ".join(_MARKUP.sub("", text).split())


def joined(texts: Iterable[str]) -> str:
    """Texts one behind the other, with a semicolon where one ends without a mark."""
    whole = ""
    for text in texts:
        gap = " " if not whole or whole.endswith(_ENDS) else "; "
        whole += (gap if whole else "") + text
    return whole
