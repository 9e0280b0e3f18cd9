"""Looks for what is wrong in a response, before a critique is written of it.

A judge that is asked for a fault mostly names another one than it noticed: of responses with one
planted error its ratings fall, and its critiques do not say why (`experiments/LOG.md`). So what it
noticed is read off its own distributions. Where it reads a response as an answer of its own, a
wrong word is far less likely than words are there on average; and what it would write in its place,
until it comes back to the response's own words, is mostly right. Most unlikely words are not wrong,
though: only a correction that the judge itself rates higher is named, by as much more as the word
was less surprising. And what it rates higher it need not prefer: where it compares the two
responses, a correction that it does not prefer is none.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from autoj.backends._choices import ChoiceTrie, build_trie
from autoj.backends.embedded.beginnings import arranged, common_length, in_batches
from autoj.backends.embedded.model import ChoiceModel, Likeliest
from autoj.corrections import Correction, correction, goes_on_alike, may_be_wrong
from autoj.records import CorrectionCheck, Message, Proofreading

_MOST_PLACES = 5
"""Places that are looked at in a response, those with the greatest excess of surprise first."""
_LEAST_EXCESS = 2.5
"""Nats; where a response could go on in many ways, an unlikely word says little."""
_MOST_WRITTEN = 8
"""Tokens of what is expected instead, until it comes back to the response's own words."""
_MOST_TOKENS = 768
"""Of what a response answers and the response: to read a longer one again for each place would take
longer than to write its critique."""
_POINTS_PER_NAT = 0.05
"""A nat of surprise counts as so many points of the rating; chosen with the card's thresholds."""


@dataclass(slots=True, kw_only=True)
class _Place:
    """A token of a response for which another one was expected."""

    proofreading: Proofreading
    number: int
    """The number of the response among those that are proofread together."""
    start: int
    """The first character of the token in the response."""
    surprise: float
    own: tuple[int, ...]
    """The response's own tokens from there on, as many as matter."""
    tokens: list[int]
    """Those that were read up to it, and then the expected ones."""
    n_read: int
    expected: str
    ends: bool = False
    """True where the response was expected to end behind `expected`."""

    @property
    def n_left(self) -> int:
        """The number of tokens that may still be written; 0 where it is known what is expected."""
        response = self.proofreading.response
        if self.ends or goes_on_alike(response, self.start, self.expected):
            return 0
        return _MOST_WRITTEN - (len(self.tokens) - self.n_read)

    def draft(self) -> tuple[int, ...]:
        """The tokens that probably come next: the response's own, behind the one written last.

        Where that one is not among them, one token stands for one.
        """
        written = self.tokens[self.n_read :]
        last = written[-1]
        place = self.own.index(last) if last in self.own else len(written) - 1
        return self.own[place + 1 :][: self.n_left - 1]


