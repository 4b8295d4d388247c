"""How a training keeps its memory, in processes of their own."""

from __future__ import annotations

import subprocess
import sys

import pytest

RESIDENT = """
import ctypes, sys
from pathlib import Path
from preln.fused import memory

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.malloc.argtypes = [ctypes.c_size_t]
libc.free.argtypes = [ctypes.c_void_p]
memory.keep()
# Small objects that stay lie between large ones.
large, small = [], []
for _ in range(int(sys.argv[1])):
    large.append(libc.malloc(2**20))
    ctypes.memset(large[-1], 1, 2**20)
    small.append(libc.malloc(200))
for one in large[: int(sys.argv[2])]:
    libc.free(one)
before = resident()
memory.give_back()
print(before // 2**20, resident() // 2**20)
"""


def resident(made: int, freed: int) -> tuple[int, int]:
    """The megabytes of a process that made so many, and freed some: before and after it gave memory back."""
    command = [sys.executable, "-c", RESIDENT, str(made), str(freed)]
    found = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return int(found[0]), int(found[1])


pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="it is a matter of glibc")


def test_more_free_memory_than_used_goes_back_to_the_kernel() -> None:
    before, after = resident(made=1600, freed=1500)
    assert before > 1600
    assert after < 300


@pytest.mark.parametrize(("made", "freed"), [(900, 880), (2500, 1200)], ids=["little", "less than is in use"])
def test_a_process_keeps_what_it_will_need_again(made: int, freed: int) -> None:
    before, after = resident(made, freed)
    assert after >= before - 5
