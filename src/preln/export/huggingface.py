"""A trained model as a model of the library `transformers`: weights, tokenizer and model card.

Not every placement has a model there. These have one:

- Post-LN translation is FSMT, and Pre-LN is M2M100. Both have fairseq's positions; Marian's are others.
- Post-LN BERT is Bert, and Pre-LN is RobertaPreLayerNorm.
- LayerNorm scaling is Pre-LN there, with the scales in the gains and biases of its norms.
- DeepNorm is Post-LN there, with its alphas in the last matrices of its sub-layers.

The tokenizers are those that take a SentencePiece model and a dictionary beside it: Marian's and BARTpho's. A piece
that the dictionary lacks is `<unk>`, as in our trainings.
"""

from __future__ import annotations

import json
import math
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from preln.errors import PrelnError
from preln.export.card import card
from preln.fairseq_plugin.binarise import symbols
from preln.jobs.runs import Run
from preln.placements.base import Shape, places
from preln.placements.deepnorm import DeepNorm
from preln.pretraining.runs import PretrainingRun
from preln.records import recording
from preln.records.files import new_folder
from preln.training import prepared_text
from preln.training.training import TrainedModel

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

DEEPNORM = "deepnorm"
"""The placement that is Post-LN once its alphas are in the last matrices of its sub-layers."""
POST_LN = ("post", "post-init", DEEPNORM)
"""Placements that become Post-LN; post-init is Post-LN once its weights are drawn."""
SCALED = "lns"
"""The placement that is Pre-LN once the scales of its norms are in their gains and biases."""
LONGEST = 1024
"""Positions that fairseq's translation models have."""
MOST_PIECES = 200
"""Of a translation. Our own limit grows with the source, which the library cannot express."""
NOT_OURS = ("embed_positions.weight", "token_type_embeddings.weight")
"""Weights there that ours have no counterpart of: positions that are computed, and zeros."""

Names = Mapping[str, str]
"""Parts of the names of our weights, and what they are there; they are replaced one after the other."""

_NORM_OF_A_LAYER = re.compile(r"\.layers\.(\d+)\.\w+_residual\.norm\.(?:weight|bias)$")
_LAST_OF_A_SUBLAYER = re.compile(r"^(encoder|decoder)\..*\b(?:out_proj|fc2)\.(?:weight|bias)$")

FSMT: Names = {
    "encoder.": "model.encoder.",
    "decoder.": "model.decoder.",
    "encoder_attention_residual.norm": "encoder_attn_layer_norm",
    "attention_residual.norm": "self_attn_layer_norm",
    "feed_forward_residual.norm": "final_layer_norm",
}
M2M100: Names = {**FSMT, "model.decoder.output_projection": "lm_head"}


def _of_bert(base: str, attention_norm: str, feed_forward_norm: str) -> Names:
    """The names of a BERT's layers and embeddings, whose names there begin with `base`."""
    ours = "encoder.sentence_encoder"
    return {
        f"{ours}.embed_tokens": f"{base}.embeddings.word_embeddings",
        f"{ours}.embed_positions": f"{base}.embeddings.position_embeddings",
        f"{ours}.layernorm_embedding": f"{base}.embeddings.LayerNorm",
        f"{ours}.layer_norm": f"{base}.LayerNorm",
        f"{ours}.layers": f"{base}.encoder.layer",
        "self_attn.q_proj": "attention.self.query",
        "self_attn.k_proj": "attention.self.key",
        "self_attn.v_proj": "attention.self.value",
        "self_attn.out_proj": "attention.output.dense",
        "fc1": "intermediate.dense",
        "fc2": "output.dense",
        "attention_residual.norm": attention_norm,
        "feed_forward_residual.norm": feed_forward_norm,
    }


POST_BERT: Names = {
    **_of_bert("bert", "attention.output.LayerNorm", "output.LayerNorm"),
    "encoder.lm_head.dense": "cls.predictions.transform.dense",
    "encoder.lm_head.layer_norm": "cls.predictions.transform.LayerNorm",
    "encoder.lm_head": "cls.predictions.decoder",
}
PRE_BERT: Names = {
    **_of_bert("roberta_prelayernorm", "attention.LayerNorm", "intermediate.LayerNorm"),
    "encoder.lm_head.dense": "lm_head.dense",
    "encoder.lm_head.layer_norm": "lm_head.layer_norm",
    "encoder.lm_head": "lm_head.decoder",
}


