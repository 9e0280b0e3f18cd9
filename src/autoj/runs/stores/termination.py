"""SIGTERM while stored runs are written: it ends the work, and never the storing that follows."""

import logging
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

from autoj.errors import AutojError

_log = logging.getLogger(__name__)

_TERMINATED = 128 + signal.SIGTERM


@dataclass(slots=True)
class _State:
    """The sessions of this process, of which a jury has several; the main thread's alone."""

    n_open: int = 0
    n_delaying: int = 0
    is_asked: bool = False
    is_raised: bool = False

    def on_signal(self, number: int, frame: FrameType | None) -> None:
        """Ends the work once, now or after what must not be ended."""
        self.is_asked = True
        if not self.n_delaying:
            self.raise_once()

    def raise_once(self) -> None:
        if self.is_asked and not self.is_raised:
            self.is_raised = True
            raise SystemExit(_TERMINATED)


_state = _State()


@contextmanager
def ended_by_sigterm() -> Iterator[None]:
    """Ends the block by SystemExit at SIGTERM; as before in threads, which get no signals.

    The outermost of several such blocks brings the handler of before back, at its end.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = None if _state.n_open else signal.signal(signal.SIGTERM, _state.on_signal)
    _state.n_open += 1
    try:
        yield
    finally:
        _state.n_open -= 1
        if not _state.n_open:
            signal.signal(signal.SIGTERM, before)
            _state.is_asked = _state.is_raised = False


@contextmanager
def sigterm_delayed() -> Iterator[None]:
    """Lets the block end in order at SIGTERM, which raises SystemExit after it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    _state.n_delaying += 1
    try:
        yield
    except AutojError as error:
        if _state.is_asked and not _state.is_raised:
            # SystemExit takes its place.
            _log.warning("%s", error)
        raise
    finally:
        _state.n_delaying -= 1
        if not _state.n_delaying:
            _state.raise_once()
