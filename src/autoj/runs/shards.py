"""Shards: equal parts of the cases, so that several machines can share a run.

Distinct cases are dealt out in turn, like playing cards: shard 3/8 gets the 3rd, the 11th, the
19th, … Shard sizes then differ by at most one case, and the assignment follows from the data alone,
so that shard 3/8 is the same for any judge and any setting that leaves the cases as they are. A
case with the query and responses of an earlier one goes to the same shard: equal texts share their
keys, and a key that two machines asked may have two answers, which cannot be merged.
"""

import hashlib
import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from typing import Any

import orjson

from autoj.errors import ConfigError
from autoj.records import Case

_SYNTAX = re.compile(r"([1-9][0-9]{0,5}(?:,[1-9][0-9]{0,5})*)/([1-9][0-9]{0,5})")
_MOST_PARTS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """Some of the equal parts that cases are dealt into."""

    parts: tuple[int, ...]
    """The numbers of the parts, counted from 1; sorted, distinct, and not all."""
    of: int
    """The total number of parts."""

    @classmethod
    def parse(cls, text: str) -> "Shard | None":
        """Parses `3/8` or `3,5/8`; None where that is all parts.

        Raises:
            ConfigError: the text is not a shard.

        >>> str(Shard.parse("5,3/8"))
        '3,5/8'
        """
        found = _SYNTAX.fullmatch(text.replace(" ", ""))
        if found is None:
            raise ConfigError(
                f"{text!r} is not a shard",
                hint="Write 3/8 for the third of eight, or 3,5/8 for two of them.",
            )
        of, parts = int(found[2]), {int(part) for part in found[1].split(",")}
        if max(parts) > of:
            raise ConfigError(
                f"there is no shard {max(parts)} of {of}", hint=f"Choose from 1/{of} to {of}/{of}."
            )
        return _shard(parts, of)

    def __str__(self) -> str:
        return f"{','.join(map(str, self.parts))}/{self.of}"


def _shard(parts: set[int], of: int) -> Shard | None:
    return None if len(parts) == of else Shard(parts=tuple(sorted(parts)), of=of)


def joined_shards(shards: Iterable[Shard | None]) -> Shard | None:
    """The union of several shards; None where that is all parts.

    Shards of different counts can be combined: 1/2 is 1,3/4.

    Raises:
        ConfigError: their counts have too large a common multiple.

    >>> str(joined_shards([Shard.parse("1/2"), Shard.parse("2/4")]))
    '1,2,3/4'
    """
    listed = list(shards)
    known = [shard for shard in listed if shard is not None]
    if len(known) < len(listed):
        return None
    of = math.lcm(*(shard.of for shard in known))
    if of > _MOST_PARTS:
        raise ConfigError(
            f"shards {', '.join(map(str, known))} cannot be combined: their least common number of "
            f"parts is {of:,}, more than {_MOST_PARTS:,}",
            hint="Merge the shards of one count first; a complete set counts as a whole run.",
        )
    return _shard(
        {1 + turn for s in known for part in s.parts for turn in range(part - 1, of, s.of)}, of
    )


def missing_parts(shard: Shard, n_distinct: int) -> Shard | None:
    """The other parts, as far as there are cases for them; None where there are no others.

    Args:
        shard: the parts that are there.
        n_distinct: the number of distinct cases dealt out.
    """
    others = {*range(1, min(shard.of, n_distinct) + 1)} - {*shard.parts}
    return Shard(parts=tuple(sorted(others)), of=shard.of) if others else None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedCase(Case):
    """A case with its position among the cases of all shards: a line of a shard's `cases.jsonl`."""

    position: int | None = None
    """Counted from 0; None in a run of all cases, where it is that of the line."""

    @classmethod
    def of(cls, case: Case, position: int) -> "PlacedCase":
        """A case at a position."""
        return cls(**_fields(case), position=position)

    def plain(self) -> Case:
        """The case alone."""
        return Case(**_fields(self))


def _fields(case: Case) -> dict[str, Any]:
    return {field.name: getattr(case, field.name) for field in fields(Case)}


class Turns:
    """The turn at which each case is dealt; cases that may share a key have one turn."""

    def __init__(self) -> None:
        self._turns: dict[int, int] = {}

    def __len__(self) -> int:
        """The number of distinct cases so far."""
        return len(self._turns)

    def of(self, case: Case) -> int:
        """The turn of a case, counted from 0; the cases come in the order of the data."""
        return self._turns.setdefault(_content(case), len(self._turns))


class Dealer:
    """Deals cases out to shards, keeps those of one shard and counts them all.

    Memory grows with the number of distinct cases, by one number for each.
    """

    def __init__(self, shard: Shard) -> None:
        self.shard = shard
        self._parts = frozenset(shard.parts)
        self._turns = Turns()
        self.n_cases = 0
        """Cases dealt out, to any shard."""
        self.n_kept = 0
        """Cases of this shard."""

    @property
    def n_distinct(self) -> int:
        """Distinct cases dealt out."""
        return len(self._turns)

    def deal(self, cases: Iterable[Case]) -> Iterator[PlacedCase]:
        """The cases of the shard, each with its position among all."""
        for case in cases:
            if self._turns.of(case) % self.shard.of + 1 in self._parts:
                self.n_kept += 1
                yield PlacedCase.of(case, self.n_cases)
            self.n_cases += 1


def _content(case: Case) -> int:
    """A hash that is equal for cases that may share a key, in any order of their responses."""
    content = (
        case.query,
        [(turn.role, turn.content) for turn in case.history],
        sorted(response.text for response in case.responses),
        sorted(case.critiques),
    )
    digest = hashlib.blake2b(orjson.dumps(content), digest_size=8).digest()
    return int.from_bytes(digest, "big")
