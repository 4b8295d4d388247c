"""How the process keeps its memory."""

from __future__ import annotations

import ctypes
import gc
import os
from pathlib import Path

_TRIM_THRESHOLD, _MMAP_MAX = -1, -4
"""glibc's names of what `mallopt` sets (malloc.h)."""
_NEVER = 2**31 - 1
_SPARE = 2**30
"""Up to this many free bytes are kept."""


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


def give_back() -> None:
    """Give the kernel the memory that is free, if it is more than what is in use, and more than a gigabyte.

    Batches have many shapes. After a while, small objects lie between the tensors that were freed, and a larger tensor
    has no room there. Without this, a training of the paper's model in bf16 on a CPU grew to nine gigabytes in 360
    updates (seen once, not recorded). Done on glibc since 2.33, and nowhere else.
    """
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "mallinfo2"):
        return
    libc.mallinfo2.restype = _Mallinfo
    info = libc.mallinfo2()
    # Files that are mapped are no memory of malloc, and pages that were given back count as free there.
    pages = map(int, Path("/proc/self/statm").read_text(encoding="ascii").split()[1:3])
    resident, shared = (number * os.sysconf("SC_PAGE_SIZE") for number in pages)
    free = min(info.fordblks, resident - shared - info.uordblks)
    if free > max(info.uordblks, _SPARE):
        libc.malloc_trim(0)


class _Mallinfo(ctypes.Structure):
    """glibc's `struct mallinfo2` (malloc.h); `uordblks` are the bytes in use, `fordblks` the free ones."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            *("arena", "ordblks", "smblks", "hblks", "hblkhd"),
            *("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"),
        )
    ]
