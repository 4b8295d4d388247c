"""Adam and RAdam as fairseq runs them: fairseq's numbers and torch's, and the rectification of Liu et al. (2020)."""

from math import sqrt
from typing import Any

import pytest
import torch
from fairseq.optim import FairseqOptimizer
from fairseq.optim.adam import FairseqAdam
from omegaconf import OmegaConf

from preln.fairseq_plugin.optimizers import Adam, RAdam

pytestmark = pytest.mark.numbers


def steps(
    optimizer: FairseqOptimizer | torch.optim.Optimizer, parameter: torch.nn.Parameter, count: int, first: int = 0
) -> list[float]:
    values = []
    for number in range(first, first + count):
        parameter.grad = torch.full_like(parameter, 1.0 + 0.1 * number)
        optimizer.step()
        values.append(parameter.item())
    return values


def ours(parameter: torch.nn.Parameter, rate: float = 0.01) -> RAdam:
    cfg: Any = OmegaConf.create({"lr": [rate], "adam_betas": "(0.9, 0.98)", "adam_eps": 1e-9, "weight_decay": 0.0})
    return RAdam(cfg, [parameter])


def adam(kind: type[FairseqOptimizer], parameter: torch.nn.Parameter, epsilon: float) -> FairseqOptimizer:
    cfg = {"lr": [0.01], "adam_betas": "(0.9, 0.98)", "adam_eps": epsilon, "weight_decay": 0.1}
    return kind(OmegaConf.create({**cfg, "use_old_adam": True, "fp16_adam_stats": False, "tpu": False}), [parameter])


@pytest.mark.parametrize("epsilon", [1e-9, 1e-2, 1.0])
def test_adam_takes_fairseqs_steps_wherever_epsilon_counts(epsilon: float) -> None:
    first, second = (torch.nn.Parameter(torch.tensor(0.5)) for _ in range(2))
    result = steps(adam(Adam, first, epsilon), first, 50)
    assert result == pytest.approx(steps(adam(FairseqAdam, second, epsilon), second, 50), abs=1e-6)


def test_adam_goes_on_from_what_was_saved() -> None:
    whole, broken = (torch.nn.Parameter(torch.tensor(0.5)) for _ in range(2))
    expected = steps(adam(Adam, whole, 1e-2), whole, 10)[5:]
    before = adam(Adam, broken, 1e-2)
    steps(before, broken, 5)
    after = adam(Adam, broken, 1e-2)
    after.load_state_dict(before.state_dict())
    assert steps(after, broken, 5, first=5) == expected


def test_it_takes_torchs_steps() -> None:
    first, second = (torch.nn.Parameter(torch.tensor(0.5)) for _ in range(2))
    reference = torch.optim.RAdam([second], lr=0.01, betas=(0.9, 0.98), eps=1e-9)
    assert steps(ours(first), first, 50) == steps(reference, second, 50)


def test_the_rectifier_is_the_papers_formula() -> None:
    limit = 2 / (1 - 0.98) - 1
    length = limit - 2 * 100 * 0.98**100 / (1 - 0.98**100)
    rectifier = sqrt((length - 4) * (length - 2) * limit / ((limit - 4) * (limit - 2) * length))
    parameter = torch.nn.Parameter(torch.zeros((), dtype=torch.float64))
    optimizer = ours(parameter, rate=1.0)
    for _ in range(100):
        before = parameter.item()
        parameter.grad = torch.ones_like(parameter)
        optimizer.step()
    assert before - parameter.item() == pytest.approx(rectifier, rel=1e-6)
