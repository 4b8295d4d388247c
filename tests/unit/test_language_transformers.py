"""With the weights of models of `transformers`, a language model computes their logits.

Each of theirs is configured to what ours has: no biases in matrices, our activations, one epsilon, attention to all
earlier positions. Ours multiplies embeddings by the square root of the width, and of theirs only Gemma-2 does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from preln.language.model import LanguageModel
from tests.conftest import language_settings

transformers = pytest.importorskip("transformers", reason="transformers is not installed")
pytestmark = pytest.mark.numbers

VOCABULARY, WIDTH, INNER, LAYERS, LENGTH = 50, 32, 48, 3, 16
SIZES: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "hidden_size": WIDTH,
    "num_hidden_layers": LAYERS,
    "max_position_embeddings": LENGTH,
    "pad_token_id": None,
}
GATED = {"intermediate_size": INNER, "rms_norm_eps": 1e-5, "tie_word_embeddings": False}

Weights = dict[str, Tensor]


def gpt2() -> Any:
    shape = {"n_embd": WIDTH, "n_layer": LAYERS, "n_head": 4, "n_positions": LENGTH, "n_inner": INNER}
    return transformers.GPT2LMHeadModel(
        transformers.GPT2Config(vocab_size=VOCABULARY, activation_function="gelu", **shape)
    )


def llama() -> Any:
    return transformers.LlamaForCausalLM(transformers.LlamaConfig(num_attention_heads=4, **SIZES, **GATED))


def olmo2() -> Any:
    # It normalises queries and keys over all heads, and we in each: with one head this is the same.
    return transformers.Olmo2ForCausalLM(transformers.Olmo2Config(num_attention_heads=1, **SIZES, **GATED))


def gemma2() -> Any:
    return transformers.Gemma2ForCausalLM(
        transformers.Gemma2Config(
            **SIZES,
            **GATED,
            num_attention_heads=4,
            num_key_value_heads=4,
            head_dim=WIDTH // 4,
            query_pre_attn_scalar=WIDTH // 4,
            hidden_activation="silu",
            attn_logit_softcapping=None,
            final_logit_softcapping=None,
            layer_types=["full_attention"] * LAYERS,
        )
    )


def opt(is_pre: bool) -> Any:
    shape = {"num_attention_heads": 4, "ffn_dim": INNER, "word_embed_proj_dim": WIDTH}
    return transformers.OPTForCausalLM(transformers.OPTConfig(do_layer_norm_before=is_pre, **shape, **SIZES))


@torch.no_grad()
def randomise(model: Any) -> None:
    """Draw all weights, but for the biases of matrices, which ours has none of, and for OLMo-2's gains of queries and
    keys, which ours has one number for."""
    generator = torch.Generator().manual_seed(1)
    for name, weight in model.named_parameters():
        is_norm = any(part in name for part in ("norm", "ln_"))
        if "q_norm" in name or "k_norm" in name:
            weight.fill_(0.6)
        elif "olmo2" in type(model).__name__.lower() and ("q_proj" in name or "k_proj" in name):
            # Beside them, the epsilon of its norms is nothing.
            weight.copy_(10 * torch.randn(weight.shape, generator=generator))
        elif weight.dim() > 1 or is_norm:
            weight.copy_(0.2 * torch.randn(weight.shape, generator=generator) + (is_norm and name.endswith("weight")))
        else:
            weight.zero_()


NORMS = {"attention_residual.norm": "input_layernorm", "feed_forward_residual.norm": "post_attention_layernorm"}
RES_POST_NORMS = {
    "attention_residual.norm": "post_attention_layernorm",
    "feed_forward_residual.norm": "post_feedforward_layernorm",
}
SANDWICH_NORMS = {
    "attention_residual.norm": "input_layernorm",
    "attention_residual.after": "post_attention_layernorm",
    "feed_forward_residual.norm": "pre_feedforward_layernorm",
    "feed_forward_residual.after": "post_feedforward_layernorm",
}


def of_llamas_kind(theirs: Weights, norms: dict[str, str]) -> Weights:
    """Our weights from those of a model with Llama's names."""
    attention = {"query": "q_proj", "key": "k_proj", "value": "v_proj", "output": "o_proj"}
    feed_forward = {"w1": "up_proj", "w2": "down_proj", "w3": "gate_proj"}
    names = {
        **{f"attention.{ours}": f"self_attn.{name}" for ours, name in attention.items()},
        **{f"feed_forward.{ours}": f"mlp.{name}" for ours, name in feed_forward.items()},
        **norms,
    }
    return {
        "embedding.weight": theirs["model.embed_tokens.weight"] / WIDTH**0.5,
        "output.weight": theirs["lm_head.weight"],
        "last_norm.weight": theirs["model.norm.weight"],
        **{
            f"layers.{layer}.{ours}.weight": theirs[f"model.layers.{layer}.{name}.weight"]
            for layer in range(LAYERS)
            for ours, name in names.items()
        },
    }


def of_llama(theirs: Weights) -> Weights:
    return of_llamas_kind(theirs, NORMS)


