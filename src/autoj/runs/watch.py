"""Who is told how far long work is, and may stop it: the one way from the library to a terminal."""

from __future__ import annotations

__all__ = ["SILENT", "Watch"]


class Watch:
    """Follows a task; this one shows nothing and stops nothing.

    Subclass it to draw progress, to show messages, or to cancel. Its methods are called from the
    thread that runs the task, between two answers, and should return at once.
    """

    def progress(self, what: str, n_done: int, n_total: int) -> None:
        """Take note of progress.

        Args:
            what: what is being done, such as "judging"; another text begins another count.
            n_done: how much of it is done.
            n_total: how much there is, as far as is known.
        """

    def message(self, text: str) -> None:
        """Take note of something that a user should know; one sentence, no line end."""

    def cancelled(self) -> bool:
        """Whether the task should stop; what is answered by then is kept, and it can go on."""
        return False


SILENT = Watch()
"""Nobody watches."""
