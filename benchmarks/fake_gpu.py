"""A GPU whose tensors have a shape, a type and a device, and no numbers: what a computation asks of a GPU, without one.

Autograd and fairseq's trainer run on it unchanged. It counts the operations that are dispatched to the GPU, the waits
for its numbers, and the kernels of attentions. It does not measure time.

`load` changes PyTorch for the whole process, which must not have imported it; so it is done in a process of its own
(`benchmarks.launches`).
"""

from __future__ import annotations

import ctypes
import importlib.util
import shutil
import subprocess
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

import numpy as np

if TYPE_CHECKING:
    from torch import Tensor

SOURCE = Path(__file__).with_name("fake_gpu.cpp")


class NotBuilt(Exception):
    """The fake GPU's library could not be built; it says why."""


def build(folder: Path) -> Path:
    """The library that stands in for CUDA, built in a folder against the installed PyTorch, in seconds.

    Raises:
        NotBuilt: if there is no C++ compiler, or PyTorch is built with CUDA, or does not fit.
    """
    compiler = shutil.which("c++")
    if compiler is None:
        raise NotBuilt("there is no C++ compiler")
    torch = _torch()
    if list((torch / "lib").glob("libtorch_cuda*")):
        raise NotBuilt("this PyTorch is built with CUDA, which leaves no place for another")
    library = folder / "libfake_gpu.so"
    command = [compiler, "-shared", "-fPIC", "-std=c++20", str(SOURCE), "-o", str(library), f"-I{torch / 'include'}"]
    command += [f"-L{torch / 'lib'}", "-lc10", "-ltorch_cpu", f"-Wl,-rpath,{torch / 'lib'}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NotBuilt(f"the compiler failed: {done.stderr.strip()[:2000]}")
    return library


def load(library: Path) -> None:
    """Have PyTorch, which this process has not imported yet, find the fake GPU."""
    assert "torch" not in sys.modules, "PyTorch asks for its GPU once, when it is imported"
    ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)


def _torch() -> Path:
    """The folder of PyTorch, which is not imported."""
    spec = importlib.util.find_spec("torch")
    assert spec is not None and spec.origin is not None
    return Path(spec.origin).parent


@dataclass
class Seen:
    """A computation's requests to the GPU.

    Attributes:
        operations: how often each operation was dispatched that is neither a view nor an allocation.
        waits: how often the process waited for the GPU, by the line of preln or fairseq that did.
        attentions: how many attentions the kernel of each name has.
        lines: the operations by the line of preln or fairseq that asks for them; autograd's own are of `backward`.
    """

    operations: Counter[str] = field(default_factory=Counter)
    waits: Counter[str] = field(default_factory=Counter)
    attentions: Counter[str] = field(default_factory=Counter)
    lines: Counter[str] = field(default_factory=Counter)

    def clear(self) -> None:
        for counted in (self.operations, self.waits, self.attentions, self.lines):
            counted.clear()


_ALLOCATIONS = {"empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided", "is_pinned", "_unsafe_view"}
"""Operations that are dispatched and launch nothing, beside views."""
_VARLEN = {"_flash_attention_forward": "flash", "_efficient_attention_forward": "efficient"}
"""The kernels of attentions over packed sentences."""
_HOLDS = {"any", "all", "mul", "logical_and"}
"""The operations whose truth values hold: a batch has padding, and numbers are finite. Others do not."""


def ones(read: Tensor) -> Any:
    """Numpy's numbers of a tensor that has none."""
    return np.ones(tuple(read.shape), dtype=str(read.dtype).removeprefix("torch."))


