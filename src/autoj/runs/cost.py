"""The cost of a run in US dollars, by the prices in its judge's card."""

from collections.abc import Sequence
from dataclasses import dataclass

from autoj.records import Completion, Failure, JudgeCard
from autoj.runs.budget import price_usd
from autoj.runs.ledger import RecordedAnswer

# Sums of many small amounts end in noise: a token costs no less than this.
_DIGITS = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """The money that answers cost, in US dollars; that of failed requests is not known."""

    session_usd: float
    """Of the answers of this session."""
    run_usd: float
    """Of all answers of the run; reused ones cost nothing."""
    expected_usd: float | None = None
    """Of the whole run once it is finished, extrapolated from this session's answers; None where
    nothing is left, or nothing was answered yet."""


def has_prices(card: JudgeCard) -> bool:
    """True where a card states what tokens cost."""
    return price_usd(card, 0, 0) is not None


class Meter:
    """Adds up the cost of a run's answers; a judge without prices is not metered."""

    def __init__(self, card: JudgeCard) -> None:
        self._card = card
        self.is_priced = has_prices(card)
        self._earlier_usd = self._session_usd = 0.0
        self._n_answered = 0
        self._expected_usd: float | None = None

    def count_earlier(self, answer: RecordedAnswer) -> None:
        """Counts an answer of an earlier session."""
        self._earlier_usd += self._price(answer)

    def add(self, outcome: Completion | Failure | None, n_left: int) -> None:
        """Counts an outcome of this session.

        Args:
            outcome: None where an earlier session answered.
            n_left: requests of the run that are still to be answered.
        """
        if not self.is_priced:
            return
        if isinstance(outcome, RecordedAnswer):
            self.count_earlier(outcome)
        elif isinstance(outcome, Completion):
            self._n_answered += 1
            self._session_usd += self._price(outcome)
        if self._n_answered == 0:
            return
        # Without those that were reused: what earlier runs asked mostly comes first.
        rest = n_left * self._session_usd / self._n_answered
        self._expected_usd = self._earlier_usd + self._session_usd + rest if n_left else None

    def cost(self) -> Cost | None:
        """The cost so far; None where the card states no prices."""
        if not self.is_priced:
            return None
        expected = self._expected_usd
        return Cost(
            session_usd=round(self._session_usd, _DIGITS),
            run_usd=round(self._earlier_usd + self._session_usd, _DIGITS),
            expected_usd=None if expected is None else round(expected, _DIGITS),
        )

    def _price(self, answer: Completion) -> float:
        if _is_reused(answer):
            return 0.0
        return price_usd(self._card, answer.prompt_tokens, answer.completion_tokens) or 0.0


def _is_reused(answer: Completion) -> bool:
    return isinstance(answer, RecordedAnswer) and answer.reused


def cost_of_sessions(costs: Sequence[Cost | None]) -> Cost | None:
    """The cost of one run over several calls, one after the other; None where it has no prices."""
    known = [cost for cost in costs if cost is not None]
    if not known:
        return None
    return Cost(
        session_usd=sum(cost.session_usd for cost in known),
        run_usd=known[-1].run_usd,
        expected_usd=known[-1].expected_usd,
    )
