"""Stock fairseq: the options of one of our trainings, without our own components."""

from __future__ import annotations

import json
import re

_OURS = {
    "--run-settings",
    "--state",
    "--references",
    "--keep-weights",
    "--keep-checkpoints",
    "--weights",
    "--schedule",
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
}

NORMS = {
    r"\.encoder_attention_residual\.norm": ".encoder_attn_layer_norm",
    r"\.attention_residual\.norm": ".self_attn_layer_norm",
    r"\.feed_forward_residual\.norm": ".final_layer_norm",
}
"""fairseq's names for the LayerNorms in our layers."""


def options(arguments: list[str]) -> list[str]:
    """Options for fairseq's own model, task, loss and optimizer with the same settings, at a constant rate."""
    pre = json.loads(arguments[arguments.index("--run-settings") + 1])["placement"] == "pre"
    kept, left = [], iter(arguments)
    for option in left:
        if option in _OURS:
            # Its value.
            next(left)
        else:
            kept.append(_FAIRSEQS.get(option, option))
    if "roberta" in kept:
        return kept
    return [*kept, "--encoder-normalize-before", "--decoder-normalize-before"] if pre else kept


def parameter_name(name: str) -> str:
    """fairseq's name for one of our parameters."""
    for pattern, replacement in NORMS.items():
        name = re.sub(pattern, replacement, name)
    return name
