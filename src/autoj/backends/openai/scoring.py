"""Probabilities of choices, read from the likeliest tokens at each position of a short answer.

A chat server lists, per token that it wrote, the (at most 20) likeliest tokens at that position.
Along the written answer, every alternative is compared with the choices:

- It fits one choice alone: its probability is that choice's. The rest is taken as certain.
- It fits several (" Response" before " 1" and " 2") and was written: the next position decides.
- It fits several and was not written: the server says no more about it. `Shared` keeps such
  probabilities; if the server can continue a text, the continuation is requested, else the choices
  get equal parts.
- It fits all, as a quotation mark does, or none: it says nothing, and the rest is normalised.

A choice that fits no alternative at its position is less likely there than every listed token, and
all such choices together have at most the probability that the listed ones leave. Each gets the
smaller of the two, the second in equal parts, as its probability: a bound, and not an estimate.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

# Servers send log-probabilities in single precision.
_SMALLEST = 1e-6
_NUMBERED = re.compile(r"\D*(\d+)\D*")
_MARKS = re.compile(r"[\[({<*_\"'`“”‘’「『#]")
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """One position of an answer."""

    token: bytes
    """The written token."""
    ranked: tuple[tuple[bytes, float], ...]
    """The alternatives, the written token included, with natural log-probabilities."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """A beginning shared by several choices, and its probability."""

    text: str
    choices: frozenset[int]
    mass: float


@dataclass(slots=True, kw_only=True)
class Scores:
    """The probabilities of the choices, as far as known."""

    masses: list[float]
    bounds: list[float]
    shared: list[Shared] = field(default_factory=list)

    def logprobs(self) -> tuple[float, ...] | None:
        """The natural log-probability of each choice; None if none of them was seen."""
        masses = list(self.masses)
        for item in self.shared:
            for index in item.choices:
                masses[index] += item.mass / len(item.choices)
        if not any(masses):
            return None
        return tuple(
            math.log(mass or max(bound, _SMALLEST * _SMALLEST))
            for mass, bound in zip(masses, self.bounds, strict=True)
        )


def short_names(choices: Sequence[str]) -> tuple[str, ...]:
    """The names that a judge is asked to write for the choices: their numbers if they have some.

    The shorter the names, the earlier they differ, and the fewer positions decide.

    >>> short_names([" Response 1", " Response 2", " Tie"])
    ('1', '2', 'Tie')
    >>> short_names(["Response 1 wins", "It is 1"])
    ('Response 1 wins', 'It is 1')
    """
    names = tuple(
        found[1] if (found := _NUMBERED.fullmatch(choice)) else choice.strip() for choice in choices
    )
    if len(set(names)) == len(names):
        return names
    return tuple(choice.strip() for choice in choices)


class Menu:
    """The choices, with the ways in which each may be written."""

    def __init__(self, choices: Sequence[str], prefix: str | None, *, forced: bool) -> None:
        """Makes a menu of choices.

        Args:
            choices: the possible continuations of the prefix.
            prefix: the opening of the answer.
            forced: whether the answer continues the prefix; if not, the judge was asked to write
                a choice's short name, and may write the choice or repeat the prefix.
        """
        # Case is the judge's own, except where it alone tells two choices apart ("m" and "M").
        self._keeps_case = len({choice.casefold() for choice in choices}) < len(set(choices))
        ways: list[set[str]] = [{self._plain(choice).strip()} for choice in choices]
        if not forced:
            for way, name, choice in zip(ways, short_names(choices), choices, strict=True):
                way |= {self._plain(name).strip(), self._plain((prefix or "") + choice).strip()}
        self._ways = ways
        self.all = frozenset(range(len(choices)))

    def fits(self, text: str) -> frozenset[int]:
        """The choices that a text begins or completes."""
        plain = self._plain(text).lstrip()
        if not plain:
            return self.all
        return frozenset(
            index
            for index, ways in enumerate(self._ways)
            if any(way.startswith(plain) or _written_out(way, plain) for way in ways)
        )

    def exact(self, text: str) -> frozenset[int]:
        """The choice that a text equals, if any."""
        plain = self._plain(text).strip()
        return frozenset(index for index, ways in enumerate(self._ways) if plain in ways)

    def _plain(self, text: str) -> str:
        """Strips decoration before words; closing characters stay, since they end a number."""
        plain = _SPACE.sub(" ", _MARKS.sub("", text))
        return plain if self._keeps_case else plain.casefold()

    def read(
        self, positions: Sequence[Position], begun: Shared | None = None, into: Scores | None = None
    ) -> Scores:
        """Adds up the probabilities of the choices from an answer.

        Args:
            positions: the answer, from its first token.
            begun: the beginning that the answer continues, with its probability.
            into: the scores so far, without `begun`.
        """
        n_choices = len(self.all)
        scores = into or Scores(masses=[0.0] * n_choices, bounds=[0.0] * n_choices)
        written = (begun.text if begun else "").encode("utf-8", "replace")
        live, reached = (begun.choices, begun.mass) if begun else (self.all, 1.0)
        for position in positions:
            found = {
                token: self.fits(_decoded(written + token)) & live for token, _ in position.ranked
            }
            self._add_place(position, found, written, live, reached, scores)
            fits = self.fits(_decoded(written + position.token)) & live
            if len(fits) < 2:
                return scores
            reached *= math.exp(dict(position.ranked).get(position.token, -math.inf))
            written, live = written + position.token, fits
        # The answer ended where several choices continue: it is the one that ends there, if any.
        text = _decoded(written)
        ended = self.exact(text) & live or live
        if ended != self.all and reached > 0:
            scores.shared.append(Shared(text=text, choices=ended, mass=reached))
        return scores

    def _add_place(
        self,
        position: Position,
        found: dict[bytes, frozenset[int]],
        written: bytes,
        live: frozenset[int],
        reached: float,
        scores: Scores,
    ) -> None:
        alone = frozenset[int]().union(*(fits for fits in found.values() if len(fits) == 1))
        listed = [math.exp(logprob) for _, logprob in position.ranked]
        for (token, _), share in zip(position.ranked, listed, strict=True):
            fits, mass = found[token], reached * share
            if len(fits) == 1:
                (index,) = fits
                scores.masses[index] += mass
            elif fits and fits != self.all and token != position.token and mass > 0:
                text = _decoded(written + token)
                # "1" begins "10", unless "10" is listed as a token of its own.
                whole = self.exact(text) & fits
                rest = fits - whole - alone if whole else fits
                scores.shared.append(Shared(text=text, choices=whole | rest, mass=mass))
        left = max(1.0 - sum(listed), _SMALLEST)
        unseen = live - frozenset[int]().union(*found.values())
        for index in unseen:
            scores.bounds[index] += reached * min([left / len(unseen), *listed])


def _written_out(way: str, plain: str) -> bool:
    """True where a text begins with a choice as a whole word: "10" does not begin with "1"."""
    if not plain.startswith(way):
        return False
    after = plain[len(way) : len(way) + 1]
    return not (after.isascii() and after.isalnum() and way[-1].isascii())


def _decoded(written: bytes) -> str:
    """Decodes tokens, without an incomplete last character."""
    return written.decode("utf-8", "ignore")
