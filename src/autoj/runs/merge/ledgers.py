"""The union of several ledgers: each key once, and never two different answers to one key."""

import os
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path

import numpy as np
import numpy.typing as npt

from autoj.errors import DataError
from autoj.jsonl import decode_as, encode_summed, read_records, whole_lines, write_records
from autoj.records import Completion, Failure
from autoj.runs.files import FAILURES, LEDGER
from autoj.runs.ledger import LedgerReader, check_count, checked_key
from autoj.system_errors import storage_error

LOGPROB_TOLERANCE = 1e-3
"""The largest difference of two scores of one choice: other batch sizes round differently."""
_EXCERPT = 30


class MergedLedger:
    """The union of several runs' ledgers; of repeated answers it has the first run's.

    Memory is 25 bytes a record; the texts stay in the files.
    """

    def __init__(self, folders: Sequence[Path], case_of: Callable[[str], str | None]) -> None:
        """Reads all ledgers once, and compares the answers to keys that several hold.

        Args:
            folders: the runs.
            case_of: gives the case that a key was asked about, for messages.

        Raises:
            DataError: a line is damaged, or two answers to one key differ.
        """
        self._paths = [folder / LEDGER for folder in folders]
        self._case_of = case_of
        digests, self._starts = array("Q"), array("q")
        self._firsts = [0]
        for path in self._paths:
            position = 0
            for number, line in enumerate(whole_lines(path), start=1):
                digests.append(int(checked_key(path, number, line)[:16], 16))
                self._starts.append(position)
                position += len(line)
            self._firsts.append(len(digests))
            check_count(path.parent, LEDGER, self._firsts[-1] - self._firsts[-2])
        self._kept: npt.NDArray[np.bool_] = np.ones(len(digests), dtype=bool)
        self._drop_repeated(np.asarray(digests))

    def __len__(self) -> int:
        """The number of answered keys."""
        return int(self._kept.sum())

    @property
    def n_repeated(self) -> int:
        """The number of answers that an earlier ledger has, too."""
        return len(self._kept) - len(self)

    def write(self, path: Path) -> None:
        """Writes one ledger that holds them all.

        Raises:
            StorageFull: the disk is full.
        """
        write_lines(path, self._lines())

    def _lines(self) -> Iterator[bytes]:
        for path, first, stop in zip(self._paths, self._firsts, self._firsts[1:], strict=False):
            # Only lines that were compared.
            for kept, line in zip(self._kept[first:stop], whole_lines(path), strict=False):
                if kept:
                    yield line

    def _drop_repeated(self, digests: npt.NDArray[np.uint64]) -> None:
        order = np.argsort(digests, kind="stable")
        equal = digests[order][1:] == digests[order][:-1]
        with ExitStack() as opened:
            streams = [
                opened.enter_context(path.open("rb")) if path.exists() else None
                for path in self._paths
            ]

            def read(record: int) -> Completion:
                run = self._run_of(record)
                stream = streams[run]
                assert stream is not None
                stream.seek(self._starts[record])
                return decode_as(Completion, stream.readline())

            # Half-equal digests are adjacent; the first of each whole key is kept.
            for place in np.flatnonzero(equal):
                later = int(order[place + 1])
                found = read(later)
                before = int(place)
                while before >= 0 and digests[order[before]] == digests[later]:
                    earlier = int(order[before])
                    if self._kept[earlier] and (known := read(earlier)).key == found.key:
                        self._compare(known, earlier, found, later)
                        self._kept[later] = False
                        break
                    before -= 1

    def _compare(self, known: Completion, earlier: int, found: Completion, later: int) -> None:
        difference = _difference(known, found)
        if difference is None:
            return
        path, line = self._where(later)
        other, other_line = self._where(earlier)
        raise DataError(
            f"key {found.key} (case {self._case_of(found.key)!r}) has another answer here than in "
            f"{other}:{other_line}: {difference}",
            path=path,
            line=line,
            hint="A question must have one answer: leave one of the two runs out. Shards share no "
            "cases.",
        )

    def _run_of(self, record: int) -> int:
        return int(np.searchsorted(self._firsts, record, side="right")) - 1

    def _where(self, record: int) -> tuple[Path, int]:
        run = self._run_of(record)
        return self._paths[run], record - self._firsts[run] + 1


def write_lines(path: Path, lines: Iterable[bytes]) -> None:
    """Writes a file of lines as they are, newlines included.

    Raises:
        StorageFull: the disk is full.
    """
    try:
        with path.open("wb") as stream:
            stream.writelines(lines)
            stream.flush()
            os.fsync(stream.fileno())
    except OSError as error:
        raise storage_error(error, path) from error


def _difference(known: Completion, found: Completion) -> str | None:
    """The difference of two answers to one key; None where they are the same.

    Scored choices have no text of their own: the likeliest one follows from the scores, and may
    differ where two are almost equal.
    """
    scores, others = found.choice_logprobs, known.choice_logprobs
    if scores is not None and others is not None and len(scores) == len(others):
        apart = max(abs(one - other) for one, other in zip(scores, others, strict=True))
        if apart <= LOGPROB_TOLERANCE:
            return None
        return f"log-probabilities differ by {apart:.4g}, more than {LOGPROB_TOLERANCE:g}"
    if scores is not None or others is not None:
        return "they are not both scores of the same choices"
    if known.text != found.text:
        return _text_difference(known.text, found.text)
    if known.finish != found.finish:
        return f"it ended by {found.finish!r} here and by {known.finish!r} there"
    return None


def _text_difference(known: str, found: str) -> str:
    length = min(len(known), len(found))
    start = next((at for at in range(length) if known[at] != found[at]), length)
    here, there = (text[start : start + _EXCERPT] for text in (found, known))
    return f"from character {start + 1} on it is {here!r} here and {there!r} there"


def merge_failures(folders: Sequence[Path], merged: Path) -> int:
    """Writes the failures of several runs that no run has an answer to.

    Args:
        folders: the runs.
        merged: a folder with the union of their ledgers.

    Returns:
        The number of failures. A key's failure is that of the run with the most attempts.

    Raises:
        DataError: a line is damaged.
    """
    last: dict[str, Failure] = {}
    for folder in folders:
        noted = list(read_records(folder / FAILURES, Failure))
        check_count(folder, FAILURES, len(noted))
        own = {failure.key: failure for failure in noted}
        for key, failure in own.items():
            if key not in last or failure.attempts > last[key].attempts:
                last[key] = failure
    with closing(LedgerReader(merged)) as reader:
        left = [item for key, item in last.items() if not isinstance(reader.find(key), Completion)]
    if left:
        write_records(merged / FAILURES, left, encode_summed)
    return len(left)
