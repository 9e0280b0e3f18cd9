"""Quotations of a critique, and those that stand in nothing that it was written about.

A quotation counts where the words before it, at most 200 characters of its sentence and behind the
name of a point ("- Correctness: …"), say that somebody wrote it ('it states "…"', 'the word "…"').
It is passed over where they also deny, correct or suggest something ('it would be better to write
"…"'), whatever that is about, and where 100 characters behind it imagine something ("… would have
helped").

Texts are compared by whole words: letter case, spaces, punctuation, markdown and the endings of
words ("go" for "going") do not matter, and of a quotation with an ellipsis or an insertion in
brackets ("It begins … [so] it ends") each piece is looked for, unless it stands there as it is. A
piece of five words and more may be inexact: of its neighbours most stand there as neighbours, and
all of numbers in digits and negations; none of these stands there where the piece leaves it out.

So it misses one word, words in a sentence that denies something else, what stands in another text
than the one it is said to be from, words in another order where most neighbours are left, and
numbers in words ("ten" for "twelve"). It takes a true quotation for an invented one where more
than two fifths of the neighbours were changed, or the text was translated.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise, product

from autoj.critiques import Quoted, quotations
from autoj.verdicts.claims import Sentence, fold_text, read_sentences

# What is shorter keeps its distance ("helpful") or is in any text ("at least").
_LEAST_WORDS, _LEAST_CHARACTERS, _LEAST_HAN = 2, 10, 6
_INEXACT_WORDS, _INEXACT_SHARE = 5, 0.6
# A critique may be one sentence of 100,000 characters with a quotation in every ten.
_MOST_BEFORE, _MOST_BEHIND = 200, 100
# Scripts without spaces are compared character by character.
_HAN = "\u3040-\u30ff\u3400-\u9fff"
_IS_HAN = re.compile(f"[{_HAN}]")
_WORD = re.compile(rf"[{_HAN}]|[^\W\d_{_HAN}]+|\d+")
# "Go shopping" may stand for "going shopping", but "noted" is not "not".
_ENDING = re.compile(r"(?:(?<=[a-z]{2})(?<!\bnot)(?:ing|e?d|e?s)|(?<=[a-z]{4})e)(?![a-z])")
_NOT = re.compile(r"\bcan(?:not|'t)\b|n't\b")
# These decide what a sentence says, so an inexact quotation has them exactly.
_EXACT = re.compile(r"\d+|not|no|never|nor|none|without|[不没未]")
_REACH = 3
_GAP = re.compile(r"\.{3,}|…+|\[[^\]\n]{0,40}\]")
_SAID = re.compile(
    r"\b(?:says?|said|saying|states?|stated|stating|mention(?:s|ed|ing)?|uses?|used|using|writes?"
    r"|wrote|writing|written|claim(?:s|ed|ing)?|reads?|quot(?:es?|ed|ing)|beg(?:ins?|an|inning)"
    r"|starts?|started|starting|ends?|ended|ending|includ(?:es?|ed|ing)|contain(?:s|ed|ing)?"
    r"|has|have|had|having|repeat(?:s|ed|ing)?|names?|named|naming|answer(?:s|ed|ing)|ask(?:s|ed"
    r"|ing)|add(?:s|ed|ing)|gives?|gave|giving|assert(?:s|ed|ing|ions?)?|repl(?:y|ies|ied)"
    r"|phras(?:es?|ing)|words?|terms?|lines?|sentences?|headings?|statements?|passages?|expressions?"
    r"|quotations?)\b|说|写|提到|使用|指出|称|用了|句|词"
)
_UNSAID = re.compile(
    r"\b(?:should|must|ought|instead|rather|not|never|nor|without|correct\w*|actual\w*|original\w*"
    r"|fail\w*|omit\w*|lack\w*|miss(?:es|ed|ing)?|absen\w+|better|would|could|might|may|can|needs?"
    r"|suggest\w*|consider|replac\w+|rephras\w+|improv\w+|benefi\w+|translat\w+|mean(?:s|t|ing)?"
    r"|akin|equivalent|ideal\w*|(?:an?|with|us(?:e|es|ed|ing)|some) more|clearer|simpler|shorter"
    r"|avoid\w*)\b|n't\b|没有|未|应该|应当|不|建议|改为|可以|更|例如"
)
# "- Correctness: it says …": the name of a point is not about what stands behind it.
_POINT = re.compile(r"\s*[-*•–]\s+[^:.!?\n]{1,60}:\s")
_IMAGINED = re.compile(r"\b(?:would|(?:could|might|can) (?:have|help|make|add|improve|also))\b")


def stands_in(quotation: str, texts: Sequence[str]) -> bool:
    """True where each piece of a quotation stands in one of the texts; without a word it does not.

    >>> stands_in("the lake … froze", ["**The lake** was deep and soon froze over."])
    True
    """
    return Quotable(texts).has(quotation)


def invented_quotations(critique: str, texts: Sequence[str]) -> list[str]:
    """The quotations of a critique that stand in none of the texts, folded, each once, in order.

    One word, fewer than 10 characters, or fewer than 6 Chinese ones are no quotation here.

    Args:
        critique: a judge's text.
        texts: all that it may quote: the query, the responses, earlier turns, a reference.

    >>> invented_quotations('It says "the lake is frozen", which is "helpful".', ["The lake."])
    ['the lake is frozen']
    """
    written = Quotable(texts)
    said = dict.fromkeys(each.text for _, each in said_quotations(critique))
    return [text for text in said if not written.has(text)]


def said_quotations(critique: str) -> Iterator[tuple[Sentence, Quoted]]:
    """The quotations that somebody is said to have written, with their sentences, in order.

    Those that are too short to be known again are left out (`invented_quotations`).
    """
    for sentence in read_sentences(critique):
        for each in quotations(sentence.text):
            if _is_said(sentence, each) and _is_long(each.text):
                yield sentence, each


def words_before(sentence: Sentence, quoted: Quoted) -> tuple[str, int, int]:
    """A sentence's own words, and where the last 200 characters before a quotation begin and end.

    They are what a compiled pattern's `search` takes.
    """
    return sentence.own_words, max(quoted.start - _MOST_BEFORE, 0), quoted.start


class Quotable:
    """Texts that may be quoted, read once for many quotations."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._held = [_Held(text) for text in texts]

    def has(self, quotation: str) -> bool:
        """True where each piece of a quotation stands in one of the texts, as in `stands_in`."""
        whole = _words(quotation)
        # "[Your Name]" may be the text's own.
        if whole and any(_padded(whole) in its.text for its in self._held):
            return True
        pieces = [words for piece in _GAP.split(quotation) if (words := _words(piece))]
        return bool(pieces) and all(
            any(_padded(words) in its.text or its.has_nearly(words) for its in self._held)
            for words in pieces
        )


