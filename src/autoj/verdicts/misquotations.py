"""Quotations that a critique gives to a response in which they do not stand.

A small judge takes the words of one response for the other's, or those of the query for a
response's. Who reads it cannot see that without reading all texts again, and it can be looked up.

A quotation is given to the response that its sentence names last before it ("Response 2 says …"),
or to the one that is judged alone ("It says …"), if none else is named in between. The rest is as
in `quotations`: what is denied or suggested is no quotation, and a word is too short for one. So
some are missed. English alone.
"""

import re
from dataclasses import dataclass
from functools import cache

from autoj.critiques import Quoted
from autoj.records import Case
from autoj.verdicts.claims import Sentence
from autoj.verdicts.quotations import Quotable, said_quotations, words_before

_ONE_OF_TWO = re.compile(r"\bresponse (?P<number>[12])\b")
_ALONE = re.compile(r"\b(?:the|this) (?:response|answer)\b|\A\W*it\b")
_SOMEONE_ELSE = re.compile(
    r"\b(?:both|neither|each|others?|another|former|latter|they|responses|users?|quer(?:y|ies)"
    r"|questions?|prompts?|requests?|instructions?|tasks?|asked)\b"
)
# Words of the query that a response takes up are not said to be its own.
_TAKES_UP = re.compile(
    r"\b(?:answer|repl(?:y|ie)|respond|follow|address|refer|about|discuss|alternative|variant|version"
    r"|synonym)\w*\b"
)
# "A loose pattern" is a fair quotation of "this loose pattern".
_ARTICLE = re.compile(r"\A(?:an?|the)\s+", re.IGNORECASE)
_SHOWN_CHARACTERS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Misquotation:
    """A quotation that is given to a response in which it does not stand."""

    quotation: str
    """As the critique has it, without quotation marks; judged text may stand in it."""
    given_to: str
    """"Response 1", "Response 2" or "the response"."""
    stands_in: str | None
    """The text where it does stand; None where it stands in none."""

    def __str__(self) -> str:
        text = self.quotation
        if len(text) > _SHOWN_CHARACTERS:
            text = f"{text[:_SHOWN_CHARACTERS].rstrip()}…"
        if self.stands_in is None:
            return f'"{text}" does not stand in {self.given_to}'
        return f'"{text}" stands in {self.stands_in}, not in {self.given_to}'


def misquotations(critique: str, case: Case, rated: int | None = None) -> tuple[Misquotation, ...]:
    """The quotations that a critique gives to the wrong response, each once, in order.

    Args:
        critique: the text; of a pair, its Response 1 is the case's first.
        case: the judged case.
        rated: the index of the response that was judged alone; None for a critique of a pair.
    """
    if rated is None and len(case.responses) != 2:
        return ()
    names = ["Response 1", "Response 2"] if rated is None else ["the response"]
    judged = case.responses if rated is None else (case.responses[rated],)
    texts = {
        **{name: [each.text] for name, each in zip(names, judged, strict=True)},
        "the query": [case.query],
        "an earlier turn": [turn.content for turn in case.history],
        "the reference": [] if case.reference is None else [case.reference],
    }
    # Most quotations are right, so most texts are never read.
    read = cache(lambda place: Quotable(texts[place]))
    found: dict[str, Misquotation] = {}
    for sentence, quoted in said_quotations(critique):
        owner = _owner(sentence, quoted, alone=rated is not None)
        words = _ARTICLE.sub("", quoted.text)
        if owner is None or quoted.text in found or read(names[owner]).has(words):
            continue
        place = next((place for place in texts if read(place).has(words)), None)
        if place in (None, *names) or not _TAKES_UP.search(*words_before(sentence, quoted)):
            found[quoted.text] = Misquotation(
                quotation=_as_written(critique, sentence, quoted),
                given_to=names[owner],
                stands_in=place,
            )
    return tuple(found.values())


def _owner(sentence: Sentence, quoted: Quoted, *, alone: bool) -> int | None:
    """The place of the response that a quotation is given to; None where that is not clear."""
    own, first, mark = words_before(sentence, quoted)
    named = list((_ALONE if alone else _ONE_OF_TWO).finditer(own, first, mark))
    if not named or _SOMEONE_ELSE.search(own, named[-1].end(), mark):
        return None
    return 0 if alone else int(named[-1]["number"]) - 1


def _as_written(critique: str, sentence: Sentence, quoted: Quoted) -> str:
    """A quotation with its letter case; sentences are folded, character by character."""
    at = sentence.text.index(quoted.text, quoted.start) + sentence.start
    return critique[at : at + len(quoted.text)]
