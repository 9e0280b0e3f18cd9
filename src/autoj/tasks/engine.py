"""The engine of a judge, loaded while somebody watches."""

from __future__ import annotations

from autoj.backends import load_backend
from autoj.backends.base import Backend
from autoj.records import JudgeCard
from autoj.runs.watch import SILENT, Watch

_FETCHING = ("embedded", "hf")
"""Backends that fetch weights on first use."""


def load_engine(card: JudgeCard, watch: Watch = SILENT) -> Backend:
    """The engine of a judge; what it fetches on first use is shown.

    Args:
        card: the judge.
        watch: told how much is fetched, in MB.

    Raises:
        MissingExtra: its packages are not installed.
        BackendError: it cannot be loaded.
    """
    if card.backend not in _FETCHING:
        return load_backend(card)

    def on_fetch(what: str, n_bytes: int, total_bytes: int) -> None:
        watch.progress(f"fetching {what} (MB)", n_bytes // 1_000_000, total_bytes // 1_000_000)

    return load_backend(card, on_fetch=on_fetch)
