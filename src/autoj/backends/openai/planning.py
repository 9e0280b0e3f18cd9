"""A judge behind a server, as far as nothing is sent: its limits, its tokens, its least time."""

from autoj.backends.base import Limits
from autoj.backends.openai.counting import estimate_tokens
from autoj.backends.openai.exact import MOST_BEGINNINGS
from autoj.backends.openai.settings import Settings
from autoj.records import JudgeCard

_SECONDS_PER_MINUTE = 60.0


class ServerReader:
    """Counts a judge's tokens and states its limits; it needs no key and no connection."""

    def __init__(self, card: JudgeCard, settings: Settings) -> None:
        self.card = card
        self._limits = Limits(
            context_tokens=card.context_tokens,
            scores_choices=settings.scoring != "none",
            streams=False,
            # A beginning shared by choices takes a further request.
            readings_per_score=1 + MOST_BEGINNINGS if settings.scoring == "prefill" else 1,
        )
        self._settings = settings

    @property
    def limits(self) -> Limits:
        """Its limits, with the length of its context."""
        return self._limits

    @property
    def address(self) -> str:
        """The server's base URL: other servers may have other models under one name."""
        return self._settings.base_url

    def count_tokens(self, text: str) -> int:
        """Estimates a text's tokens, on the high side (`counting.estimate_tokens`)."""
        return estimate_tokens(text)

    def least_seconds(self, n_requests: int, n_tokens: int) -> float | None:
        """The least time that the card's rate limits allow; None where it states none.

        Args:
            n_requests: requests to send.
            n_tokens: tokens that they read and write.
        """
        limits = (
            (n_requests, self._settings.requests_per_minute),
            (n_tokens, self._settings.tokens_per_minute),
        )
        times = [_SECONDS_PER_MINUTE * n / rate for n, rate in limits if rate is not None]
        return max(times, default=None)