def of_olmo2(theirs: Weights) -> Weights:
    gains = {name: theirs[f"model.layers.0.self_attn.{name}_norm.weight"][:1] for name in "qk"}
    scales = {
        f"layers.{layer}.attention.qk_norm.scale": WIDTH**0.5 * gains["q"] * gains["k"] for layer in range(LAYERS)
    }
    return of_llamas_kind(theirs, RES_POST_NORMS) | scales


def of_gemma2(theirs: Weights) -> Weights:
    ours = of_llamas_kind(theirs, SANDWICH_NORMS)
    # Its gains are added to 1, and its embeddings multiplied by the root of the width.
    raised = {name: weight + 1 for name, weight in ours.items() if weight.dim() == 1}
    return ours | raised | {"embedding.weight": theirs["model.embed_tokens.weight"]}


def of_opt(theirs: Weights) -> Weights:
    names = {
        **{f"attention.{ours}": f"self_attn.{ours[0]}_proj" for ours in ("query", "key", "value")},
        "attention.output": "self_attn.out_proj",
        "feed_forward.w1": "fc1",
        "feed_forward.w2": "fc2",
        "attention_residual.norm": "self_attn_layer_norm",
        "feed_forward_residual.norm": "final_layer_norm",
    }
    stack = "model.decoder"
    last = {f"last_norm.{kind}": theirs.get(f"{stack}.final_layer_norm.{kind}") for kind in ("weight", "bias")}
    return {
        "embedding.weight": theirs[f"{stack}.embed_tokens.weight"] / WIDTH**0.5,
        "output.weight": theirs["lm_head.weight"],
        # The first two are for padding.
        "position": theirs[f"{stack}.embed_positions.weight"][2:],
        **{name: weight for name, weight in last.items() if weight is not None},
        **{
            f"layers.{layer}.{ours}.{kind}": theirs[f"{stack}.layers.{layer}.{name}.{kind}"]
            for layer in range(LAYERS)
            for ours, name in names.items()
            for kind in (("weight", "bias") if "norm" in ours else ("weight",))
        },
    }


def of_gpt2(theirs: Weights) -> Weights:
    ours = {
        "embedding.weight": theirs["transformer.wte.weight"] / WIDTH**0.5,
        "output.weight": theirs["lm_head.weight"],
        "position": theirs["transformer.wpe.weight"],
        **{f"last_norm.{kind}": theirs[f"transformer.ln_f.{kind}"] for kind in ("weight", "bias")},
    }
    for layer in range(LAYERS):
        mine, block = f"layers.{layer}", f"transformer.h.{layer}"
        # Its matrices are transposed.
        qkv = theirs[f"{block}.attn.c_attn.weight"].T.chunk(3)
        ours |= {f"{mine}.attention.{name}.weight": x for name, x in zip(("query", "key", "value"), qkv, strict=True)}
        ours[f"{mine}.attention.output.weight"] = theirs[f"{block}.attn.c_proj.weight"].T
        ours[f"{mine}.feed_forward.w1.weight"] = theirs[f"{block}.mlp.c_fc.weight"].T
        ours[f"{mine}.feed_forward.w2.weight"] = theirs[f"{block}.mlp.c_proj.weight"].T
        for kind in ("weight", "bias"):
            ours[f"{mine}.attention_residual.norm.{kind}"] = theirs[f"{block}.ln_1.{kind}"]
            ours[f"{mine}.feed_forward_residual.norm.{kind}"] = theirs[f"{block}.ln_2.{kind}"]
    return ours


LLAMA = {"norm": "rms", "feed_forward": "swiglu", "positions": "rope"}
MODELS: dict[str, tuple[Callable[[], Any], Callable[[Weights], Weights], dict[str, Any]]] = {
    "gpt2": (gpt2, of_gpt2, {"placement": "pre"}),
    "llama": (llama, of_llama, {"placement": "pre", **LLAMA}),
    "olmo2": (olmo2, of_olmo2, {"placement": "res-post", "qk_norm": True, "heads": 1, **LLAMA}),
    "gemma2": (gemma2, of_gemma2, {"placement": "sandwich", **LLAMA}),
    "opt-pre": (lambda: opt(True), of_opt, {"placement": "pre", "feed_forward": "relu"}),
    "opt-post": (lambda: opt(False), of_opt, {"placement": "post", "feed_forward": "relu"}),
}


@pytest.mark.parametrize("name", MODELS)
def test_the_logits_are_those_of_transformers(name: str) -> None:
    build, converted, changes = MODELS[name]
    theirs = build().eval()
    randomise(theirs)
    shape = {"layers": LAYERS, "width": WIDTH, "ffn_width": INNER, "heads": 4, "sequence_length": LENGTH, "tied": False}
    ours = LanguageModel(language_settings(**{**shape, **changes}), VOCABULARY).eval()
    ours.load_state_dict(converted(theirs.state_dict()))
    tokens = torch.randint(VOCABULARY, (4, LENGTH), generator=torch.Generator().manual_seed(2))
    with torch.no_grad():
        expected = theirs(input_ids=tokens).logits
        assert expected.std() > 0.1
        torch.testing.assert_close(ours(tokens), expected, rtol=1e-5, atol=1e-5)
