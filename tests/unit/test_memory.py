"""How a training keeps its memory, in processes of their own."""

import ctypes
import subprocess
import sys
from pathlib import Path

import pytest

# Takes pieces of a megabyte, frees some of them, reads megabytes of a file through a mapping, and says how many bytes
# it has before and after it gives memory back.
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
# A quarter of what is always kept, so that a quarter of the pieces is enough.
memory._SPARE //= 4
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


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallinfo2"), reason="this is no glibc since 2.33")
@pytest.mark.parametrize(
    ("made", "freed", "mapped", "goes_back"),
    [(400, 375, 0, True), (225, 220, 0, False), (575, 275, 0, False), (150, 145, 175, False)],
    ids=["much", "little", "less than is in use", "little beside a file that is mapped"],
)
def test_much_free_memory_goes_back_to_the_kernel_and_a_process_keeps_what_it_will_need_again(
    made: int, freed: int, mapped: int, goes_back: bool, tmp_path: Path
) -> None:
    command = [sys.executable, "-c", PROCESS, str(made), str(freed), str(mapped), str(tmp_path / "mapped")]
    printed = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout.split()
    before, after = (int(resident) / 2**20 for resident in printed)
    assert before > made
    # The kernel may take pages of a file at any time.
    assert after < before - 300 if goes_back else after > before - 100
