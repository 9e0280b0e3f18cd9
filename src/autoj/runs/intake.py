"""Checks rows before a run: duplicate ids, wrong numbers of responses, empty texts."""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from autoj.datasets.base import Cases
from autoj.errors import DataError, EmptyShard, UnknownComponent
from autoj.records import Case
from autoj.runs.naming import settle_scenario
from autoj.runs.shards import Dealer, PlacedCase, Shard
from autoj.runs.spec import RunSpec

REFERENCES = "references"
"""The count of cases with a reference answer."""
_MOST_BAD_ROWS = 100_000


def taken_cases(
    cases: Cases, spec: RunSpec, bad_rows: list[DataError]
) -> tuple[Iterator[Case], Dealer | None]:
    """The cases that a run takes from a data set, without names for their scenarios.

    Args:
        cases: the data set.
        spec: the settings.
        bad_rows: receives the rows that are left out.

    Returns:
        The cases, lazily, and what deals them out where the run is a shard.

    Raises:
        DataError: as of `checked_cases`, or the shard gets no case.
    """
    taken = checked_cases(cases, spec, bad_rows)
    shard = None if spec.shard is None else Shard.parse(spec.shard)
    if shard is None:
        return taken, None
    dealer = Dealer(shard)
    return _dealt(dealer, taken, cases.place), dealer


def count_references(cases: Iterable[Case], counts: Counter[str]) -> Iterator[Case]:
    """The same cases; those with a reference answer are counted in `counts[REFERENCES]`."""
    for case in cases:
        counts[REFERENCES] += case.reference is not None
        yield case


def _dealt(dealer: Dealer, cases: Iterable[Case], path: Path) -> Iterator[PlacedCase]:
    """The cases of a shard, which must have at least one."""
    yield from dealer.deal(cases)
    if dealer.n_kept == 0:
        raise EmptyShard(
            f"has {dealer.n_distinct:,} distinct cases, and shard {dealer.shard} gets none of them",
            path=path,
            hint="The other shards have them all; this one is not needed.",
        )


def checked_cases(cases: Cases, spec: RunSpec, bad_rows: list[DataError]) -> Iterator[Case]:
    """The cases of a data set that a run can judge.

    Args:
        cases: the data set.
        spec: states the limit, the required fields, and whether bad rows are skipped.
        bad_rows: receives the skipped rows.

    Raises:
        DataError: a row cannot be judged and is not skipped, too many are, or no case is left.
    """
    seen: set[int] = set()
    n_cases = 0
    must_name = spec.needs_scenario and spec.classifier is None
    for line, item in cases.read():
        if spec.limit is not None and n_cases >= spec.limit:
            break
        path = cases.place
        if not isinstance(item, DataError):
            item = _settled(item, line, path, spec, must_name)
        error = item if isinstance(item, DataError) else _fault(item, line, path, spec, seen)
        if error is None:
            assert isinstance(item, Case)
            seen.add(hash(item.id))
            n_cases += 1
            yield item
        elif spec.skip_bad_rows:
            bad_rows.append(error)
            _check_number(bad_rows, path)
        else:
            if error.hint is None:
                error.hint = "Add --skip-bad-rows to leave such rows out and list them."
            raise error
    if n_cases == 0:
        raise DataError(
            "holds no case that can be judged" if bad_rows else "is empty: it holds no rows",
            path=cases.place,
        )


def _check_number(bad_rows: list[DataError], path: Path) -> None:
    """Ends the reading of a file whose bad rows would fill memory."""
    if len(bad_rows) > _MOST_BAD_ROWS:
        raise DataError(
            f"has more than {_MOST_BAD_ROWS:,} bad rows; the first: {bad_rows[0]}", path=path
        )


def _settled(case: Case, line: int, path: Path, spec: RunSpec, must_name: bool) -> Case | DataError:
    """The case with its scenario in the run's spelling, or the error of that."""
    if case.scenario is None and must_name:
        return DataError(
            f"case {case.id!r} has no scenario, and protocol {spec.protocol!r} judges by its "
            "criteria",
            path=path,
            line=line,
            field="scenario",
            hint="Add --classify to name the scenarios of such rows; `autoj scenarios` lists them.",
        )
    try:
        return settle_scenario(case, spec)
    except UnknownComponent as error:
        return DataError(
            error.message,
            path=path,
            line=line,
            field="scenario",
            hint=f"{error.hint} --unknown-scenario others replaces such names by `others`; "
            "--scenarios DIR adds scenarios of your own.",
        )


def _fault(case: Case, line: int, path: Path, spec: RunSpec, seen: set[int]) -> DataError | None:
    if hash(case.id) in seen:
        return DataError(
            f"an earlier row has the same id, {case.id!r}", path=path, line=line, field="id"
        )
    if spec.task in ("rate", "select") and not case.responses:
        return DataError(
            f"case {case.id!r} has no response to {'rate' if spec.task == 'rate' else 'pick'}",
            path=path,
            line=line,
            field="responses",
        )
    if spec.task == "judge" and len(case.responses) != 2:
        return DataError(
            f"case {case.id!r} has {len(case.responses)} responses; autoj judge compares two",
            path=path,
            line=line,
            field="responses",
            hint="autoj rate rates any number.",
        )
    if spec.task == "compare" and len(case.critiques) != 2:
        return DataError(
            f"case {case.id!r} has {len(case.critiques)} critiques; expected two to compare",
            path=path,
            line=line,
            field="critiques",
        )
    if spec.needs_reference and not (case.reference or "").strip():
        return DataError(
            f"case {case.id!r} has no reference answer, and protocol {spec.protocol!r} needs one",
            path=path,
            line=line,
            field="reference",
            hint='Add a "reference" to the row (--map reference=COLUMN names its column), or use a '
            "protocol without references.",
        )
    if spec.reject_empty:
        for index, response in enumerate(case.responses):
            if not response.text.strip():
                return DataError(
                    f"case {case.id!r}: the response is empty",
                    path=path,
                    line=line,
                    field=f"responses[{index}]",
                )
    return None


def bad_row(error: DataError) -> dict[str, Any]:
    """The line of `bad_rows.jsonl` for a row that was skipped."""
    return {
        "path": str(error.path),
        "line": error.line,
        "field": error.field,
        "reason": error.reason,
    }