def export(run: Run | PretrainingRun, trained: TrainedModel, prepared: Path, out: Path) -> None:
    """Write a trained model so that `from_pretrained` reads it, with its tokenizer, its card and its record.

    Args:
        run: the translation run, or the pre-training run.
        trained: its model.
        prepared: folder of the prepared text.
        out: the new folder.

    Raises:
        PrelnError: if `transformers` has no such model, or `out` is there already, or the run has no records, or
            diverged.
    """
    if refused := unlike(run):
        raise PrelnError(f"{run.id}: transformers has no model of it, for {refused}")
    records = trained.training.state.job
    record, metrics = recording.read(records / recording.RUN), recording.read_metrics(records)
    if diverged := metrics["diverged"]:
        raise PrelnError(f"{run.id}: diverged at update {diverged['update']:,}, so there is no trained model")
    with new_folder(out) as folder:
        if isinstance(run, Run):
            model, tokenizer = translation_model(run, trained.weights, prepared)
        else:
            model, tokenizer = bert(run, trained.weights, prepared)
        model.save_pretrained(folder)
        # safetensors lets nobody else read what it writes.
        (folder / "model.safetensors").chmod((folder / "config.json").stat().st_mode)
        tokenizer.save_pretrained(folder)
        (folder / "README.md").write_text(card(run, record, metrics), encoding="utf-8")
        (folder / recording.RUN).write_bytes((records / recording.RUN).read_bytes())


def unlike(run: Run | PretrainingRun) -> str:
    """Why `transformers` has no model of a run; nothing if it has one."""
    settings = run.settings
    if settings.placement not in (*POST_LN, "pre", SCALED):
        return f"the placement {settings.placement} is in none"
    if settings.norm != "layer":
        return f"norm: {settings.norm} is in none of its placement"
    if settings.qk_norm:
        return "qk_norm is in none of its placement"
    if isinstance(run, PretrainingRun) and not run.settings.embedding_norm:
        return "both BERTs there normalise the embeddings"
    return ""


