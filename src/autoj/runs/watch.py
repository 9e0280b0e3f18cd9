"""Progress, messages and cancellation of long tasks: the one way from the library to a terminal."""


class Watch:
    """Follows a task; this one shows nothing and stops nothing.

    Subclass it to draw progress, to show messages, or to cancel. Its methods are called from the
    thread that runs the task, between two answers, and should return at once.
    """

    def progress(self, what: str, n_done: int, n_total: int) -> None:
        """Receives progress.

        Args:
            what: the current activity, such as "judging"; another text starts another count.
            n_done: the number of finished items.
            n_total: the number of all items, as far as it is known.
        """

    def cost(self, spent_usd: float, expected_usd: float | None) -> None:
        """Receives what a run has cost so far, before the progress that it belongs to.

        Args:
            spent_usd: US dollars, of earlier sessions, too. A judge without prices reports none.
            expected_usd: of the whole run, extrapolated; None where that is not known, or done.
        """

    def message(self, text: str) -> None:
        """Receives a message for the user; one sentence, without a line end."""

    def cancelled(self) -> bool:
        """True where the task should stop; earlier answers are kept, and it can be resumed."""
        return False


SILENT = Watch()
"""A watch that shows nothing."""
