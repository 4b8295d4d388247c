"""The cross-entropy of a softmax over a vocabulary with smoothed labels, from the features before the softmax."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from preln.fused import native
from preln.fused.products import factor, linear


def smoothed_cross_entropy(
    features: Tensor, weight: Tensor, bias: Tensor | None, targets: Tensor, smoothing: float, ignored: int | None = None
) -> tuple[Tensor, Tensor]:
    """The sums over all targets of the loss and of the negative log-likelihood, in nats; only the loss has a gradient.

    With the scores z = features weight^T + bias and their softmax p, the loss of a target t is
    -(1 - smoothing - s) log p_t - s sum_j log p_j with s = smoothing / (vocabulary - 1), as in fairseq.

    Args:
        features: of shape (targets, width).
        weight: of shape (vocabulary, width).
        bias: of shape (vocabulary,).
        targets: of shape (targets,), as indices into the vocabulary.
        smoothing: the share of the labels that is spread over the vocabulary.
        ignored: a target that adds nothing to the sums; None if all count.
    """
    loss, nll = _SmoothedCrossEntropy.apply(  # type: ignore[no-untyped-call]
        features, weight, bias, targets, smoothing, ignored, torch.is_grad_enabled()
    )
    return loss, nll


class _SmoothedCrossEntropy(torch.autograd.Function):
    """The scores are computed once, and their gradient overwrites them."""

    @staticmethod
    def forward(
        ctx: Any,
        features: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        targets: Tensor,
        smoothing: float,
        ignored: int | None,
        differentiable: bool,
    ) -> tuple[Tensor, Tensor]:
        scores = linear(features, weight, bias)
        if scores.dtype == torch.float16:
            # The unscaled gradient may underflow in fp16.
            scores = scores.float()
        if native.takes(scores):
            loss, nll = torch.empty(2, len(targets))
            sizes = (len(targets), len(weight), smoothing)
            native.call("preln_cross_entropy", scores.dtype, scores, targets.contiguous(), *sizes, loss, nll)
        else:
            loss, nll = _in_torch(scores, targets, smoothing)
        if ignored is not None:
            counts = targets.ne(ignored)
            loss, nll = loss * counts, nll * counts
            scores.mul_(counts[:, None])
        if differentiable:
            ctx.save_for_backward(scores, features, weight)
            ctx.has_bias = bias is not None
        loss, nll = loss.sum(), nll.sum()
        ctx.mark_non_differentiable(nll)
        return loss, nll

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        scores, features, weight = ctx.saved_tensors
        if scores.dtype != features.dtype:
            scores, gradient = (scores * gradient).to(features.dtype), gradient.new_ones(())
        by_bias = scores.sum(0) * gradient if ctx.has_bias else None
        by_scores = factor(scores)
        by_features = (by_scores @ factor(weight)).to(features.dtype) * gradient
        by_weight = (by_scores.T @ factor(features)).to(features.dtype) * gradient
        return by_features, by_weight, by_bias, None, None, None, None


def _in_torch(scores: Tensor, targets: Tensor, smoothing: float) -> tuple[Tensor, Tensor]:
    """Each target's loss and negative log-likelihood; the gradient overwrites the scores."""
    share = smoothing / (scores.size(1) - 1)
    log_p = scores.log_softmax(dim=1, dtype=torch.promote_types(scores.dtype, torch.float32))
    nll = -log_p.gather(1, targets[:, None])[:, 0]
    loss = (1.0 - smoothing - share) * nll - share * log_p.sum(1)
    gradient = log_p.exp_().sub_(share)
    gradient.scatter_add_(1, targets[:, None], gradient.new_full((len(targets), 1), share - 1.0 + smoothing))
    scores.copy_(gradient)
    return loss, nll
