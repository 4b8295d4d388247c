"""How a training keeps its memory, in processes of their own."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from pathlib import Path

import pytest

MEGABYTE = 2**20
PROCESS = """
import ctypes, mmap, os, sys
from pathlib import Path
from preln.fused import memory

made, freed, mapped, file = *map(int, sys.argv[1:4]), sys.argv[4]

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.malloc.argtypes = [ctypes.c_size_t]
libc.free.argtypes = [ctypes.c_void_p]
memory.keep()
# Small objects that stay lie between large ones.
large, small = [], []
for _ in range(made):
    large.append(libc.malloc(2**20))
    ctypes.memset(large[-1], 1, 2**20)
    small.append(libc.malloc(200))
for piece in large[:freed]:
    libc.free(piece)
if mapped:
    with open(file, "wb") as binary:
        binary.truncate(mapped * 2**20)
    with open(file, "rb") as binary:
        pages = mmap.mmap(binary.fileno(), 0, access=mmap.ACCESS_READ)
    touched = sum(pages[place] for place in range(0, len(pages), 4096))
before = resident()
memory.give_back()
print(before, resident())
"""


def resident(file: Path, *, made: int, freed: int, mapped: int = 0) -> tuple[float, float]:
    """The megabytes that a process has before and after it gave memory back.

    Args:
        file: where a file for `mapped` may be made.
        made: pieces of a megabyte that it takes.
        freed: how many of them it frees.
        mapped: megabytes of a file that it reads through a mapping.
    """
    command = [sys.executable, "-c", PROCESS, str(made), str(freed), str(mapped), str(file)]
    result = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return int(result[0]) / MEGABYTE, int(result[1]) / MEGABYTE


of_glibc = pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallinfo2"), reason="this is no glibc since 2.33")


@pytest.mark.slow
@of_glibc
def test_more_free_memory_than_used_goes_back_to_the_kernel(tmp_path: Path) -> None:
    before, after = resident(tmp_path / "mapped", made=1600, freed=1500)
    assert before > 1600
    assert after < 300


@pytest.mark.slow
@of_glibc
@pytest.mark.parametrize(
    ("made", "freed", "mapped"),
    [(900, 880, 0), (2300, 1100, 0), (600, 580, 700)],
    ids=["little", "less than is in use", "little beside a file that is mapped"],
)
def test_a_process_keeps_what_it_will_need_again(tmp_path: Path, made: int, freed: int, mapped: int) -> None:
    before, after = resident(tmp_path / "mapped", made=made, freed=freed, mapped=mapped)
    assert before > made
    # The kernel may take pages of a file at any time.
    assert after > before - 100
