"""Growing a run: a higher limit, or rows appended to its data, add cases to those it has.

The cases of a run must be the first ones of the data as it is now, and no other setting may differ.
Then the grown run is the one that all of the data would have made from the start.
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from autoj.errors import DataError, SpecMismatch
from autoj.jsonl import damaged, encode, read_records
from autoj.records import Case
from autoj.runs.files import CASES, describe, digests_of, state_of
from autoj.runs.folder import RunFolder
from autoj.runs.naming import without_guess
from autoj.runs.settings import ChangedSetting
from autoj.runs.shards import PlacedCase
from autoj.runs.spec import RunSpec

MAY_GROW = ("limit", "data.sha256", "data.derivation")
"""The settings that may differ, by their names in `settings.differences`."""


def n_known_cases(folder: RunFolder) -> int:
    """The number of cases that a run has; a start that was stopped may have written more."""
    digest = digests_of(folder.path).get(CASES)
    return folder.n_cases() if digest is None else digest.n_lines


def known_cases(folder: RunFolder, spec: RunSpec) -> Iterator[Case]:
    """The cases that a run has, without those that a stopped start has written.

    Raises:
        DataError: they are damaged.
    """
    path = folder.path / CASES
    digest = digests_of(folder.path).get(CASES)
    state = state_of(path, digest)
    if digest is not None and state not in ("whole", "longer"):
        raise damaged(path, None, describe(state, path, digest))
    kind = Case if spec.shard is None else PlacedCase
    return islice(read_records(path, kind), n_known_cases(folder))


def grown(
    path: Path, known: Iterator[Case], taken: Iterator[Case], changed: Sequence[ChangedSetting]
) -> Iterator[Case]:
    """The cases of a run and then those that the data has besides.

    Args:
        path: the run's folder, for messages.
        known: its cases.
        taken: those of the data, without names that a classifier gave.
        changed: the settings that differ, for messages.

    Raises:
        SpecMismatch: the cases of the run are not the first ones of the data.
    """
    for number, case in enumerate(known, start=1):
        try:
            found = next(taken, None)
        except DataError as error:
            what = f"the data cannot be read up to its case {number:,}: {error.message}"
            raise _mismatch(path, what, changed) from None
        if found is None:
            n_known = number + sum(1 for _ in known)
            what = f"it has {n_known:,} cases, and the data and the limit give {number - 1:,} now"
            raise _mismatch(path, what, changed)
        if encode(without_guess(case)) != encode(found):
            raise _mismatch(path, _other(number, case, found), changed)
        yield case
    yield from taken


def _mismatch(path: Path, what: str, changed: Sequence[ChangedSetting]) -> SpecMismatch:
    # Digests of files say no more than that they differ.
    told = [str(difference) for difference in changed if difference.name != "data.sha256"]
    return SpecMismatch(
        path,
        [what, *told],
        what="other cases",
        hint="A run grows by rows that are added after its last one, or by a higher --limit. "
        f"`autoj show {path}` shows it as it is; another --out makes a new run.",
    )


def _other(number: int, case: Case, found: Case) -> str:
    if case.id != found.id:
        return f"its case {number:,} is {case.id!r}, and in the data it is {found.id!r} now"
    return f"its case {number:,}, {case.id!r}, is another in the data now"
