"""Export of a trained language model to the library `transformers`: weights and model card.

These have a model there, with RMSNorm, SwiGLU and RoPE where nothing else is said:

- Pre-LN with LayerNorm and learned positions is GPT-2 with GELU, and OPT with ReLU.
- Post-LN with LayerNorm and learned positions is OPT.
- Pre-LN is Llama, and Sandwich-LN is Gemma-2.
- Res-Post-LN with QK-norm in a single head is OLMo-2, which normalises queries and keys over all heads.

Our embeddings are multiplied by the square root of the width. Of theirs only Gemma-2's are, so the others get them
multiplied, and never share them with the output. What our matrices have no biases for is zero.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from preln.config.language import LanguageSettings
from preln.errors import PrelnError
from preln.export.huggingface import Names, renamed, require_no, written
from preln.language.runs import LanguageRun
from preln.language.training import trained_weights
from preln.placements import PLACEMENTS

if TYPE_CHECKING:
    from transformers import PreTrainedModel

EPSILON = 1e-5
"""The epsilon of our norms."""

Weights = Mapping[str, Tensor]

# The output of an attention stands before the model's: names are replaced in this order.
_ATTENTION: Names = {f"attention.{name}": f"self_attn.{name[0]}_proj" for name in ("query", "key", "value", "output")}
LLAMA: Names = {
    **_ATTENTION,
    **{"feed_forward.w1": "mlp.up_proj", "feed_forward.w2": "mlp.down_proj", "feed_forward.w3": "mlp.gate_proj"},
    **{"attention_residual.norm": "input_layernorm", "feed_forward_residual.norm": "post_attention_layernorm"},
    **{"embedding": "model.embed_tokens", "last_norm": "model.norm", "output.": "lm_head.", "layers": "model.layers"},
}
OLMO2: Names = {
    **{"attention.q_norm": "self_attn.q_norm", "attention.k_norm": "self_attn.k_norm"},
    **{**LLAMA, "attention_residual.norm": "post_attention_layernorm"},
    "feed_forward_residual.norm": "post_feedforward_layernorm",
}
GEMMA2: Names = {
    **{**LLAMA, "feed_forward_residual.norm": "pre_feedforward_layernorm"},
    **{"attention_residual.after": "post_attention_layernorm"},
    **{"feed_forward_residual.after": "post_feedforward_layernorm"},
}
OPT: Names = {
    **{**_ATTENTION, "attention.output": "self_attn.out_proj", "feed_forward.w1": "fc1", "feed_forward.w2": "fc2"},
    **{"attention_residual.norm": "self_attn_layer_norm", "feed_forward_residual.norm": "final_layer_norm"},
    **{"embedding": "model.decoder.embed_tokens", "position": "model.decoder.embed_positions.weight"},
    **{"last_norm": "model.decoder.final_layer_norm", "output.": "lm_head.", "layers": "model.decoder.layers"},
}
GPT2: Names = {
    **{"attention.in_one": "attn.c_attn", "attention.output": "attn.c_proj"},
    **{"feed_forward.w1": "mlp.c_fc", "feed_forward.w2": "mlp.c_proj"},
    **{"attention_residual.norm": "ln_1", "feed_forward_residual.norm": "ln_2"},
    **{"embedding": "transformer.wte", "position": "transformer.wpe.weight"},
    **{"last_norm": "transformer.ln_f", "output.": "lm_head.", "layers": "transformer.h"},
}


def _as_they_are(weights: Weights, settings: LanguageSettings) -> Weights:
    return {**weights, "embedding.weight": weights["embedding.weight"] * settings.width**0.5}


def _of_olmo2_weights(weights: Weights, settings: LanguageSettings) -> Weights:
    converted = dict(_as_they_are(weights, settings))
    for layer in range(settings.layers):
        attention = f"layers.{layer}.attention"
        # The score of a query and a key of length sqrt(d) is divided by sqrt(d).
        scale = converted.pop(f"{attention}.qk_norm.scale") / settings.width**0.5
        converted[f"{attention}.q_norm.weight"] = scale.expand(settings.width)
        converted[f"{attention}.k_norm.weight"] = torch.ones(settings.width)
        for name in ("query", "key"):
            # Their length has no effect, and the norms' epsilon has none beside such a length.
            converted[f"{attention}.{name}.weight"] = 256 * converted[f"{attention}.{name}.weight"]
    return converted


def _of_gemma2_weights(weights: Weights, settings: LanguageSettings) -> Weights:
    # Its gains are added to 1.
    return {name: weight - 1 if weight.dim() == 1 else weight for name, weight in weights.items()}


def _of_opt_weights(weights: Weights, settings: LanguageSettings) -> Weights:
    # The first two are for padding.
    positions = torch.cat([torch.zeros(2, settings.width), weights["position"]])
    return {**_as_they_are(weights, settings), "position": positions}


def _of_gpt2_weights(weights: Weights, settings: LanguageSettings) -> Weights:
    converted = dict(_as_they_are(weights, settings))
    for layer in range(settings.layers):
        attention, feed_forward = f"layers.{layer}.attention", f"layers.{layer}.feed_forward"
        parts = [converted.pop(f"{attention}.{name}.weight") for name in ("query", "key", "value")]
        converted[f"{attention}.in_one.weight"] = torch.cat(parts)
        # Its matrices are transposed.
        for name in (f"{attention}.in_one", f"{attention}.output", f"{feed_forward}.w1", f"{feed_forward}.w2"):
            converted[f"{name}.weight"] = converted[f"{name}.weight"].T
    return converted


@dataclass(frozen=True)
class Family:
    """A kind of model of the library.

    Attributes:
        name: in the names of its classes there.
        settings: the values that each setting may have.
        configured: a run's settings as its configuration has them, beside those that all kinds have.
        names: its names of our weights.
        converted: our weights with its values.
    """

    name: str
    settings: Mapping[str, tuple[Any, ...]]
    configured: Callable[[LanguageSettings], dict[str, Any]]
    names: Names
    converted: Callable[[Weights, LanguageSettings], Weights] = _as_they_are


def _sizes(settings: LanguageSettings) -> dict[str, Any]:
    return {
        "hidden_size": settings.width,
        "num_hidden_layers": settings.layers,
        "num_attention_heads": settings.heads,
        "max_position_embeddings": settings.sequence_length,
    }


def _of_gated(settings: LanguageSettings) -> dict[str, Any]:
    return {
        **_sizes(settings),
        "intermediate_size": settings.ffn_width,
        "num_key_value_heads": settings.heads,
        "rms_norm_eps": EPSILON,
    }


def _of_gemma2(settings: LanguageSettings) -> dict[str, Any]:
    width = settings.width // settings.heads
    return {
        **_of_gated(settings),
        "head_dim": width,
        "query_pre_attn_scalar": width,
        "hidden_activation": "silu",
        "attn_logit_softcapping": None,
        "final_logit_softcapping": None,
        "layer_types": ["full_attention"] * settings.layers,
    }


def _of_opt(settings: LanguageSettings) -> dict[str, Any]:
    return {
        **_sizes(settings),
        "ffn_dim": settings.ffn_width,
        "word_embed_proj_dim": settings.width,
        "do_layer_norm_before": settings.placement == "pre",
        "activation_function": settings.feed_forward,
        "dropout": settings.dropout,
    }


def _of_gpt2(settings: LanguageSettings) -> dict[str, Any]:
    return {
        **_sizes(settings),
        "n_inner": settings.ffn_width,
        "activation_function": "gelu",
        "embd_pdrop": settings.dropout,
        "resid_pdrop": settings.dropout,
        "attn_pdrop": 0.0,
    }


_PLAIN = {"norm": ("layer",), "qk_norm": (False,), "positions": ("learned",)}
_GATED = {"norm": ("rms",), "qk_norm": (False,), "positions": ("rope",), "feed_forward": ("swiglu",)}
_POST = {"placement": ("post", "post-init"), **_PLAIN, "feed_forward": ("relu", "gelu")}
_SINGLE_HEAD = {"placement": ("res-post",), **_GATED, "qk_norm": (True,), "heads": (1,)}

FAMILIES = (
    Family("GPT2", {"placement": ("pre",), **_PLAIN, "feed_forward": ("gelu",)}, _of_gpt2, GPT2, _of_gpt2_weights),
    Family("OPT", {"placement": ("pre",), **_PLAIN, "feed_forward": ("relu",)}, _of_opt, OPT, _of_opt_weights),
    Family("OPT", _POST, _of_opt, OPT, _of_opt_weights),
    Family("Llama", {"placement": ("pre",), **_GATED}, _of_gated, LLAMA),
    Family("Olmo2", _SINGLE_HEAD, _of_gated, OLMO2, _of_olmo2_weights),
    Family("Gemma2", {"placement": ("sandwich",), **_GATED}, _of_gemma2, GEMMA2, _of_gemma2_weights),
)
"""Every kind of which the library has a model of ours."""


def family_of(settings: LanguageSettings) -> Family:
    """The kind of model that a run's is.

    Raises:
        PrelnError: if the library has none; it names the first setting of the nearest kind that differs.
    """

    def differing(family: Family) -> list[str]:
        return [key for key, allowed in family.settings.items() if getattr(settings, key) not in allowed]

    near = [family for family in FAMILIES if settings.placement in family.settings["placement"]]
    if not near:
        raise PrelnError(f"transformers has no such model: none has placement: {PLACEMENTS[settings.placement].name}")
    nearest = min(near, key=lambda family: len(differing(family)))
    for key in differing(nearest):
        allowed = " or ".join(str(value).lower() for value in nearest.settings[key])
        raise PrelnError(
            f"transformers has no such model: the nearest, {nearest.name}, has {key}: {allowed}, and this one "
            f"{str(getattr(settings, key)).lower()}"
        )
    return nearest


def model_of(settings: LanguageSettings, weights: Mapping[str, Tensor]) -> PreTrainedModel:
    """The library's model with a run's weights.

    Raises:
        PrelnError: if it has none, or its weights changed.
    """
    import transformers

    family = family_of(settings)
    config: Any = getattr(transformers, f"{family.name}Config")(
        vocab_size=len(weights["embedding.weight"]),
        tie_word_embeddings=False,
        **dict.fromkeys(("bos_token_id", "eos_token_id", "pad_token_id")),
        **family.configured(settings),
    )
    suffix = "LMHeadModel" if family.name == "GPT2" else "ForCausalLM"
    model: PreTrainedModel = getattr(transformers, f"{family.name}{suffix}")(config).eval()
    for name, parameter in model.named_parameters():
        if name.endswith(".bias"):
            torch.nn.init.zeros_(parameter)
    keys = model.load_state_dict(renamed(family.converted(weights, settings), family.names), strict=False)
    require_no([*keys.unexpected_keys, *(name for name in keys.missing_keys if not name.endswith(".bias"))], model)
    return model


def export(run: LanguageRun, prepared: Path, records: Path, out: Path) -> None:
    """Write a trained model for `from_pretrained` to the new folder `out`, with its card and its record, and the model
    of its pieces, if it reads any; `records` is the run's folder.

    Raises:
        PrelnError: if `transformers` has no such model, or `out` exists, or the run has no records or weights here, or
            diverged.
    """
    try:
        family_of(run.settings)
    except PrelnError as error:
        raise PrelnError(f"{run.id}: {error}") from None
    with written(run, records, out) as folder:
        model_of(run.settings, trained_weights(run, prepared, records)).save_pretrained(folder)
        if run.settings.tokens == "bpe":
            shutil.copyfile(prepared / "bpe" / "bpe.model", folder / "bpe.model")
