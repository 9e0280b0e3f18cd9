"""The processor that judges, as far as a user should know of it."""

import logging
import platform
from functools import cache

import numpy as np

_log = logging.getLogger(__name__)
_X86 = ("x86_64", "amd64")
# As NumPy names what it found: one instruction set each, or the level of them all since 2.4.
_AVX512 = ("AVX512", "X86_V4")


@cache
def tell_if_slow() -> None:
    """Says, once in a process, that an x86 processor has no AVX-512.

    The embedded judges give the same answers there, to four digits of a log-probability, and take
    longer: their products of 8 bits, or of bfloat16, are made of other instructions.
    """
    if platform.machine().lower() in _X86 and _lacks_avx512():
        _log.warning(
            "this processor has no AVX-512, so embedded judges are slower here than with it; "
            "the quickest is embedded-small"
        )


def _lacks_avx512() -> bool:
    """False also where NumPy does not say; it leaves out lists that are empty."""
    named = np.show_config(mode="dicts").get("SIMD Extensions")
    if named is None:
        return False
    found = [*named.get("baseline", []), *named.get("found", [])]
    return not any(str(name).startswith(_AVX512) for name in found)
