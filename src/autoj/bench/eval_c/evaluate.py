"""Eval-C: two critics compared by their critiques of the same responses (paper, 5.1 and 6.2).

A judge compares two critics' critiques of a response (Table 15), in one order drawn by a seed as in
the paper, or in both. Ratings are removed from the critiques first, so that text is compared.
**Win**, **tie** and **lose** are shares of the compared cases; the paper's win rate is wins by all.
A case for which a critic has no critique is unscored, and never that critic's loss.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from autoj.bench.base import (
    broken_down,
    group_name,
    in_paper_order,
    lost_counts,
    set_digest,
)
from autoj.bench.eval_c.files import Vote, read_votes
from autoj.datasets.base import Cases
from autoj.errors import DataError
from autoj.metrics import Row, consistency, win_rate
from autoj.metrics.base import Rows, proportion
from autoj.metrics.result import Result
from autoj.metrics.rows import pair_row
from autoj.protocols.base import JudgeProtocol
from autoj.records import Case, Decision, Estimate, Verdict, Winner
from autoj.verdicts.own_frame import to_winner
from autoj.verdicts.resolve import settle

_BREAKDOWNS: Mapping[str, Callable[[Row], str | None]] = {
    "group": lambda row: group_name(row.scenario),
    "scenario": lambda row: row.scenario,
}
_RELEASED_NAME = re.compile(r"(?P<judge>.+)-Eval_(?P<critic>.+)_vs_(?P<against>.+)")
"""The pattern of the names of the release's files of votes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two critics' critiques of a set's responses, compared."""

    critic: str
    against: str
    judged_by: str
    """The judge that compared them."""
    source: str
    """The origin of the verdicts."""
    cases: Sequence[Case]
    """The set's."""
    verdicts: Sequence[Verdict]
    """In the same order; without a winner where nothing could be compared or read."""
    both_orders: bool
    notes: tuple[str, ...]


def read_set(data: Cases) -> list[Case]:
    """The cases of a set of single responses.

    Raises:
        DataError: a row cannot be read or has not one response, or there is no row.
    """
    cases: list[Case] = []
    for line, case in data.readable():
        if len(case.responses) != 1:
            raise DataError(
                f"case {case.id!r} has {len(case.responses)} responses; a critique is of one",
                path=data.paths[0],
                line=line,
            )
        cases.append(case)
    if not cases:
        raise DataError("is empty: it has no cases", path=data.paths[0])
    return cases


def voted(path: Path, cases: Sequence[Case], protocol: JudgeProtocol) -> Comparison:
    """Votes in the release's format as a comparison; reads no model.

    Args:
        path: a file of votes; the critics' and the judge's names are taken from the file's, where
            it is one that the release's script gives.
        cases: the set.
        protocol: reads what the judge wrote.

    Raises:
        DataError: as in `read_votes`.
    """
    named = _RELEASED_NAME.fullmatch(path.name.partition(".jsonl")[0])
    judge = named["judge"] if named else path.name.partition(".")[0]
    return Comparison(
        critic=named["critic"] if named else "first critic",
        against=named["against"] if named else "second critic",
        judged_by=judge,
        source=f"votes {path}",
        cases=cases,
        verdicts=[
            _verdict(case, vote, judge, protocol)
            for case, vote in zip(cases, read_votes(path, cases), strict=True)
        ],
        both_orders=False,
        notes=(),
    )


def _verdict(case: Case, vote: Vote, judge: str, protocol: JudgeProtocol) -> Verdict:
    shown = (case.query, case.responses[0].text, *case.critiques)
    reading = None if vote.text is None else protocol.parse(vote.text, shown)
    winner: Winner | None = None
    if isinstance(reading, Decision):
        winner = to_winner(reading.shown, (1, 0) if vote.exchanged else (0, 1))
    return settle(
        Verdict(
            case_id=case.id,
            judge=judge,
            winners=(winner,),
            n_unreadable=int(winner is None and reading is not None),
            n_failed=int(reading is None),
        )
    )


def figures(rows: Rows, *, both_orders: bool) -> tuple[Estimate, ...]:
    """Shares of wins, ties and losses, the win rate with ties half, and perhaps the consistency."""
    found = (
        _share("win", "a", rows),
        _share("tie", "tie", rows),
        _share("lose", "b", rows),
        win_rate.compute(rows),
    )
    return (*found, consistency.compute(rows)) if both_orders else found


def _share(name: str, winner: Winner, rows: Rows) -> Estimate:
    return proportion(
        name, rows, lambda row: None if row.winner is None else float(row.winner == winner)
    )


def evaluate(comparison: Comparison) -> Result:
    """The first critic's wins, ties and losses, overall, by group and by scenario.

    **Source:** paper, section 5.1 (Task II) and Table 22; on the release's votes `win` is the win
    rate that its script prints.
    """
    rows = [
        pair_row(case, verdict)
        for case, verdict in zip(comparison.cases, comparison.verdicts, strict=True)
    ]

    def of_rows(its: Rows) -> tuple[Estimate, ...]:
        return figures(its, both_orders=comparison.both_orders)

    return Result(
        bench="eval-c",
        judge=comparison.critic,
        source=comparison.source,
        n_cases=len(rows),
        estimates=of_rows(rows),
        parts=broken_down(in_paper_order(rows), of_rows, _BREAKDOWNS),
        notes=comparison.notes,
        details={
            "set": set_digest(comparison.cases),
            "against": comparison.against,
            "judged_by": comparison.judged_by,
            "both_orders": comparison.both_orders,
            **lost_counts(comparison.verdicts),
        },
    )
