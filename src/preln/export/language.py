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

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from preln.config.language import LanguageSettings
from preln.errors import PrelnError
from preln.export.card import card
from preln.language.runs import LanguageRun
from preln.language.training import trained_weights
from preln.placements import PLACEMENTS
from preln.records import recording
from preln.records.files import new_folder

if TYPE_CHECKING:
    from transformers import PreTrainedModel

EPSILON = 1e-5
"""The epsilon of our norms."""

Weights = dict[str, Tensor]


def _gated(weights: Mapping[str, Tensor], settings: LanguageSettings, norms: Mapping[str, str]) -> Weights:
    """The weights of a model with Llama's names. `norms` are the names of a layer's norms, by ours."""
    names = {
        **{f"attention.{name}": f"self_attn.{name[0]}_proj" for name in ("query", "key", "value", "output")},
        **{"feed_forward.w1": "mlp.up_proj", "feed_forward.w2": "mlp.down_proj", "feed_forward.w3": "mlp.gate_proj"},
        **norms,
    }
    return {
        "model.embed_tokens.weight": weights["embedding.weight"] * settings.width**0.5,
        "lm_head.weight": weights["output.weight"],
        "model.norm.weight": weights["last_norm.weight"],
        **{
            f"model.layers.{layer}.{library_name}.weight": weights[f"layers.{layer}.{name}.weight"]
            for layer in range(settings.layers)
            for name, library_name in names.items()
        },
    }


def _llama(weights: Mapping[str, Tensor], settings: LanguageSettings) -> Weights:
    norms = {"attention_residual.norm": "input_layernorm", "feed_forward_residual.norm": "post_attention_layernorm"}
    return _gated(weights, settings, norms)


def _olmo2(weights: Mapping[str, Tensor], settings: LanguageSettings) -> Weights:
    norms = {
        "attention_residual.norm": "post_attention_layernorm",
        "feed_forward_residual.norm": "post_feedforward_layernorm",
    }
    converted = _gated(weights, settings, norms)
    for layer in range(settings.layers):
        # The score of a query and a key of length sqrt(d) is divided by sqrt(d).
        scale = weights[f"layers.{layer}.attention.qk_norm.scale"] / settings.width**0.5
        attention = f"model.layers.{layer}.self_attn"
        converted[f"{attention}.q_norm.weight"] = scale.expand(settings.width)
        converted[f"{attention}.k_norm.weight"] = torch.ones(settings.width)
    return converted


def _gemma2(weights: Mapping[str, Tensor], settings: LanguageSettings) -> Weights:
    norms = {
        "attention_residual.norm": "input_layernorm",
        "attention_residual.after": "post_attention_layernorm",
        "feed_forward_residual.norm": "pre_feedforward_layernorm",
        "feed_forward_residual.after": "post_feedforward_layernorm",
    }
    converted = _gated(weights, settings, norms) | {"model.embed_tokens.weight": weights["embedding.weight"]}
    # Its gains are added to 1.
    return {name: weight - 1 if weight.dim() == 1 else weight for name, weight in converted.items()}


def _opt(weights: Mapping[str, Tensor], settings: LanguageSettings) -> Weights:
    names = {
        **{f"attention.{name}": f"self_attn.{name[0]}_proj" for name in ("query", "key", "value")},
        **{"attention.output": "self_attn.out_proj", "feed_forward.w1": "fc1", "feed_forward.w2": "fc2"},
        **{"attention_residual.norm": "self_attn_layer_norm", "feed_forward_residual.norm": "final_layer_norm"},
    }
    stack, positions = "model.decoder", weights["position"]
    return {
        f"{stack}.embed_tokens.weight": weights["embedding.weight"] * settings.width**0.5,
        # The first two are for padding.
        f"{stack}.embed_positions.weight": torch.cat([torch.zeros(2, settings.width), positions]),
        "lm_head.weight": weights["output.weight"],
        **{
            f"{stack}.final_layer_norm.{kind}": weights[f"last_norm.{kind}"]
            for kind in ("weight", "bias")
            if "last_norm.weight" in weights
        },
        **{
            f"{stack}.layers.{layer}.{library_name}.{kind}": weights[f"layers.{layer}.{name}.{kind}"]
            for layer in range(settings.layers)
            for name, library_name in names.items()
            for kind in (("weight", "bias") if "norm" in name else ("weight",))
        },
    }


