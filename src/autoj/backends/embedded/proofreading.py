"""Looks for the word of a response that is wrong, before a critique is written of it.

A judge that is asked for a fault mostly names another one than it noticed: of responses with one
planted error its ratings fall, and its critiques do not say why (`experiments/LOG.md`). So what it
noticed is read off its own distributions. Where it reads a response as an answer of its own, a
wrong word is very unlikely, and the likeliest word there is mostly the right one. Most unlikely
words are not wrong, though: only a correction that the judge itself rates higher is named.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from autoj.backends._choices import ChoiceTrie, build_trie
from autoj.backends.embedded.beginnings import arranged, common_length, in_batches
from autoj.backends.embedded.model import ChoiceModel, Likeliest
from autoj.corrections import Correction, correction, is_whole
from autoj.records import Message, Proofreading

_MOST_PLACES = 4
"""Places that are looked at in a response, those with the greatest surprise first."""
_MOST_STEPS = 6
"""Tokens of a word that is expected instead, with what follows it."""
_MOST_TOKENS = 1536
"""Of what a response answers and the response: a longer one is not proofread."""
_REPLACED = "\ufffd"


@dataclass(slots=True, kw_only=True)
class _Place:
    """A token of a response for which another one was expected."""

    proofreading: Proofreading
    number: int
    """The number of the response among those that are proofread together."""
    start: int
    """The first character of the token in the response."""
    tokens: list[int]
    """Those that were read up to it, and then the expected ones."""
    n_read: int
    expected: str = ""


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

    def corrections(self, read: Sequence[Proofreading]) -> list[Correction | None]:
        """The correction of each response that raises its rating most; None where none does."""
        places = self._expected(self._surprising(read))
        tried: list[list[Correction]] = [[] for _ in read]
        for place in places:
            response = place.proofreading.response
            made = correction(response, place.start, place.expected)
            if made is not None and made not in tried[place.number]:
                tried[place.number].append(made)
        return self._best(read, tried)

    def _surprising(self, read: Sequence[Proofreading]) -> list[_Place]:
        """The places at which another token was much likelier than the one that stands there."""
        places: list[_Place] = []
        tries: list[tuple[int, ChoiceTrie]] = []
        for number, each in enumerate(read):
            asked = self._render(each.conversation, None)
            before, whole = self._encode(asked), self._encode(asked + each.response)
            n_common = common_length(before, whole)
            if len(before) == n_common < len(whole) <= _MOST_TOKENS:
                tries.append((number, _chain(whole, n_common)))
        for batch in in_batches(arranged(tries)):
            likeliest = self._model.likeliest([trie for _, trie in batch])
            for (number, trie), found in zip(batch, likeliest, strict=True):
                places += self._places(number, read[number], trie, found)
        return places

    def _places(
        self, number: int, read: Proofreading, trie: ChoiceTrie, likeliest: Likeliest
    ) -> list[_Place]:
        """The most surprising places of one response."""
        starts = self._starts(read.response, trie.tokens)
        order = sorted(range(len(trie.tokens)), key=lambda at: -likeliest.surprises[at])
        return [
            _Place(
                proofreading=read,
                number=number,
                start=starts[at],
                tokens=[*trie.root, *trie.tokens[:at], likeliest.tokens[at]],
                n_read=len(trie.root) + at,
            )
            for at in order
            if likeliest.surprises[at] >= read.surprise and self._has_letters(trie.tokens[at])
        ][:_MOST_PLACES]

    def _has_letters(self, token: int) -> bool:
        return any(map(str.isalnum, self._decode([token])))

    def _starts(self, response: str, tokens: Sequence[int]) -> list[int]:
        """The first character of each token; one may have a part of a character alone."""
        starts: list[int] = []
        end, unfinished = 0, []
        for token in tokens:
            starts.append(end)
            unfinished.append(token)
            text = self._decode(unfinished)
            if not text.endswith(_REPLACED) or response.startswith(text, end):
                end, unfinished = end + len(text), []
        return starts

    def _expected(self, places: list[_Place]) -> list[_Place]:
        """Lets each place's expected word be written to its end, all of them side by side."""
        open_places = places
        for _ in range(_MOST_STEPS):
            for place in open_places:
                place.expected = self._decode(place.tokens[place.n_read :])
            open_places = [each for each in open_places if not is_whole(each.expected)]
            tries = [(each, _chain(each.tokens, len(each.tokens))) for each in open_places]
            for batch in in_batches(arranged(tries)):
                likeliest = self._model.likeliest([trie for _, trie in batch])
                for (place, _), found in zip(batch, likeliest, strict=True):
                    place.tokens.append(found.tokens[-1])
        return [place for place in places if is_whole(place.expected)]

    def _best(
        self, read: Sequence[Proofreading], tried: Sequence[Sequence[Correction]]
    ) -> list[Correction | None]:
        """The correction of each response with the highest rating, if it gains enough."""
        asked: list[tuple[tuple[int, Correction | None], ChoiceTrie]] = []
        for number, (each, corrections) in enumerate(zip(read, tried, strict=True)):
            if not corrections:
                continue
            for made in (None, *corrections):
                response = each.response if made is None else made.made_in(each.response)
                asked.append(((number, made), self._rating(each, response)))
        ratings: dict[tuple[int, Correction | None], float] = {}
        for batch in in_batches(arranged(asked)):
            scores = self._model.score([trie for _, trie in batch])
            for ((number, made), _), logprobs in zip(batch, scores, strict=True):
                ratings[number, made] = _expectation(read[number].values, logprobs)
        best: list[Correction | None] = [None] * len(read)
        for number, corrections in enumerate(tried):
            gains = {made: ratings[number, made] - ratings[number, None] for made in corrections}
            made = max(gains, key=gains.__getitem__, default=None)
            if made is not None and gains[made] >= read[number].gain:
                best[number] = made
        return best

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
