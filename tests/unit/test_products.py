"""Products in bf16, computed in fp32 and in bf16, against the same in doubles."""

from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional
from torch.utils._python_dispatch import TorchDispatchMode

from benchmarks import training
from preln.config import Execution
from preln.fused import products
from tests.tensors import assert_equal, gradients, in_doubles, lowered, numbers

pytestmark = pytest.mark.numbers

HALF = torch.bfloat16


@pytest.fixture(params=[True, False], ids=["in fp32", "in bf16"])
def in_fp32(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Both kinds of processors, one after the other."""
    monkeypatch.setattr(products, "IN_FP32", request.param)
    return bool(request.param)


class Products(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """The types of the factors of all products of matrices within it."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.seen: set[torch.dtype] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func.overloadpacket in (torch.ops.aten.mm, torch.ops.aten.addmm, torch.ops.aten.bmm):
            self.seen |= {x.dtype for x in args if isinstance(x, Tensor)}
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize("shape", [(40, 24), (5, 8, 24)])
@pytest.mark.parametrize("has_bias", [True, False])
def test_a_linear_map_is_its_formula_in_doubles(in_fp32: bool, shape: tuple[int, ...], has_bias: bool) -> None:
    x, weight, bias = numbers(*shape, dtype=HALF), numbers(30, 24, dtype=HALF), numbers(30, dtype=HALF)
    inputs = (x, weight, bias) if has_bias else (x, weight)
    exact = in_doubles(*inputs)
    result = products.linear(x, weight, bias if has_bias else None)
    expected = functional.linear(*exact)
    assert_equal(result, expected.to(HALF), HALF)
    assert_equal(gradients(result, *inputs), lowered(gradients(expected, *exact), HALF), HALF)


def test_a_product_in_fp32_is_rounded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(products, "IN_FP32", True)
    # 1 + 2^-8 + 2^-16 is above the middle between two neighbours in bf16; without its last part it would be the middle.
    a, b = torch.tensor([[1.0, 2.0**-8, 2.0**-16]], dtype=HALF), torch.ones(3, 1, dtype=HALF)
    assert products.linear(a, b.T, None).item() == 1.0 + 2.0**-7


def test_products_in_fp32_stay_as_they_are(in_fp32: bool) -> None:
    x, weight, bias = numbers(40, 24), numbers(30, 24), numbers(30)
    assert torch.equal(products.linear(x, weight, bias), functional.linear(x, weight, bias))


@pytest.mark.slow
@pytest.mark.parametrize("size", ["tiny", "bert-tiny"])
def test_a_training_step_in_bf16_multiplies_nothing_in_bf16_on_a_slow_processor(in_fp32: bool, size: str) -> None:
    do_round = training.rounds("preln", size, "bf16", Execution())
    with Products() as factors:
        do_round()
    assert (HALF in factors.seen) is not in_fp32


XEON = {"architecture": "x86_64", "cpu_name": "Intel Xeon", "avx512_bf16": True, "amx_bf16": True}


@pytest.mark.parametrize(
    ("processor", "slow"),
    [
        (XEON, False),
        ({**XEON, "amx_bf16": False}, True),
        ({**XEON, "amx_bf16": False, "avx512_bf16": False}, True),
        ({**XEON, "amx_bf16": False, "cpu_name": "AMD EPYC"}, False),
        ({"architecture": "aarch64"}, False),
        ({"architecture": "x86_64"}, False),
        ({}, False),
    ],
    ids=["AMX", "Intel's AVX512", "no bf16", "AMD's AVX512", "not x86", "little known", "not known"],
)
def test_a_processor_is_slow_at_bf16_without_amx_or_amds_instructions(processor: dict[str, Any], slow: bool) -> None:
    assert products.is_slow_at_bf16(processor) is slow
