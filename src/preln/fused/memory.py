"""How the process keeps its memory."""

from __future__ import annotations

import ctypes
import gc

_TRIM_THRESHOLD, _MMAP_MAX = -1, -4
"""glibc's names of what `mallopt` sets (malloc.h)."""
_NEVER = 2**31 - 1


def keep() -> None:
    """Keep freed memory for the next batch, and what is there now for good.

    glibc gives each large tensor back to the kernel, which clears its pages anew when the next one is made; Python's
    collector looks through all that was imported, again and again. Elsewhere than on glibc only the second is done.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_MMAP_MAX, 0)
        mallopt(_TRIM_THRESHOLD, _NEVER)
    gc.collect()
    gc.freeze()
