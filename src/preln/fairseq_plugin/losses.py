"""fairseq's losses for translation and masked language models, computed from the features in one step.

Both skip padding, and never store the vocabulary's probabilities.
"""

from __future__ import annotations

from typing import Any

from fairseq.criterions import register_criterion
from fairseq.criterions.label_smoothed_cross_entropy import (
    LabelSmoothedCrossEntropyCriterion,
    LabelSmoothedCrossEntropyCriterionConfig,
)
from fairseq.criterions.masked_lm import MaskedLmConfig, MaskedLmLoss
from torch import Tensor

from preln.fairseq_plugin.batches import words
from preln.fairseq_plugin.packing import unpack
from preln.fused.loss import smoothed_cross_entropy
from preln.fused.products import linear


@register_criterion("preln_translation_loss", dataclass=LabelSmoothedCrossEntropyCriterionConfig)
class TranslationLoss(LabelSmoothedCrossEntropyCriterion):
    """The label-smoothed cross-entropy of the target's tokens."""

    def forward(self, model: Any, sample: Any, reduce: bool = True) -> tuple[Tensor, int, dict[str, Any]]:
        """A batch's loss in nats, its number of target tokens, and the values to log."""
        loss, nll = self.sums(model, sample)
        return loss, *self.logged(sample, loss, nll)

    def sums(self, model: Any, sample: Any) -> tuple[Tensor, Tensor]:
        """The loss and the negative log-likelihood of a batch, padded or packed, in nats."""
        weight = model.decoder.output_projection.weight
        if "capacity" in sample:
            source, target, labels = unpack(sample)
            features = model.features(source, target)
            return smoothed_cross_entropy(features, weight, None, labels, self.eps, self.padding_idx)
        features, _ = model(**sample["net_input"], features_only=True)
        labels, places = sample["target"], words(sample, self.padding_idx)
        return smoothed_cross_entropy(_at(features, places), weight, None, _at(labels, places), self.eps)

    def logged(self, sample: Any, loss: Tensor, nll: Tensor) -> tuple[int, dict[str, Any]]:
        """A batch's number of target tokens, and the values to log."""
        tokens = sample["ntokens"]
        log = {"loss": loss.data, "nll_loss": nll.data, "ntokens": tokens, "nsentences": sample["nsentences"]}
        return tokens, {**log, "sample_size": tokens}


@register_criterion("preln_masked_lm_loss", dataclass=MaskedLmConfig)
class MaskedLanguageLoss(MaskedLmLoss):
    """The cross-entropy of the masked tokens."""

    def forward(self, model: Any, sample: Any, reduce: bool = True) -> tuple[Tensor, int, dict[str, Any]]:
        """A batch's loss in nats, its number of masked tokens, and the values to log."""
        masked = words(sample, self.padding_idx)
        features, _ = model(**sample["net_input"], features_only=True)
        head = model.encoder.lm_head
        mapped = linear(_at(features, masked), head.dense.weight, head.dense.bias)
        hidden = head.layer_norm(head.activation_fn(mapped))
        loss, _ = smoothed_cross_entropy(hidden, head.weight, head.bias, _at(sample["target"], masked), 0.0)
        count = len(masked)
        log = {"loss": loss.data, "ntokens": sample["ntokens"], "nsentences": sample["nsentences"]}
        return loss, count, {**log, "sample_size": count}


def _at(x: Tensor, places: Tensor) -> Tensor:
    """The entries of `x`, of shape (batch, length, ...), at the places of a batch's words, of shape (words, ...)."""
    return x.flatten(0, 1).index_select(0, places)
