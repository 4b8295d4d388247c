"""fairseq as it comes: the options of one of our trainings without the parts that are ours."""

from __future__ import annotations

import json
import re

_OURS = {
    *("--run-settings", "--state", "--references", "--keep-weights", "--keep-checkpoints", "--weights"),
    *("--warmup", "--total-updates"),
}
_FAIRSEQS = {
    "preln_translation": "translation",
    "preln_masked_lm": "masked_lm",
    "preln_sentence_prediction": "sentence_prediction",
    "preln_transformer": "transformer",
    "preln_bert": "roberta",
    "preln_translation_loss": "label_smoothed_cross_entropy",
    "preln_masked_lm_loss": "masked_lm",
    "preln_adam": "adam",
    "preln_sgd": "sgd",
    "preln_schedule": "fixed",
    "preln_linear": "fixed",
}

NORMS = {
    r"\.encoder_attention_residual\.norm": ".encoder_attn_layer_norm",
    r"\.attention_residual\.norm": ".self_attn_layer_norm",
    r"\.feed_forward_residual\.norm": ".final_layer_norm",
}
"""What fairseq calls the LayerNorms of our layers."""


def options(ours: list[str]) -> list[str]:
    """fairseq's own model, task, loss and optimizer with the same settings, at a rate that does not change."""
    pre = json.loads(ours[ours.index("--run-settings") + 1])["placement"] == "pre"
    kept, skip = [], False
    for option in ours:
        if skip:
            skip = False
        elif option in _OURS:
            skip = True
        else:
            kept.append(_FAIRSEQS.get(option, option))
    if "roberta" in kept:
        return kept
    return [*kept, *(("--encoder-normalize-before", "--decoder-normalize-before") if pre else ())]


def parameter_name(ours: str) -> str:
    """fairseq's name of a parameter of ours."""
    for pattern, theirs in NORMS.items():
        ours = re.sub(pattern, theirs, ours)
    return ours
