"""A run's verdicts for an export, with counts of rows and of gaps."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from autoj.errors import ConfigError
from autoj.records import Case, Verdict
from autoj.runs import RunFolder, RunSpec, resolve_run
from autoj.runs.kind import kind_of


@dataclass(slots=True, kw_only=True)
class JudgedRun:
    """A run to export: its verdicts, and counts of what was written."""

    folder: RunFolder
    spec: RunSpec
    n_judged: int = 0
    """Cases with a verdict."""
    n_rows: int = 0
    """Rows that were written."""
    notes: Counter[str] = field(default_factory=Counter)
    """Counts by remark, such as "pairs have no winner: …"."""

    def verdicts(self) -> Iterator[tuple[Case, Verdict]]:
        """The judged cases in order, read from the ledger again.

        Picks of N consist of several verdicts, so their stored ones are read.
        """
        picked = kind_of(self.folder.path) == "select"
        found = self.folder.judged() if picked else resolve_run(self.folder, self.spec)
        for case, verdict in found:
            self.n_judged += 1
            yield case, verdict

    def need_pairs(self, tool: str) -> None:
        """Refuse a run that does not compare two responses.

        Raises:
            ConfigError: it does something else.
        """
        if self.spec.task != "judge":
            raise ConfigError(
                f"{self.folder.path} is a run of autoj {self.spec.task}, and {tool}'s layout is "
                "for pairs of responses",
                hint="Use --format jsonl, csv or parquet, which hold any run.",
            )


Export: TypeAlias = Callable[[JudgedRun, Path], None]
"""Writes a run to a path, and counts its rows and gaps."""


def name_of(case: Case, index: int) -> str:
    """The author of a response; "a", "b", "3", … if unknown."""
    return case.responses[index].model or ("ab"[index] if index < 2 else str(index + 1))