class _Held:
    """A text that may be quoted, by its words."""

    def __init__(self, text: str) -> None:
        words = _words(text)
        self.text = _padded(words)
        self._neighbours = frozenset(pairwise(words))
        exact = [at for at, word in enumerate(words) if _EXACT.fullmatch(word)]
        self._around_exact = frozenset(
            pair
            for at in exact
            for pair in product(words[max(at - _REACH, 0) : at], words[at + 1 : at + 1 + _REACH])
        )

    def has_nearly(self, words: Sequence[str]) -> bool:
        """True where most neighbours among the words are neighbours here."""
        if len(words) < _INEXACT_WORDS:
            return False
        pairs = list(pairwise(words))
        missing = [pair for pair in pairs if pair not in self._neighbours]
        if len(missing) > (1 - _INEXACT_SHARE) * len(pairs):
            return False
        return not any(
            pair in self._around_exact or any(map(_EXACT.fullmatch, pair)) for pair in missing
        )


def _is_long(quotation: str) -> bool:
    """True for one that is long enough to be known again."""
    if n_han := len(_IS_HAN.findall(quotation)):
        return n_han >= _LEAST_HAN
    return len(_words(quotation)) >= _LEAST_WORDS and len(quotation) >= _LEAST_CHARACTERS


def _is_said(sentence: Sentence, quoted: Quoted) -> bool:
    """True where a sentence says that a quotation was written, and denies or suggests nothing."""
    if _closes(sentence.text, quoted.start):
        return False
    own, first, mark = words_before(sentence, quoted)
    if (named := _POINT.match(own)) is not None:
        first = max(first, named.end())
    end = mark + len(quoted.text)
    return (
        _SAID.search(own, first, mark) is not None
        and _UNSAID.search(own, first, mark) is None
        and _IMAGINED.search(own, end, end + _MOST_BEHIND) is None
    )


def _closes(text: str, mark: int) -> bool:
    """True where a straight mark closes or means inches: behind a word, or before a space.

    Chinese has no space before a mark that opens.
    """
    before = text[max(mark - 1, 0) : mark]
    behind_word = before.isalnum() and _IS_HAN.match(before) is None
    return text[mark] == '"' and (behind_word or text[mark + 1].isspace())


def _padded(words: Sequence[str]) -> str:
    """The words with a space around each, so that none is found within another one."""
    return f" {' '.join(words)} "


def _words(text: str) -> list[str]:
    """A text's words without their endings, and numbers, folded; of "isn't" two."""
    spelled = _NOT.sub(lambda found: "can not" if found[0][0] == "c" else " not", fold_text(text))
    return _WORD.findall(_ENDING.sub("", spelled))
