"""The compiled loops: whether they are there, what they take, and how they are called on tensors.

They are built with the package from native.cpp. Where there was no compiler, or where tensors are on a GPU or of
another type, PyTorch alone does the same: every caller has a twin.
"""

from __future__ import annotations

import ctypes
import importlib.util
from typing import Any

import torch
from torch import Tensor

LANES = 16
"""Numbers that the compiled loops take at once."""

_TYPES = {torch.float32: 0, torch.bfloat16: 1}
_POINTER, _COUNT, _NUMBER = ctypes.c_void_p, ctypes.c_int64, ctypes.c_int
_DROPOUT = (ctypes.c_uint64, ctypes.c_double)


class Attention(ctypes.Structure):
    """native.cpp's description of sentences' heads."""

    _fields_ = (
        *((name, _COUNT) for name in ("sentences", "heads", "width", "queries", "keys")),
        *((name, _COUNT) for name in ("query_time", "query_sentence", "key_time", "key_sentence")),
        *((name, _COUNT) for name in ("out_time", "out_sentence")),
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
"""What the functions take between the type of the numbers, which comes first, and the threads, which come last."""


def _load(level: str) -> ctypes.CDLL | None:
    """The library that was built for a level of processors."""
    found = importlib.util.find_spec(f"preln.fused._native{_LEVELS.get(level, '')}")
    if found is None or found.origin is None:
        return None
    library = ctypes.CDLL(found.origin)
    for name, arguments in _SIGNATURES.items():
        function = getattr(library, name)
        function.argtypes, function.restype = (_NUMBER, *arguments, _NUMBER), None
    return library


_LEVELS = {"AVX512": "_avx512", "AVX2": "_avx2"}
LEVEL = torch.backends.cpu.get_cpu_capability()
"""The processor at hand, as PyTorch names its kind."""
_LIBRARY = _load(LEVEL)


def compiled() -> bool:
    """Whether the compiled loops are there."""
    return _LIBRARY is not None


def loops() -> str:
    """What computes on a CPU: the loops that were compiled for its kind, or PyTorch."""
    return LEVEL if compiled() else "PyTorch"


def takes(*tensors: Tensor) -> bool:
    """Whether the compiled loops are there and can work on the tensors, which are of one type."""
    return _LIBRARY is not None and all(x.device.type == "cpu" and x.dtype in _TYPES for x in tensors)


def call(name: str, dtype: torch.dtype, *arguments: Tensor | Attention | float | None) -> None:
    """Call a function of native.cpp on tensors of numbers of a type, which are contiguous but where it knows better."""
    values = [x.data_ptr() if isinstance(x, Tensor) else x for x in arguments]
    getattr(_LIBRARY, name)(_TYPES[dtype], *values, torch.get_num_threads())
