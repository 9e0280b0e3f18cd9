"""A watch that keeps what it is told, for tests of calls that show nothing themselves."""

from __future__ import annotations

from autoj.runs.watch import Watch


class Notes(Watch):
    """Keeps messages and progress."""

    def __init__(self) -> None:
        self.messages: list[str] = []
        self.progressed: list[tuple[str, int, int]] = []

    def progress(self, what: str, n_done: int, n_total: int) -> None:
        self.progressed.append((what, n_done, n_total))

    def message(self, text: str) -> None:
        self.messages.append(text)
