"""Reuse of answers over runs: the judges whose answers are kept, and their place in the cache."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

from autoj.backends.base import Reader
from autoj.errors import ConfigError
from autoj.records import Completion, JudgeCard
from autoj.runs.cache import AnswerCache, AnswerSource
from autoj.runs.cost import has_prices
from autoj.runs.ledger import LedgerReader, RecordedAnswer

_THIS_MACHINE = ("localhost", "127.0.0.1", "::1")


class KnownAnswers(Protocol):
    """Answers that need not be asked for again."""

    def find(self, key: str) -> RecordedAnswer | None:
        """The answer to a key; None where there is none."""

    def keep(self, answer: Completion) -> None:
        """Receives each new answer."""


class LedgerAnswers:
    """The answers in the ledgers of other runs.

    Args:
        folders: the folders of these runs; they are only read.
        reused: False where they are parts of the run that takes them, which they cost.

    Raises:
        DataError: a ledger is damaged.
    """

    def __init__(self, folders: Sequence[Path], *, reused: bool = True) -> None:
        self._ledgers = [LedgerReader(folder) for folder in folders]
        self._reused = reused

    def find(self, key: str) -> RecordedAnswer | None:
        """The answer to a key; None where no run has one."""
        for ledger in self._ledgers:
            found = ledger.recorded(key)
            if found is not None:
                # What a part of the run itself took over has cost nothing, now as then.
                return replace(found, reused=self._reused or found.reused)
        return None

    def keep(self, answer: Completion) -> None:
        """Does nothing: the run's own ledger has it."""

    def close(self) -> None:
        """Closes the ledgers."""
        for ledger in self._ledgers:
            ledger.close()


class Reuse:
    """The answers of earlier runs that one judge may give again."""

    def __init__(self, cache: AnswerCache, source: AnswerSource) -> None:
        self._cache = cache
        self._source = source

    def find(self, key: str) -> RecordedAnswer | None:
        """The answer to a key, marked as reused; None where there is none."""
        return self._cache.find(self._source, key)

    def keep(self, answer: Completion) -> None:
        """Keeps an answer for other runs."""
        self._cache.keep(self._source, answer)

    def typical_tokens(self) -> float | None:
        """The mean length of the texts that this judge wrote for this protocol, in tokens."""
        return self._cache.typical_tokens(self._source)


@contextmanager
def reused(engine: Reader, protocol: str, wanted: bool | None) -> Iterator[Reuse | None]:
    """Opens the answers of earlier runs for one judge.

    Args:
        engine: the judge; every backend is a reader.
        protocol: the protocol of the run.
        wanted: False for none; None for a judge that costs (`costs_money`) only.

    Raises:
        ConfigError: they are asked for, and nothing pins the weights of a judge of this machine.
    """
    address: str | None = getattr(engine, "address", None)
    if wanted is False or (wanted is None and not costs_money(engine.card, address)):
        yield None
        return
    if address is None:
        _check_pinned(engine.card)
    place = "local" if address is None else normal_address(address)
    with AnswerCache() as cache:
        yield Reuse(cache, AnswerSource(place=place, model=engine.card.model, protocol=protocol))


def costs_money(card: JudgeCard, address: str | None) -> bool:
    """True where a server answers that has prices, or that is reached by https elsewhere.

    A server of one's own may change the model behind a name from one day to the next.

    Args:
        card: the judge.
        address: the server's; None for an engine of this machine.

    >>> card = JudgeCard(name="j", title="j", backend="openai", model="m")
    >>> costs_money(card, "https://api.example.com/v1"), costs_money(card, "http://gpu-box:8000/v1")
    (True, False)
    """
    if address is None:
        return False
    parts = urlsplit(address)
    return has_prices(card) or (parts.scheme == "https" and parts.hostname not in _THIS_MACHINE)


def normal_address(address: str) -> str:
    """A server's address in one spelling, without user, password or query.

    >>> normal_address("HTTPS://API.example.com/v1/")
    'https://api.example.com/v1'
    """
    parts = urlsplit(address)
    host = (parts.hostname or "").lower()
    host = f"[{host}]" if ":" in host else host
    port = "" if parts.port is None else f":{parts.port}"
    return f"{parts.scheme}://{host}{port}{parts.path.rstrip('/')}"


def _check_pinned(card: JudgeCard) -> None:
    if card.revision is None or (card.adapter is not None and card.adapter_revision is None):
        raise ConfigError(
            f"--cache cannot be used with judge {card.name!r}: it runs on this machine, and its "
            "card does not pin the weights, so answers of other weights could be taken for its own",
            hint="Set revision in the card (and adapter_revision beside an adapter), or leave "
            "--cache out.",
        )