class Proofreader:
    """Finds corrections that the judge rates higher, by the half of the engine that scores."""

    def __init__(
        self,
        model: ChoiceModel,
        encode: Callable[[str], list[int]],
        decode: Callable[[list[int]], str],
        render: Callable[[Sequence[Message], str | None], str],
    ) -> None:
        """Takes the model, its tokenizer, and the rendering of messages and an answer's opening."""
        self._model, self._encode, self._decode, self._render = model, encode, decode, render

    def corrections(
        self, asked: Sequence[tuple[Proofreading, CorrectionCheck | None]]
    ) -> list[Correction | None]:
        """The correction of each response with the most evidence; None where none has enough.

        Args:
            asked: each response with the question by which corrections are compared with it; None
                compares none.
        """
        read = [proofreading for proofreading, _ in asked]
        places = self._surprising(read)
        self._write_out(places)
        tried: list[dict[Correction, float]] = [{} for _ in read]
        for place in places:
            made = correction(place.proofreading.response, place.start, place.expected)
            if made is not None:
                tried[place.number].setdefault(made, place.surprise)
        evident = self._evident(read, tried)
        preferred = self._preferred(asked, evident)
        return [next(iter(each), None) for each in preferred]

    def _surprising(self, read: Sequence[Proofreading]) -> list[_Place]:
        """The places at which another token was much likelier than the one that stands there."""
        places: list[_Place] = []
        tries: list[tuple[int, ChoiceTrie]] = []
        for number, each in enumerate(read):
            asked = self._render(each.conversation, None)
            before, whole = self._encode(asked), self._encode(asked + each.response)
            n_common = common_length(before, whole)
            if 0 < len(before) == n_common < len(whole) <= _MOST_TOKENS:
                tries.append((number, _chain(whole, n_common)))
        for batch in in_batches(arranged(tries)):
            likeliest = self._model.likeliest([trie for _, trie in batch])
            for (number, trie), found in zip(batch, likeliest, strict=True):
                places += islice(self._places(number, read[number], trie, found), _MOST_PLACES)
        return places

    def _places(
        self, number: int, read: Proofreading, trie: ChoiceTrie, likeliest: Likeliest
    ) -> Iterator[_Place]:
        """The places of one response, those with the greatest excess of surprise first."""
        surprises, excess = likeliest.surprises, likeliest.excess
        for at in sorted(range(len(excess)), key=lambda at: -excess[at]):
            if excess[at] < _LEAST_EXCESS:
                return
            if surprises[at] < read.surprise:
                continue
            # A part of a character decodes to nothing or to a mark.
            before = self._decode(list(trie.tokens[:at])).rstrip("\ufffd")
            expected = self._decode([likeliest.tokens[at]])
            # Nothing is expected but an end, or no word stands there, or part of a character.
            may_be = may_be_wrong(self._decode([trie.tokens[at]]))
            if expected and may_be and read.response.startswith(before):
                yield _Place(
                    proofreading=read,
                    number=number,
                    start=len(before),
                    surprise=surprises[at],
                    own=trie.tokens[at : at + 2 * _MOST_WRITTEN],
                    tokens=[*trie.root, *trie.tokens[:at], likeliest.tokens[at]],
                    n_read=len(trie.root) + at,
                    expected=expected,
                )

    def _write_out(self, places: Sequence[_Place]) -> None:
        """Lets what each place expects be written, all side by side, until it is known.

        What a text mostly comes back to is read along with it, and holds as far as it is what would
        have been written: so most places need two readings, and not one for each token.
        """
        while tries := [
            (place, _chain([*place.tokens, *place.draft()], len(place.tokens)))
            for place in places
            if place.n_left
        ]:
            for batch in in_batches(arranged(tries)):
                likeliest = self._model.likeliest([trie for _, trie in batch])
                for (place, trie), found in zip(batch, likeliest, strict=True):
                    self._take(place, trie.tokens, found.tokens)

    def _take(self, place: _Place, drafted: Sequence[int], likeliest: Sequence[int]) -> None:
        """Writes the likeliest tokens on, up to behind the first that was not drafted."""
        for at, token in enumerate(likeliest):
            place.tokens.append(token)
            # The answer may end there.
            place.ends = not self._decode([token])
            place.expected = self._decode(place.tokens[place.n_read :]) + "\n" * place.ends
            if not place.n_left or at == len(drafted) or drafted[at] != token:
                return

    def _evident(
        self, read: Sequence[Proofreading], tried: Sequence[Mapping[Correction, float]]
    ) -> list[list[Correction]]:
        """The corrections of each response with enough evidence, those with the most first."""
        asked: list[tuple[tuple[int, Correction | None], ChoiceTrie]] = []
        for number, (each, corrections) in enumerate(zip(read, tried, strict=True)):
            for made in (None, *corrections) if corrections else ():
                response = each.response if made is None else made.made_in(each.response)
                asked.append(((number, made), self._rating(each, response)))
        ratings: dict[tuple[int, Correction | None], float] = {}
        for batch in in_batches(arranged(asked)):
            scores = self._model.score([trie for _, trie in batch])
            for ((number, made), _), logprobs in zip(batch, scores, strict=True):
                ratings[number, made] = _expectation(read[number].values, logprobs)
        evident: list[list[Correction]] = []
        for number, corrections in enumerate(tried):
            evidence = {
                made: gain + surprise * _POINTS_PER_NAT
                for made, surprise in corrections.items()
                if (gain := ratings[number, made] - ratings[number, None]) > 0
            }
            enough = [made for made in evidence if evidence[made] >= read[number].evidence]
            evident.append(sorted(enough, key=evidence.__getitem__, reverse=True))
        return evident

    def _preferred(
        self,
        asked: Sequence[tuple[Proofreading, CorrectionCheck | None]],
        evident: Sequence[Sequence[Correction]],
    ) -> list[list[Correction]]:
        """Those of them with which the judge prefers the response, in the same order."""
        checks = {number: check for number, (_, check) in enumerate(asked) if check is not None}
        tries = [
            ((number, made, is_first), self._choosing(asked[number][0], check, made, is_first))
            for number, check in checks.items()
            for made in evident[number]
            for is_first in (True, False)
        ]
        leads: dict[tuple[int, Correction], float] = defaultdict(float)
        for batch in in_batches(arranged(tries)):
            scores = self._model.score([trie for _, trie in batch])
            for ((number, made, is_first), _), (one, other, *_) in zip(batch, scores, strict=True):
                leads[number, made] += (one - other if is_first else other - one) / 2
        return [
            [
                made
                for made in corrections
                if number not in checks or leads[number, made] >= checks[number].preferred
            ]
            for number, corrections in enumerate(evident)
        ]

    def _choosing(
        self, read: Proofreading, check: CorrectionCheck, made: Correction, is_first: bool
    ) -> ChoiceTrie:
        """The question about a response and its correction, in one of the two orders."""
        texts = made.made_in(read.response), read.response
        question = check.question(*(texts if is_first else reversed(texts)))
        asked = self._render(question, check.prefix)
        return build_trie([self._encode(asked + choice) for choice in check.choices])

    def _rating(self, read: Proofreading, response: str) -> ChoiceTrie:
        asked = self._render(read.question(response), read.prefix)
        return build_trie([self._encode(asked + choice) for choice in read.choices])


def _chain(tokens: Sequence[int], n_root: int) -> ChoiceTrie:
    """A sequence whose tokens from `n_root` on are each compared with the likeliest one there."""
    rest = tuple(tokens[n_root:])
    return ChoiceTrie(tuple(tokens[:n_root]), rest, tuple(range(-1, len(rest) - 1)), ())


def _expectation(values: Sequence[float], logprobs: Sequence[float]) -> float:
    """The mean of ratings by their probabilities, which need not add up to 1."""
    weights = np.exp(np.array(logprobs) - max(logprobs))
    return float(np.dot(values, weights) / weights.sum())
