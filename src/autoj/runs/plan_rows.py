"""The rows of a run's plan, read along with its cases and checked against them."""

from itertools import groupby
from pathlib import Path

from autoj.errors import DataError
from autoj.jsonl import damaged
from autoj.records import Asked, Case
from autoj.runs.folder import RunFolder
from autoj.runs.ledger import is_key
from autoj.runs.plan import asked_about
from autoj.runs.spec import RunSpec


class PlanRows:
    """The rows of a plan by case, read along with the cases: both are in the same order."""

    def __init__(self, folder: RunFolder, name: str) -> None:
        self._path = folder.path / name
        self._groups = groupby(folder.rows(name, Asked), key=lambda asked: asked.case_id)
        self._ahead: tuple[str, list[Asked]] | None = None

    def of(self, case: Case) -> list[Asked]:
        """The rows of the next case; none where it has none.

        Raises:
            DataError: a row names a response that the case does not have.
        """
        if self._ahead is None:
            if (group := next(self._groups, None)) is None:
                return []
            self._ahead = group[0], list(group[1])
        if self._ahead[0] != case.id:
            return []
        rows, self._ahead = self._ahead[1], None
        return checked_rows(self._path, case, rows)

    def about(self, case: Case, spec: RunSpec) -> list[Asked]:
        """The rows of the first questions about the next case, which may not all be planned yet.

        Raises:
            DataError: they are not the questions that the run asks.
        """
        return as_asked(self._path, case, self.of(case), spec)

    def check_end(self) -> None:
        """Checks that all rows were about a case, after the last one.

        Raises:
            DataError: a row is left.
        """
        left = self._ahead or next(self._groups, None)
        if left is not None:
            raise self.damage(f"its rows about case {left[0]!r} do not follow the cases")

    def damage(self, what: str) -> DataError:
        """The error of a damaged plan."""
        return damaged(self._path, None, what)


def checked_rows(path: Path, case: Case, rows: list[Asked]) -> list[Asked]:
    """The rows about a case, which name its responses and keys of questions.

    Raises:
        DataError: a row names a response that the case does not have, or no key.
    """
    n_compared = max(len(case.responses), len(case.critiques))
    if not all(0 <= index < n_compared for row in rows for index in row.shown):
        raise damaged(path, None, f"a row about case {case.id!r} shows a response that it has not")
    if not all(is_key(row.key) for row in rows):
        raise damaged(path, None, f"a row about case {case.id!r} has no key of 64 hex digits")
    return rows


def as_asked(path: Path, case: Case, rows: list[Asked], spec: RunSpec) -> list[Asked]:
    """The rows of the first questions about a case, as the run asks them.

    Raises:
        DataError: they are not the questions that the run asks.
    """
    found = [(row.shown, row.sample, row.judge, row.protocol) for row in rows]
    wanted = [(*each, spec.judge.name, spec.protocol) for each in asked_about(case, spec)]
    if found != wanted[: len(found)]:
        raise damaged(
            path, None, f"the rows about case {case.id!r} are not the questions that the run asks"
        )
    return rows
