"""Quotations of a critique, and those that stand in nothing that it was written about.

A quotation counts where its sentence says that somebody wrote it ('it states "…"', 'the word "…"').
What a sentence denies, corrects or suggests is passed over ('it would be better to write "…"'), and
so is what it only calls something.

Texts are compared by their words: letter case, spaces, punctuation, markdown and the endings of
words ("go" for "going") do not matter, and of a quotation with an ellipsis or an insertion in
brackets ("It begins … [so] it ends") each piece is looked for. A quotation of five words and more
may be inexact: most neighbours stand there as neighbours.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from autoj.critiques import Quoted, quotations
from autoj.verdicts.claims import Sentence, fold_text, read_sentences

# What is shorter keeps its distance ("helpful") or is in any text ("at least").
_LEAST_WORDS, _LEAST_CHARACTERS, _LEAST_HAN = 2, 10, 6
_INEXACT_WORDS, _INEXACT_SHARE = 5, 0.6
# Scripts without spaces are compared character by character.
_HAN = "\u3040-\u30ff\u3400-\u9fff"
_WORD = re.compile(rf"[{_HAN}]|[^\W\d_{_HAN}]+|\d+")
# "Go shopping" may stand for "going shopping".
_ENDING = re.compile(r"(?<=[a-z]{2})(?:ing|e?d|e?s)(?![a-z])")
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
_IMAGINED = re.compile(r"\b(?:would|(?:could|might|can) (?:have|help|make|add|improve|also))\b")


def said_quotations(critique: str) -> list[str]:
    """The quotations that a critique takes from a text, folded (`claims.fold_text`), in order.

    >>> said_quotations('It says "64 desks" where it should say "46 places".')
    ['64 desks']
    """
    return [
        each.text
        for sentence in read_sentences(critique)
        for each in quotations(sentence.text)
        if _is_said(sentence, each)
    ]


def stands_in(quotation: str, texts: Sequence[str]) -> bool:
    """True where each piece of a quotation stands in one of the texts.

    >>> stands_in("the lake … froze", ["**The lake** was deep and soon froze over."])
    True
    """
    return _stands(quotation, [_words(text) for text in texts])


def invented_quotations(critique: str, texts: Sequence[str]) -> list[str]:
    """The quotations of a critique that stand in none of the texts, folded, each once, in order.

    One word, fewer than 10 characters, or fewer than 6 Chinese ones are no quotation here.

    Args:
        critique: a judge's text.
        texts: all that it may quote: the query, the responses, earlier turns, a reference.

    >>> invented_quotations('It says "the lake is frozen", which is "helpful".', ["The lake."])
    ['the lake is frozen']
    """
    held = [_words(text) for text in texts]
    return [text for text in dict.fromkeys(_long_quotations(critique)) if not _stands(text, held)]


def _long_quotations(critique: str) -> Iterator[str]:
    """Those that are long enough to be known again."""
    for text in said_quotations(critique):
        words = _words(text).split()
        n_han = len(re.findall(f"[{_HAN}]", text))
        if n_han >= _LEAST_HAN or (
            not n_han and len(words) >= _LEAST_WORDS and len(text) >= _LEAST_CHARACTERS
        ):
            yield text


def _is_said(sentence: Sentence, quoted: Quoted) -> bool:
    """True where a sentence says that a quotation was written, and denies or suggests nothing."""
    mark, own = quoted.start, sentence.own_words
    # A mark behind a word closes, or stands for inches; behind one that opens stands no space.
    is_straight = sentence.text[mark] == '"'
    behind_word = sentence.text[max(mark - 1, 0) : mark].isalnum()
    if is_straight and (behind_word or sentence.text[mark + 1].isspace()):
        return False
    before, after = own[:mark], own[mark + len(quoted.text) :]
    return (
        _SAID.search(before) is not None
        and _UNSAID.search(before) is None
        and _IMAGINED.search(after) is None
    )


def _stands(quotation: str, held: Sequence[str]) -> bool:
    """True where each piece of a quotation stands in one of the texts, given as `_words`."""
    pieces = [_words(piece) for piece in _GAP.split(quotation)]
    return all(any(_piece_stands(piece, text) for text in held) for piece in pieces)


def _piece_stands(piece: str, text: str) -> bool:
    """True where the words of a piece stand in a text's, word for word or nearly."""
    if piece in text:
        return True
    words = piece.split()
    if len(words) < _INEXACT_WORDS:
        return False
    neighbours = [f" {one} {other} " in f" {text} " for one, other in pairwise(words)]
    return sum(neighbours) >= _INEXACT_SHARE * len(neighbours)


def _words(text: str) -> str:
    """A text's words without their endings, and numbers, folded, with a space between them."""
    return " ".join(_WORD.findall(_ENDING.sub("", fold_text(text))))