def _gpt2(weights: Mapping[str, Tensor], settings: LanguageSettings) -> Weights:
    converted = {
        "transformer.wte.weight": weights["embedding.weight"] * settings.width**0.5,
        "transformer.wpe.weight": weights["position"],
        "lm_head.weight": weights["output.weight"],
        **{f"transformer.ln_f.{kind}": weights[f"last_norm.{kind}"] for kind in ("weight", "bias")},
    }
    for layer in range(settings.layers):
        layer_name, block = f"layers.{layer}", f"transformer.h.{layer}"
        # Its matrices are transposed.
        attention = [weights[f"{layer_name}.attention.{name}.weight"] for name in ("query", "key", "value")]
        converted[f"{block}.attn.c_attn.weight"] = torch.cat(attention).T
        converted[f"{block}.attn.c_proj.weight"] = weights[f"{layer_name}.attention.output.weight"].T
        converted[f"{block}.mlp.c_fc.weight"] = weights[f"{layer_name}.feed_forward.w1.weight"].T
        converted[f"{block}.mlp.c_proj.weight"] = weights[f"{layer_name}.feed_forward.w2.weight"].T
        for kind in ("weight", "bias"):
            converted[f"{block}.ln_1.{kind}"] = weights[f"{layer_name}.attention_residual.norm.{kind}"]
            converted[f"{block}.ln_2.{kind}"] = weights[f"{layer_name}.feed_forward_residual.norm.{kind}"]
    return converted


@dataclass(frozen=True)
class Family:
    """A kind of model of the library.

    Attributes:
        name: in the names of its classes there.
        settings: the values that each setting may have.
        configured: a run's settings as its configuration has them, beside those that all kinds have.
        converted: a run's weights as it has them.
    """

    name: str
    settings: Mapping[str, tuple[Any, ...]]
    configured: Callable[[LanguageSettings], dict[str, Any]]
    converted: Callable[[Mapping[str, Tensor], LanguageSettings], Weights]


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
        "n_embd": settings.width,
        "n_layer": settings.layers,
        "n_head": settings.heads,
        "n_positions": settings.sequence_length,
        "n_inner": settings.ffn_width,
        "activation_function": "gelu",
        "embd_pdrop": settings.dropout,
        "resid_pdrop": settings.dropout,
        "attn_pdrop": 0.0,
    }


_PLAIN = {"norm": ("layer",), "qk_norm": (False,), "positions": ("learned",)}
_GATED = {"norm": ("rms",), "qk_norm": (False,), "positions": ("rope",), "feed_forward": ("swiglu",)}

FAMILIES = (
    Family("GPT2", {"placement": ("pre",), **_PLAIN, "feed_forward": ("gelu",)}, _of_gpt2, _gpt2),
    Family("OPT", {"placement": ("pre",), **_PLAIN, "feed_forward": ("relu",)}, _of_opt, _opt),
    Family("OPT", {"placement": ("post", "post-init"), **_PLAIN, "feed_forward": ("relu", "gelu")}, _of_opt, _opt),
    Family("Llama", {"placement": ("pre",), **_GATED}, _of_gated, _llama),
    Family("Olmo2", {"placement": ("res-post",), **_GATED, "qk_norm": (True,), "heads": (1,)}, _of_gated, _olmo2),
    Family("Gemma2", {"placement": ("sandwich",), **_GATED}, _of_gemma2, _gemma2),
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
    keys = model.load_state_dict(family.converted(weights, settings), strict=False)
    if changed := [*keys.unexpected_keys, *(name for name in keys.missing_keys if not name.endswith(".bias"))]:
        raise PrelnError(
            f"transformers {transformers.__version__}: the weights of {type(model).__name__} changed "
            f"({', '.join(changed[:3])}); install the version in requirements-huggingface.txt"
        )
    return model


def export(run: LanguageRun, prepared: Path, records: Path, out: Path) -> None:
    """Write a trained model for `from_pretrained`, with its card and its record, and the model of its pieces, if it
    reads any.

    Args:
        run: the run.
        prepared: folder of the prepared text.
        records: the run's folder.
        out: the new folder.

    Raises:
        PrelnError: if `transformers` has no such model, or `out` exists, or the run has no records or weights here, or
            diverged.
    """
    try:
        family_of(run.settings)
    except PrelnError as error:
        raise PrelnError(f"{run.id}: {error}") from None
    record, metrics = recording.read(records / recording.RUN), recording.read_metrics(records)
    if diverged := metrics["diverged"]:
        raise PrelnError(f"{run.id}: diverged at update {diverged['update']:,}, so there is no trained model")
    model = model_of(run.settings, trained_weights(run, prepared, records))
    with new_folder(out) as folder:
        model.save_pretrained(folder)
        # safetensors makes its files private.
        (folder / "model.safetensors").chmod((folder / "config.json").stat().st_mode)
        if run.settings.tokens == "bpe":
            (folder / "bpe.model").write_bytes((prepared / "bpe" / "bpe.model").read_bytes())
        (folder / "README.md").write_text(card(run, record, metrics), encoding="utf-8")
        (folder / recording.RUN).write_bytes((records / recording.RUN).read_bytes())
