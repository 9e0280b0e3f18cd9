"""Memory that native libraries keep beyond what is used, while a judge answers or is trained."""

import ctypes
import os
from contextlib import suppress

_KERNELS = 64
"""More than texts of one length need: five products a layer, forward and in training backward."""


def bound_kernel_caches() -> None:
    """Bounds the kernels that oneDNN keeps for products on the CPU; a limit that is set stays.

    It makes them for each length of a text and keeps 1,024, twice: for the lengths of 100 texts
    that is 0.7 GB in a training and 0.2 GB for a judge in bfloat16, of which nothing is used again
    before the same length comes. The libraries read these variables at their first product.
    """
    for name in ("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "LRU_CACHE_CAPACITY"):
        os.environ.setdefault(name, str(_KERNELS))


def trim_heap() -> None:
    """Gives what was freed back to the system, where the C library is glibc; else does nothing.

    glibc keeps freed memory. Each step's tensors have other lengths and seldom fit into what the
    last ones left, so a training would come to hold several times what it uses.
    """
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)
