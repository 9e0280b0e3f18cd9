"""What all exports share: a run's verdicts, read along while what came of them is counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from autoj.errors import ConfigError
from autoj.records import Case, Verdict
from autoj.runs import RunFolder, RunSpec, resolve_run
from autoj.runs.kind import kind_of

__all__ = ["Export", "JudgedRun", "name_of"]


@dataclass(slots=True, kw_only=True)
class JudgedRun:
    """A run that is written out: its verdicts, and what came of them."""

    folder: RunFolder
    spec: RunSpec
    n_judged: int = 0
    """Cases whose verdict was read."""
    n_rows: int = 0
    """Rows that were written."""
    notes: Counter[str] = field(default_factory=Counter)
    """How often what is said happened: "pairs have no winner: …"."""

    def verdicts(self) -> Iterator[tuple[Case, Verdict]]:
        """The cases that are judged, in order, read anew from the ledger.

        Picks of N are made of several verdicts, so theirs are those that were last written.
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
                f"{self.folder.path} is a run of autoj {self.spec.task}, and {tool}'s layout holds "
                "pairs of responses",
                hint="--format jsonl, csv and parquet hold any run.",
            )


Export: TypeAlias = Callable[[JudgedRun, Path], None]
"""Writes a run to a path, and notes what came of it."""


def name_of(case: Case, index: int) -> str:
    """Who wrote a response; "a", "b", "3", … where that is not known."""
    return case.responses[index].model or ("ab"[index] if index < 2 else str(index + 1))