@contextmanager
def fake_gpu(numbers: Callable[[Tensor], Any] = ones) -> Iterator[Seen]:
    """Within it, tensors on `cuda` are fake, and so are new and copied ones on the CPU; yields the counts.

    `numbers` gives the values of tensors that are converted to numpy.
    """
    import torch
    from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
    from torch.overrides import TorchFunctionMode
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_leaves

    seen = Seen()

    class WithoutDevice(FakeTensorMode):  # type: ignore[no-untyped-call]
        """Tensors without numbers on a device that is not there, though `torch.cuda` says that it is."""

        avoid_device_init = True

    def is_on_gpu(tensors: Any, options: dict[str, Any]) -> bool:
        device = options.get("device")
        if device is not None and torch.device(device).type == "cuda":
            return True
        return any(isinstance(x, torch.Tensor) and x.device.type == "cuda" for x in tree_leaves((tensors, options)))

    class Dispatched(TorchDispatchMode):  # type: ignore[no-untyped-call]
        """Counts what is dispatched, and answers what depends on numbers."""

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            kwargs = kwargs or {}
            name = func.overloadpacket.__name__
            on_gpu = is_on_gpu(args, kwargs)
            if name == "_local_scalar_dense":
                if on_gpu:
                    seen.waits[line_at_work()] += 1
                return _answer(args[0])
            if on_gpu:
                args = self._count(name, func, args, kwargs)
                if name == "nonzero":
                    return args[0].new_empty((args[0].numel(), args[0].dim()), dtype=torch.long)
            result = func(*args, **kwargs)
            if isinstance(result, FakeTensor):
                # PyTorch may know a constant's number; a GPU's number it could not know.
                result.constant = None
                result.made_by = name  # type: ignore[attr-defined]
            return result

        def _count(self, name: str, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
            if name == "nonzero" or _waits(name, args, kwargs):
                seen.waits[line_at_work()] += 1
            if name in ("index", "index_put", "index_put_", "_index_put_impl_", "_unsafe_index"):
                args = (args[0], self._places(name, args[1]), *args[2:])
            if name in _VARLEN:
                seen.attentions[_VARLEN[name]] += 1
            if not (func.is_view or func.namespace == "prim" or name in _ALLOCATIONS):
                seen.operations[name] += 1
                seen.lines[line_at_work()] += 1
            return args

        def _places(self, name: str, indices: list[Any]) -> list[Any]:
            """Indices in the place of masks, whose true elements the GPU would have to count: all of them."""
            places: list[Any] = []
            for index in indices:
                if index is None or index.dtype not in (torch.bool, torch.uint8):
                    places.append(index)
                    continue
                seen.waits[line_at_work()] += 1
                seen.operations["nonzero"] += 1
                places += [index.new_empty(index.numel(), dtype=torch.long) for _ in range(index.dim())]
            return places

    class Called(TorchFunctionMode):
        """Gives attentions the kernel that CUDA would: the CPU's build knows none of them."""

        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if func is torch.nn.functional.scaled_dot_product_attention and args[0].device.type == "cuda":
                return _attention(seen, *args, **(kwargs or {}))
            if func is torch.Tensor.numpy:
                # For a real tensor, PyTorch would return the memory of a fake one.
                return numbers(args[0]) if isinstance(args[0], FakeTensor) else np.array(args[0].tolist())
            return func(*args, **(kwargs or {}))

    def moved(module: Any, change: Callable[[Any], Any], recurse: bool = True) -> Any:
        """Module.to and its like; PyTorch's own swaps a fake parameter, which it cannot while autograd knows it."""
        for tensor in (*module.parameters(), *module.buffers()):
            tensor.data = change(tensor.detach())
        return module

    with ExitStack() as stack:
        stack.enter_context(WithoutDevice(allow_non_fake_inputs=True))
        stack.enter_context(mock.patch.multiple("torch.cuda", **_CUDA))
        stack.enter_context(mock.patch.object(torch.nn.Module, "_apply", moved))
        stack.enter_context(mock.patch("torch.onnx.operators.shape_as_tensor", lambda x: list(x.shape)))
        for module in ("torch.optim.optimizer", "torch.utils._foreach_utils"):
            known = getattr(sys.modules[module], "_foreach_supported_types")  # noqa: B009
            stack.enter_context(mock.patch(f"{module}._foreach_supported_types", [*known, FakeTensor]))
        stack.enter_context(Dispatched())  # type: ignore[no-untyped-call]
        stack.enter_context(Called())
        yield seen


class _Properties:
    name, major, minor, total_memory, multi_processor_count = "fake", 9, 0, 141 * 2**30, 132


_CUDA: dict[str, Any] = {
    "is_available": lambda: True,
    "device_count": lambda: 1,
    "current_device": lambda: 0,
    "get_device_capability": lambda *device: (9, 0),
    "get_device_properties": lambda *device: _Properties,
    "is_current_stream_capturing": lambda: False,
    "empty_cache": lambda: None,
    "max_memory_allocated": lambda *device: 0,
    "reset_peak_memory_stats": lambda *device: None,
    "get_rng_state": lambda *device: None,
    "set_rng_state": lambda *state: None,
    "synchronize": lambda *device: None,
}
"""Functions of `torch.cuda` that fairseq's trainer, torch's optimizers and our benchmarks call."""


def _answer(number: Tensor) -> bool | float | int:
    """The number of a tensor that has none."""
    import torch

    if number.dtype == torch.bool:
        return getattr(number, "made_by", "") in _HOLDS
    return 1.0 if number.is_floating_point() else 1


def _waits(name: str, args: Any, options: dict[str, Any]) -> bool:
    """True if an operation is a copy between the CPU and the GPU for which the process waits."""
    if name == "_to_copy":
        to, origin, without_waiting = options.get("device"), args[0].device, options.get("non_blocking", False)
    elif name == "copy_":
        to, origin, without_waiting = args[0].device, args[1].device, len(args) > 2 and args[2]
    else:
        return False
    return to is not None and to.type != origin.type and not without_waiting


def line_at_work() -> str:
    """The line of preln or fairseq that is being run; autograd's own is `backward`."""
    for frame, line in traceback.walk_stack(sys._getframe(2)):
        path = frame.f_code.co_filename
        for package in ("/src/preln/", "/site-packages/fairseq/", "/site-packages/fairseq_cli/"):
            if package in path:
                return f"{path.split(package)[1]}:{frame.f_code.co_name}:{line}"
    return "backward"


def _attention(
    seen: Seen,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
) -> Tensor:
    """Attention by the kernel that PyTorch chooses on a GPU where cuDNN's is off.

    Flash and memory-efficient attention take tensors of four dimensions whose last has the stride 1; flash takes half
    precision without a mask. Everything else is done operation by operation ("math").
    """
    import torch

    aten: Any = torch.ops.aten
    options: tuple[Any, ...] = (dropout_p, is_causal)
    if any(x.dim() != 4 or x.stride(-1) != 1 for x in (query, key, value)):
        kernel, attend, options = "math", aten._scaled_dot_product_attention_math, (attn_mask, *options)
    elif attn_mask is None and query.dtype in (torch.float16, torch.bfloat16):
        kernel, attend = "flash", aten._scaled_dot_product_flash_attention
    else:
        bias = None if attn_mask is None else _bias(attn_mask, query, key)
        kernel, attend = "efficient", aten._scaled_dot_product_efficient_attention
        options = (bias, torch.is_grad_enabled(), *options)
    seen.attentions[kernel] += 1
    attended: Tensor = attend(query, key, value, *options, scale=scale)[0]
    return attended


def _bias(mask: Tensor, query: Tensor, key: Tensor) -> Tensor:
    """A mask as the memory-efficient kernel takes it: added to the scores, in rows that begin at every 16th number."""
    import torch
    from torch.nn import functional

    if mask.dtype == torch.bool:
        mask = torch.where(mask, 0.0, -torch.inf).to(query.dtype)
    if mask.stride(-1) != 1 or any(stride % 16 for stride in mask.stride()[:-1]):
        mask = functional.pad(mask, (0, -mask.size(-1) % 16 or 16))[..., : mask.size(-1)]
    return mask.expand(*query.shape[:-1], key.size(-2))
