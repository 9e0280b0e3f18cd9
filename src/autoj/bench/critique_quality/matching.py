"""Rules that say what a critique claims about a response whose one error is known.

A sentence **names** the error where it holds one of the row's names (or the span, or what stood
there) and

1. finds fault, denies or contrasts (`verdicts.claims`), or the next sentence, beginning with
   "this", "that" or "it", claims an error of it; or
2. states what should have stood there, which the response lacks, and does not praise.

Praise alone names nothing ("it correctly says 64 desks"). A sentence that is copied from the
response, or holds a long run of its words (8, in quotation marks 16), points nowhere: repeating the
response after "this is wrong" names nothing. Names are compared in lower case; a number is not
found within another one.

A **claim** is a sentence that claims an error, or names the planted one; said again it counts once.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from autoj.bench.critique_quality.planted import PlantedError
from autoj.critiques import quotations
from autoj.verdicts.claims import Sentence, fold_text, read_sentences

_COPIED_WORDS = 8
"""Copied without quotation marks."""
_QUOTED_WORDS = 16
"""The longest span of the shipped rows has 15 words."""
_SHORT = 4
_SENTENCE = 1000
"""The most characters of a sentence that are read before a quotation."""
_WORD = re.compile(r"\w+")
_BACK_REFERENCE = re.compile(r"[\s\"'*-]*(?:this|that|it|which|both|the (?:figure|value|claim))\b")
_SUGGESTED = re.compile(
    r"(?:should|must|ought to|instead|rather|not|correct\w*|actual\w*)\b[^\"]*\Z"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The content of a critique, by rules."""

    n_claims: int
    """Sentences that claim an error."""
    n_right: int
    """Those of them that name the planted error; 0 about a clean twin."""
    n_quotations: int
    n_quotations_held: int
    """Those that stand in the response or the query."""

    @property
    def names_error(self) -> bool:
        """True where a sentence names the planted error."""
        return self.n_right > 0

    @property
    def accuses(self) -> bool:
        """True where a sentence claims an error."""
        return self.n_claims > 0


def read_planted_critique(critique: str, row: PlantedError, side: str) -> Reading:
    """The content of a critique of one of a row's two responses.

    Args:
        critique: the judge's text.
        row: the error that is known.
        side: "planted" or "clean", the response that the critique is about.
    """
    response = row.planted if side == "planted" else row.clean
    # A sentence that is said again claims nothing more.
    sentences = tuple({each.text: each for each in read_sentences(critique)}.values())
    naming = _naming(sentences, row, response) if side == "planted" else set()
    quoted = list(_quoted_of_response(critique))
    held = _flat(fold_text(f"{response}\n{row.query}"))
    return Reading(
        n_claims=sum(each.claims_error or index in naming for index, each in enumerate(sentences)),
        n_right=len(naming),
        n_quotations=len(quoted),
        n_quotations_held=sum(_flat(text) in held for text in quoted),
    )


def _naming(sentences: tuple[Sentence, ...], row: PlantedError, response: str) -> set[int]:
    """The indices of the sentences that name the error."""
    names = [_pattern(name) for name in dict.fromkeys((*row.names, row.span))]
    folded = _flat(fold_text(response))
    lacking = [
        _pattern(name)
        for name in (*row.names, row.correct)
        if name.strip()
        and _flat(fold_text(name)).strip() in _flat(fold_text(row.correct))
        and _pattern(name).search(folded) is None
    ]
    whole = _joined(response)
    copied, long_copied = _runs(response, _COPIED_WORDS), _runs(response, _QUOTED_WORDS)
    found: set[int] = set()
    for index, each in enumerate(sentences):
        text = _flat(each.text)
        if (
            _joined(text) in whole
            or _runs(each.own_words, _COPIED_WORDS) & copied
            or _runs(text, _QUOTED_WORDS) & long_copied
        ):
            continue
        states_correction = not each.praises and any(name.search(text) for name in lacking)
        is_named = states_correction or any(name.search(text) for name in names)
        if is_named and (states_correction or each.denies or _is_blamed(sentences, index)):
            found.add(index)
    return found


def _is_blamed(sentences: tuple[Sentence, ...], index: int) -> bool:
    """True where the next sentence speaks of this one and claims an error."""
    following = sentences[index + 1 : index + 2]
    return any(
        each.claims_error and _BACK_REFERENCE.match(each.text) is not None for each in following
    )


def _pattern(name: str) -> re.Pattern[str]:
    """A name as a pattern: no part of a longer number, and short words are whole words."""
    folded = _flat(fold_text(name))
    before = after = ""
    if folded[0].isdigit():
        before = r"(?<!\d)(?<!\d[.,:])"
    elif folded[0].isalpha():
        before = r"(?<![^\W\d_])"
    if folded[-1].isdigit():
        after = r"(?!\d)(?![.,:]\d)"
    elif folded[-1].isalpha() and len(folded) <= _SHORT:
        after = r"(?:s|es)?(?!\w)"
    return re.compile(before + re.escape(folded) + after)


def _flat(text: str) -> str:
    """A folded text on one line, with single spaces; a name's own edges stay."""
    return re.sub(r"\s+", " ", text)


def _runs(text: str, length: int) -> set[tuple[str, ...]]:
    """The runs of so many words in a text."""
    words = _WORD.findall(fold_text(text))
    return {tuple(words[at : at + length]) for at in range(len(words) - length + 1)}


def _joined(text: str) -> str:
    """The words of a text with a space around each."""
    return f" {' '.join(_WORD.findall(fold_text(text)))} "


def _quoted_of_response(critique: str) -> Iterator[str]:
    """A critique's quotations, without those that suggest what should have stood there."""
    folded = fold_text(critique)
    for text, start in quotations(folded):
        first = max(start - _SENTENCE, 0)
        first = max(folded.rfind(". ", first, start), folded.rfind("\n", first, start), first)
        sentence = folded[first:start]
        if _SUGGESTED.search(sentence) is None:
            yield text
