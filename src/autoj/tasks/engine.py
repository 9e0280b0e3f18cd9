"""Loads the engine of a judge, with progress."""

from autoj.backends import load_backend
from autoj.backends.base import Backend
from autoj.records import JudgeCard
from autoj.runs.watch import SILENT, Watch

_FETCHING = ("embedded", "hf")
"""Backends that fetch weights on first use."""


def load_engine(card: JudgeCard, watch: Watch = SILENT) -> Backend:
    """Loads the engine of a judge, and reports the progress of a fetch on first use.

    Args:
        card: the judge.
        watch: told of the progress, in MB.

    Raises:
        MissingExtra: its packages are not installed.
        BackendError: it cannot be loaded.
    """
    if card.backend not in _FETCHING:
        return load_backend(card)

    def on_fetch(what: str, n_bytes: int, total_bytes: int) -> None:
        watch.progress(f"fetching {what} (MB)", n_bytes // 1_000_000, total_bytes // 1_000_000)

    return load_backend(card, on_fetch=on_fetch)
