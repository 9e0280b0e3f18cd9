"""The C library's heap, between two steps of a training."""

import ctypes
from contextlib import suppress


def trim_heap() -> None:
    """Gives what was freed back to the system, where the C library is glibc; else does nothing.

    glibc keeps freed memory. Each step's tensors have other lengths and seldom fit into what the
    last ones left, so a training would come to hold several times what it uses.
    """
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)
