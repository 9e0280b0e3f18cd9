"""Compact arrays of what cases are filtered, sorted and counted by: 70 bytes a case."""

import hashlib
from typing import Any

import numpy as np
import numpy.typing as npt

from autoj.records import WINNERS, Case, Verdict
from autoj.tasks.stored import content_digest
from autoj.verdicts.only import KINDS

Bools = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.int32]

WINNER_CODES = {winner: code for code, winner in enumerate((None, *WINNERS))}
FLAGS = (*KINDS, "truncated")
_FIRST_FLAG = {name: 1 << bit for bit, name in enumerate(FLAGS)}
JUDGED, CONSISTENT, TWO_ORDERS, WITH_PROBABILITIES, PLANNED, FOLLOWED, FROM_FILE = (
    1 << bit for bit in range(len(FLAGS), len(FLAGS) + 7)
)
_KINDS = {
    "case_at": "u8", "verdict_at": "u8", "plan_at": "u8", "follow_at": "u8",
    "id": "u8", "content": "u8", "cluster": "i8",
    "flags": "u2", "winner": "u1", "label": "u1", "scenario": "u4",
    "confidence": "f4", "unsure": "f4", "relative_length": "f4", "characters": "u4",
}  # fmt: skip


def flag_bit(name: str) -> int:
    """The bit of a kind of cases (`FLAGS`)."""
    return _FIRST_FLAG[name]


def short_hash(*parts: bytes) -> int:
    """A digest of 8 bytes: among a million, two are equal with a chance of 3 in 10 million."""
    return int.from_bytes(hashlib.blake2b(b"\0".join(parts), digest_size=8).digest())


def id_hash(case_id: str) -> int:
    """The short digest of a case's id."""
    return short_hash(case_id.encode(errors="surrogatepass"))


class Columns:
    """A row per case of a run; rows are only added, and a row's verdict is filled in later.

    Args:
        n_expected: the number of cases; more may come.
    """

    def __init__(self, n_expected: int) -> None:
        n_rows = max(n_expected, 16)
        # Memory is taken as it is filled: a column that a run does not need takes none.
        self._table = {name: np.zeros(n_rows, dtype=kind) for name, kind in _KINDS.items()}
        self.n = 0
        """The rows that are filled."""
        self.scenarios: dict[str | None, int] = {None: 0}
        """Codes of the scenarios, in the order in which they came."""

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        """A column of the rows that are filled, as a view: `[n]`."""
        found: npt.NDArray[Any] = self._table[name][: self.n]
        return found

    def has(self, bit: int) -> Bools:
        """The rows with a flag, `[n]`."""
        found: Bools = (self["flags"] & np.uint16(bit)) != 0
        return found

    def add_case(self, case: Case, offset: int) -> int:
        """Adds a case.

        Args:
            case: it.
            offset: the position of its line in bytes.

        Returns:
            Its row.
        """
        table, at = self._with_room(), self.n
        lengths = [len(response.text.strip()) for response in case.responses]
        case_id = case.id.encode(errors="surrogatepass")
        table["case_at"][at], table["id"][at] = offset, id_hash(case.id)
        table["content"][at] = short_hash(case_id, content_digest(case))
        table["cluster"][at] = short_hash(case.cluster.encode(errors="surrogatepass")) >> 1
        table["label"][at] = WINNER_CODES.get(case.label, 0) if isinstance(case.label, str) else 0
        table["scenario"][at] = self.scenarios.setdefault(case.scenario, len(self.scenarios))
        table["characters"][at] = min(sum(lengths), 2**32 - 1)
        if len(lengths) == 2 and any(lengths):
            table["relative_length"][at] = (lengths[0] - lengths[1]) / max(lengths)
        self.n += 1
        return self.n - 1

    def _with_room(self) -> dict[str, npt.NDArray[Any]]:
        if self.n == len(self._table["flags"]):
            more = {name: np.zeros(self.n, dtype=kind) for name, kind in _KINDS.items()}
            self._table = {n: np.concatenate([its, more[n]]) for n, its in self._table.items()}
        return self._table

    def add_verdict(self, at: int, case: Case, verdict: Verdict) -> None:
        """Fills in the verdict on the case of a row."""
        table, flags = self._table, JUDGED
        for name, kind in KINDS.items():
            if kind.holds(case, verdict):
                flags |= _FIRST_FLAG[name]
        if verdict.n_truncated:
            flags |= _FIRST_FLAG["truncated"]
        if verdict.consistent is not None:
            flags |= TWO_ORDERS | (CONSISTENT if verdict.consistent else 0)
        if verdict.probabilities is not None:
            _, second, first = sorted(verdict.probabilities)
            table["confidence"][at], table["unsure"][at] = first, 1 - (first - second)
            flags |= WITH_PROBABILITIES
        table["winner"][at] = WINNER_CODES[verdict.winner]
        table["flags"][at] |= flags

    def put(self, at: int, column: str, offset: int, flag: int) -> None:
        """Fills in the position of something about the case of a row, and that it is there."""
        self._table[column][at] = offset
        self._table["flags"][at] |= flag

    def flags_of(self, at: int) -> tuple[str, ...]:
        """The kinds of cases that a row is one of."""
        flags = int(self["flags"][at])
        return tuple(name for name in FLAGS if flags & _FIRST_FLAG[name])
