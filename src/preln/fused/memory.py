"""Memory management for a training process."""

from __future__ import annotations

import ctypes
import gc
import os
from pathlib import Path

_TRIM_THRESHOLD, _MMAP_MAX = -1, -4
"""glibc's parameters for `mallopt` (malloc.h)."""
_NEVER = 2**31 - 1
_USED, _FREE = 7, 8
"""The places of `uordblks` and `fordblks`, the bytes in use and the free ones, in glibc's `struct mallinfo2`."""
_SPARE = 2**30
"""Free bytes that are always kept."""


def keep() -> None:
    """Keep freed memory for the next batch, and exempt existing objects from garbage collection.

    glibc returns each large tensor to the kernel, which clears its pages again for the next one; and Python's collector
    repeatedly scans all imported modules. Without glibc only the second is done.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_MMAP_MAX, 0)
        mallopt(_TRIM_THRESHOLD, _NEVER)
    gc.collect()
    gc.freeze()


def give_back() -> None:
    """Return free memory to the kernel, if it exceeds the memory in use, and a gigabyte.

    Batches have many shapes. After a while, small objects fragment the freed memory, in which a larger tensor finds no
    room. Without this, a training of the paper's model in bf16 on a CPU grew to nine gigabytes in 360 updates (seen
    once, not recorded). Needs glibc 2.33 or newer.
    """
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "mallinfo2"):
        return
    libc.mallinfo2.restype = _Mallinfo
    info = libc.mallinfo2()
    # Mapped files are not malloc's memory, and pages that were returned still count as free there.
    pages = map(int, Path("/proc/self/statm").read_text(encoding="ascii").split()[1:3])
    resident, shared = (number * os.sysconf("SC_PAGE_SIZE") for number in pages)
    used, free = info.sizes[_USED], info.sizes[_FREE]
    if min(free, resident - shared - used) > max(used, _SPARE):
        libc.malloc_trim(0)


class _Mallinfo(ctypes.Structure):
    """glibc's `struct mallinfo2` (malloc.h)."""

    _fields_ = (("sizes", ctypes.c_size_t * 10),)