def translation_model(
    run: Run, weights: Mapping[str, Tensor], prepared: Path
) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """The model of a translation run, and its tokenizer of prepared text."""
    import transformers

    languages = prepared_text.record(prepared)["languages"]
    pieces = symbols(prepared / "binary" / f"dict.{languages['source']}.txt")
    settings = run.settings
    shared = {
        **{"d_model": settings.width, "scale_embedding": True, "activation_function": "relu"},
        **{"encoder_layers": settings.encoder_layers, "decoder_layers": settings.decoder_layers},
        **{f"{stack}_ffn_dim": settings.ffn_width for stack in ("encoder", "decoder")},
        **{f"{stack}_attention_heads": settings.heads for stack in ("encoder", "decoder")},
        **{f"{stack}_layerdrop": 0.0 for stack in ("encoder", "decoder")},
        **{"dropout": settings.dropout, "attention_dropout": 0.0, "activation_dropout": 0.0},
        **{"max_position_embeddings": LONGEST, "tie_word_embeddings": True},
        # fairseq's decoder begins with the end of sentence.
        **{"bos_token_id": 0, "pad_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 2},
    }
    if settings.placement in POST_LN:
        made: Any = transformers.FSMTForConditionalGeneration
        sizes = {"src_vocab_size": len(pieces), "tgt_vocab_size": len(pieces)}
        config: Any = transformers.FSMTConfig(langs=[*languages.values()], **sizes, **shared)
        names = FSMT
    else:
        made = transformers.M2M100ForConditionalGeneration
        config = transformers.M2M100Config(vocab_size=len(pieces), **shared)
        names = M2M100
    model = _filled(made, config, _plain(run, weights), names)
    # The rules of our search (`fairseq_plugin.decoding`): a sentence is done when it has `beam` finished hypotheses,
    # nothing ends before it has begun, and no padding is said.
    model.generation_config.update(
        num_beams=settings.beam,
        length_penalty=settings.length_penalty,
        early_stopping=True,
        min_new_tokens=1,
        max_new_tokens=MOST_PIECES,
        # FSMT has a limit of its own, and the library would warn of two.
        max_length=None,
        bad_words_ids=[[1]],
    )
    bpe = str(prepared / "bpe" / "bpe.model")
    with tempfile.TemporaryDirectory() as folder:
        numbers = Path(folder) / "vocab.json"
        numbers.write_text(json.dumps({piece: number for number, piece in enumerate(pieces)}), encoding="utf-8")
        tokenizer = transformers.MarianTokenizer(
            bpe,
            bpe,
            str(numbers),
            source_lang=languages["source"],
            target_lang=languages["target"],
            model_max_length=LONGEST,
        )
    return model, tokenizer


def bert(
    run: PretrainingRun, weights: Mapping[str, Tensor], prepared: Path
) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """The masked language model of a pre-training run, and its tokenizer of running text."""
    import transformers

    dictionary = prepared / "binary" / "dict.txt"
    settings = run.settings
    # Behind the pieces, <mask>.
    shared = {
        **{"vocab_size": len(symbols(dictionary)) + 1, "hidden_size": settings.width, "hidden_act": "gelu"},
        **{"num_hidden_layers": settings.layers, "num_attention_heads": settings.heads},
        **{"intermediate_size": settings.ffn_width, "hidden_dropout_prob": settings.dropout},
        **{"attention_probs_dropout_prob": settings.dropout, "layer_norm_eps": 1e-5, "type_vocab_size": 1},
        **{"bos_token_id": 0, "pad_token_id": 1, "eos_token_id": 2},
    }
    # fairseq counts positions from behind the number of <pad>, and so does RobertaPreLayerNorm; Bert from 0.
    positions = weights["encoder.sentence_encoder.embed_positions.weight"]
    if settings.placement in POST_LN:
        positions = positions[2:]
        made: Any = transformers.BertForMaskedLM
        config: Any = transformers.BertConfig(max_position_embeddings=len(positions), **shared)
        names = POST_BERT
    else:
        made = transformers.RobertaPreLayerNormForMaskedLM
        config = transformers.RobertaPreLayerNormConfig(max_position_embeddings=len(positions), **shared)
        names = PRE_BERT
    ours = {**weights, "encoder.sentence_encoder.embed_positions.weight": positions}
    model = _filled(made, config, _plain(run, ours), names)
    longest = settings.sequence_length
    bpe = str(prepared / "bpe" / "bpe.model")
    return model, transformers.BartphoTokenizer(bpe, str(dictionary), model_max_length=longest)


def _plain(run: Run | PretrainingRun, weights: Mapping[str, Tensor]) -> Mapping[str, Tensor]:
    """The weights of a run as those of Post-LN or Pre-LN, whichever its placement becomes."""
    if run.settings.placement == SCALED:
        return _unscaled(weights)
    return _over_alpha(run, weights) if run.settings.placement == DEEPNORM else weights


def _unscaled(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The weights of LayerNorm scaling as Pre-LN's of the same function: what a norm in the layer l gives is divided by
    sqrt(l), and here its gain and bias are."""
    return {
        name: value / math.sqrt(int(norm[1]) + 1) if (norm := _NORM_OF_A_LAYER.search(name)) else value
        for name, value in weights.items()
    }


def _over_alpha(run: Run | PretrainingRun, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The weights of DeepNorm as Post-LN's of the same function: LayerNorm(alpha x + F(x)) is LayerNorm(x + F(x) /
    alpha), and here the last matrix and bias of F are divided by alpha. Epsilon alone differs, for
    ours becomes epsilon / alpha^2: beside a variance of about 1, the difference is below 1e-5."""
    shape = Shape(run.settings.width, run.settings.ffn_width)
    if isinstance(run, Run):
        depths = run.settings.encoder_layers, run.settings.decoder_layers
    else:
        depths = run.settings.layers, 0
    alphas: dict[str, float] = {place.stack: DeepNorm(shape, place).alpha for place in places(*depths)}
    return {
        name: value / alphas[last[1]] if (last := _LAST_OF_A_SUBLAYER.search(name)) else value
        for name, value in weights.items()
    }


def _filled(made: Any, config: Any, weights: Mapping[str, Tensor], names: Names) -> PreTrainedModel:
    """A model of the library with our weights.

    Raises:
        PrelnError: if a weight of one side has no counterpart on the other.
    """
    import transformers

    model: PreTrainedModel = made(config).eval()
    renamed = {_renamed(name, names): value for name, value in weights.items() if not name.endswith(".version")}
    unknown = model.load_state_dict(renamed, strict=False).unexpected_keys
    theirs = dict(model.named_parameters(remove_duplicate=False))
    # transformers may have several names for one weight. Our model has one.
    filled = {theirs[name].data_ptr() for name in renamed if name in theirs}
    left = [name for name, value in theirs.items() if value.data_ptr() not in filled]
    if unexpected := unknown + [name for name in left if not name.endswith(NOT_OURS)]:
        raise PrelnError(
            f"transformers {transformers.__version__}: {made.__name__} has other weights than it had "
            f"({', '.join(unexpected[:3])}); install the version in requirements-huggingface.txt"
        )
    for name in left:
        if name.endswith("token_type_embeddings.weight"):
            torch.nn.init.zeros_(theirs[name])
    return model


def _renamed(name: str, names: Names) -> str:
    for ours, theirs in names.items():
        name = name.replace(ours, theirs)
    return name
