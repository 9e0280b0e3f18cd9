"""A watch that notes what it is told, and may want the work to stop."""

from __future__ import annotations

from autoj.runs.watch import Watch


class Notes(Watch):
    """Keeps progress and messages; cancels after so many calls of `progress`."""

    def __init__(self, cancels_after: int | None = None) -> None:
        self.progress_of: list[tuple[str, int, int]] = []
        self.messages: list[str] = []
        self._cancels_after = cancels_after

    def progress(self, what: str, n_done: int, n_total: int) -> None:
        self.progress_of.append((what, n_done, n_total))

    def message(self, text: str) -> None:
        self.messages.append(text)

    def cancelled(self) -> bool:
        return self._cancels_after is not None and len(self.progress_of) >= self._cancels_after
