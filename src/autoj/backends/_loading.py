"""Silences transformers while it loads a model, and shortens its errors to a line."""

import logging as python_logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_MOST_CHARACTERS = 300


@contextmanager
def quiet(logging: Any, *, bars: bool) -> Iterator[None]:
    """Silences transformers' own output, as our errors say the same; downloads may be shown.

    Args:
        logging: `transformers.logging`.
        bars: True shows its progress bars.
    """
    verbosity, shown = logging.get_verbosity(), logging.is_progress_bar_enabled()
    # The hub's client has a handler of its own: what it says would come twice.
    client = python_logging.getLogger("huggingface_hub")
    propagates, client.propagate = client.propagate, False
    logging.set_verbosity_error()
    if not bars:
        logging.disable_progress_bar()
    try:
        yield
    finally:
        client.propagate = propagates
        logging.set_verbosity(verbosity)
        if shown:
            logging.enable_progress_bar()


def in_short(error: BaseException) -> str:
    """A foreign error in one line; some list every tensor of a model.

    >>> in_short(ValueError("size mismatch:" + chr(10) + "a"))
    'size mismatch: a'
    """
    line = " ".join(str(error).split()) or type(error).__name__
    return line if len(line) <= _MOST_CHARACTERS else line[:_MOST_CHARACTERS] + "…"
