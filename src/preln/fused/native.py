"""Loading and calling the compiled loops.

They are built with the package from native.cpp. Without a compiler, or for tensors on a GPU or of another type, every
caller falls back to PyTorch.
"""

from __future__ import annotations

import ctypes
import importlib.util
import shlex
import sys
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

LANES = 16
"""Numbers that the compiled loops process at once."""

_TYPES = {torch.float32: 0, torch.bfloat16: 1}
_POINTER, _COUNT, _NUMBER = ctypes.c_void_p, ctypes.c_int64, ctypes.c_int
_DROPOUT = (ctypes.c_uint64, ctypes.c_double)


class Attention(ctypes.Structure):
    """native.cpp's description of attention: sizes, strides and the seen positions."""

    _fields_ = (
        *((size, _COUNT) for size in ("sentences", "heads", "width", "queries", "keys")),
        *((f"{x}_{stride}", _COUNT) for x in ("query", "key", "out") for stride in ("time", "sentence")),
        ("seen", _POINTER),
        ("causal", _NUMBER),
        ("scale", ctypes.c_float),
    )


_SIGNATURES: dict[str, tuple[Any, ...]] = {
    "preln_attend": (*[_POINTER] * 4, ctypes.POINTER(Attention), *_DROPOUT),
    "preln_attend_gradient": (*[_POINTER] * 7, ctypes.POINTER(Attention), *_DROPOUT),
    "preln_attend_to_path": (_POINTER, _POINTER, _POINTER, _COUNT, _POINTER, *[_COUNT] * 6),
    "preln_attend_to_source": (*[_POINTER] * 5, *[_COUNT] * 6),
    "preln_best_of_rows": (_POINTER, _COUNT, _COUNT, _COUNT, _POINTER, _COUNT, *[_POINTER] * 3),
    "preln_cross_entropy": (_POINTER, _POINTER, _COUNT, _COUNT, ctypes.c_float, _POINTER, _POINTER),
    "preln_dropped_sum": (_POINTER, _POINTER, _POINTER, _COUNT, *_DROPOUT),
    "preln_linear": (*[_POINTER] * 4, *[_COUNT] * 3),
    "preln_norm_of_sum": (*[_POINTER] * 7, _COUNT, _COUNT, ctypes.c_float, *_DROPOUT),
    "preln_norm_of_sum_gradient": (*[_POINTER] * 8, _COUNT, _COUNT, *_DROPOUT),
}
"""The functions' arguments between the first, the type of the numbers, and the last, the number of threads."""


def _load(level: str) -> ctypes.CDLL | None:
    """The library that was built for a level of instructions, if there is one."""
    spec = importlib.util.find_spec(f"preln.fused._native{_LEVELS.get(level, '')}")
    if spec is None or spec.origin is None:
        return None
    library = ctypes.CDLL(spec.origin)
    for name, arguments in _SIGNATURES.items():
        function = getattr(library, name)
        function.argtypes, function.restype = (_NUMBER, *arguments, _NUMBER), None
    return library


_LEVELS = {"AVX512": "_avx512", "AVX2": "_avx2"}
LEVEL = torch.backends.cpu.get_cpu_capability()
"""PyTorch's name for this processor's level of instructions."""
_LIBRARY = _load(LEVEL)


def loops() -> str:
    """The implementation on a CPU: the level that the loops were compiled for, or PyTorch."""
    return "PyTorch" if _LIBRARY is None else LEVEL


def fallback() -> str | None:
    """The line that says that trainings on a CPU do without compiled loops, and how to build them; None where they are
    there."""
    if _LIBRARY is not None:
        return None
    clone = Path(__file__).parents[3]
    in_clone = (clone / "setup.py").exists()
    command = f"{sys.executable} -m pip install --no-deps --no-build-isolation --editable {shlex.quote(str(clone))}"
    return (
        f"The compiled loops for this processor ({LEVEL}) are missing: in PyTorch alone, a training on a CPU takes two "
        "to four times as long. Install a C++ compiler with OpenMP (g++), then "
        f"{f'run: {command}' if in_clone else 'install this package again'}"
    )


def takes(*tensors: Tensor) -> bool:
    """True if the compiled loops are available and support the tensors, which have one type."""
    return _LIBRARY is not None and all(x.device.type == "cpu" and x.dtype in _TYPES for x in tensors)


def call(name: str, dtype: torch.dtype, *arguments: Tensor | Attention | float | None) -> None:
    """Call a function in native.cpp on tensors with one type of numbers, contiguous unless their strides are passed."""
    values = [x.data_ptr() if isinstance(x, Tensor) else x for x in arguments]
    getattr(_LIBRARY, name)(_TYPES[dtype], *values, torch.get_num_threads())
