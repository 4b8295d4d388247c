"""The sensitivity of a model's loss to its learning rate, as one number."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise


def sensitivity(losses: Mapping[float, float], start: float) -> float:
    """The learning-rate sensitivity E[min(l(eta), l_0) - l*] of Wortsman et al. (2023, "Small-scale proxies for
    large-scale Transformer training instabilities"), in the unit of the losses.

    l(eta) is the last loss at the peak rate eta, l* the best one in the range, and l_0 the loss of a model that has
    learned nothing: no rate counts as worse than that. The range goes from the lowest of the rates to the highest. The
    expectation is over a rate that is uniform there in its logarithm. Between two neighbouring rates, min(l, l_0) is
    taken to be linear in the logarithm. On evenly spaced rates, the two at the ends thus weigh half as much as the
    others.

    Args:
        losses: l by eta, in any order; infinite where a model diverged.
        start: l_0.

    Raises:
        ValueError: if there are not two rates that differ in their logarithms, or one is not positive.
    """
    if min(losses, default=0) <= 0:
        raise ValueError("a range needs two positive rates")
    points = sorted((math.log(rate), min(loss, start)) for rate, loss in losses.items())
    if points[0][0] == points[-1][0]:
        raise ValueError("a range needs two positive rates that differ")
    best = min(loss for _, loss in points)
    area = math.fsum((right - left) * (low + high - 2 * best) / 2 for (left, low), (right, high) in pairwise(points))
    return area / (points[-1][0] - points[0][0])
