"""Win rate of the first response, by our rule and by the rules of other tools.

From the same verdicts the tools report different win rates: they differ in the use of both orders,
in the treatment of orders that disagree, and in the value of ties and of failures.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from autoj.errors import UnknownComponent
from autoj.metrics._prediction_powered import prediction_powered
from autoj.metrics.base import Row, Rows, Score, proportion
from autoj.records import WINNERS, Estimate, Winner

_SHARE: Mapping[Winner, float] = {"a": 1.0, "tie": 0.5, "b": 0.0}
_WON: Mapping[Winner, float] = {"a": 1.0, "tie": 0.0, "b": 0.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class WinRule:
    """A tool's rule for computing a win rate from verdicts."""

    says: str
    """The rule in words."""
    source: str
    share: Score
    """A case's share, or None where the tool leaves the case out."""
    n_orders: int = 1
    """Number of orders in which a case must be judged."""


def _auto_j(row: Row) -> float | None:
    return float(set(row.winners) == {"a"})


def _mt_bench(row: Row) -> float | None:
    if not row.winners or None in row.winners:
        return None
    return _SHARE[row.winners[0] or "tie"] if len(set(row.winners)) == 1 else 0.5


def _pandalm(row: Row) -> float | None:
    return _WON[_first(row) or "tie"] if row.winners else None


def _alpaca_eval(row: Row) -> float | None:
    winner = _first(row)
    return None if winner is None else _SHARE[winner]


def _arena_hard(row: Row) -> float | None:
    games = [_SHARE[winner] for winner in row.winners if winner is not None]
    return sum(games) / len(games) if games else None


def _first(row: Row) -> Winner | None:
    return row.winners[0] if row.winners else None


CONVENTIONS: Mapping[str, WinRule] = {
    "auto-j": WinRule(
        says="a win needs both orders; ties, disagreeing orders and failures are no wins",
        source="paper, section 6.1; the release counts a failed judgment as wrong",
        share=_auto_j,
        n_orders=2,
    ),
    "mt-bench": WinRule(
        says="disagreeing orders are a tie; a tie is half a win; failures are left out",
        source="L. Zheng et al. (2023); FastChat, show_result.py (adjusted win rate)",
        share=_mt_bench,
        n_orders=2,
    ),
    "pandalm": WinRule(
        says="the first order alone; a tie is no win; a failure is a tie",
        source="Y. Wang et al. (2023); PandaLM, evaluation_pipeline.py",
        share=_pandalm,
    ),
    "alpaca-eval": WinRule(
        says="the first order alone; a tie is half a win; failures are left out",
        source="AlpacaEval, metrics/helpers.py (the unweighted win rate)",
        share=_alpaca_eval,
    ),
    "arena-hard": WinRule(
        says="each order is a game, a clear win counts three; a tie is half a win; failed games "
        "are left out",
        source="T. Li et al. (2024); Arena-Hard-Auto, show_result.py",
        share=_arena_hard,
    ),
}
"""The rules of five tools, by name."""


def compute(rows: Rows) -> Estimate:
    """The win rate of response a over response b, by the verdicts' winners; a tie counts half.

    Args:
        rows: pairs; a case without a winner is unscored.
    """
    return proportion("win rate", rows, share)


def share(row: Row) -> float | None:
    """A pair's share of the win rate of a; None without a winner."""
    return None if row.winner is None else _SHARE[row.winner]


def corrected(rows: Rows) -> Estimate:
    """The win rate by human labels, estimated from all verdicts and the labels of some cases.

    Args:
        rows: pairs, some of them labelled; see `prediction_powered`.
    """
    return prediction_powered(
        "win rate, corrected by the labels",
        rows,
        share,
        lambda row: None if row.label not in WINNERS else _SHARE[row.label],
        span=(0.0, 1.0),
    )


def by_convention(rows: Rows, convention: str) -> Estimate:
    """The win rate of response a over response b, as another tool would report it.

    Args:
        rows: pairs; untallied where verdicts have strengths.
        convention: a name in `CONVENTIONS`.

    Raises:
        UnknownComponent: there is no such convention.
    """
    if convention not in CONVENTIONS:
        raise UnknownComponent("convention", convention, CONVENTIONS)
    name, rule = f"win rate, {convention}", CONVENTIONS[convention]
    if rows and all(len(row.winners) < rule.n_orders for row in rows):
        alone = all(not row.winners for row in rows)
        why = "each response was rated alone, in no order" if alone else "only one order was judged"
        reason = f"not applicable: {why}"
        return Estimate(name=name, value=None, n=0, n_clusters=0, reason=reason)
    if convention != "arena-hard" or not any(row.strengths for row in rows):
        return proportion(name, rows, rule.share)
    return _clear_wins_counted(name, rows)


def _clear_wins_counted(name: str, rows: Rows) -> Estimate:
    """Counts clear wins as three games of their case, over all games together."""
    games = [
        row._replace(winner=winner)
        for row in rows
        for winner, strength in zip(row.winners, row.strengths, strict=True)
        if winner is not None
        for _ in range(3 if strength == 2 else 1)
    ]
    n_read = sum(any(winner is not None for winner in row.winners) for row in rows)
    found = proportion(name, games, lambda row: _SHARE[row.winner or "tie"])
    return replace(found, n=n_read, n_unscored=len(rows) - n_read)
