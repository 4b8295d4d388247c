"""Export of a trained model to the library `transformers`: weights, tokenizer and model card.

Some placements have no model there. These have one:

- Post-LN translation is FSMT, and Pre-LN is M2M100. Both have fairseq's positions; Marian's differ.
- Post-LN BERT is Bert, and Pre-LN is RobertaPreLayerNorm.
- LayerNorm scaling becomes Pre-LN, with the scales in the gains and biases of its norms.
- DeepNorm becomes Post-LN, with its alphas in the last matrices of its sub-layers.

The tokenizers are Marian's and BARTpho's, which read a SentencePiece model and a separate dictionary. A piece that the
dictionary lacks is `<unk>`, as in our trainings.
"""

from __future__ import annotations

import json
import math
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from preln.errors import PrelnError
from preln.export.card import card
from preln.language.runs import LanguageRun
from preln.placements import PLACEMENTS
from preln.placements.base import Shape, places
from preln.placements.deepnorm import DeepNorm
from preln.pretraining.runs import PretrainingRun
from preln.records import recording
from preln.records.files import replaced_folder
from preln.training import prepared_text
from preln.training.training import TrainedModel
from preln.translation.runs import Run

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

DEEPNORM = "deepnorm"
"""The placement that becomes Post-LN with its alphas in the last matrices of its sub-layers."""
POST_LN = ("post", "post-init", DEEPNORM)
"""Placements that become Post-LN; post-init differs from it only in its initialisation."""
SCALED = "lns"
"""The placement that becomes Pre-LN with the scales of its norms in their gains and biases."""
LONGEST = 1024
"""Positions in fairseq's translation models."""
MOST_PIECES = 200
"""Largest number of pieces in a translation. Our own limit grows with the source, which the library cannot express."""
NOT_OURS = ("embed_positions.weight", "token_type_embeddings.weight")
"""Weights of the library without a counterpart here: computed positions, and zeros."""

Names = Mapping[str, str]
"""Parts of our weights' names and their replacements in the library, applied in order."""

_TOKENS = {"bos_token_id": 0, "pad_token_id": 1, "eos_token_id": 2}
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
    """The names of a BERT's layers and embeddings, which begin with `base` in the library."""
    prefix = "encoder.sentence_encoder"
    return {
        f"{prefix}.embed_tokens": f"{base}.embeddings.word_embeddings",
        f"{prefix}.embed_positions": f"{base}.embeddings.position_embeddings",
        f"{prefix}.layernorm_embedding": f"{base}.embeddings.LayerNorm",
        f"{prefix}.layer_norm": f"{base}.LayerNorm",
        f"{prefix}.layers": f"{base}.encoder.layer",
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
    """Write a trained model for `from_pretrained` to the new folder `out`, with its tokenizer, its card and its record.

    Raises:
        PrelnError: if `transformers` has no such model, or `out` exists, or the run has no records, or diverged.
    """
    if reason := unlike(run):
        raise PrelnError(f"{run.id}: transformers has no such model: {reason}")
    with written(run, trained.training.state.job, out) as folder:
        _require_the_last(run, trained)
        if isinstance(run, Run):
            model, tokenizer = translation_model(run, trained.weights, prepared)
        else:
            model, tokenizer = bert(run, trained.weights, prepared)
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)


def _require_the_last(run: Run | PretrainingRun, trained: TrainedModel) -> None:
    """Check that a model's weights are those at the end of its training, of which the card has the numbers.

    Raises:
        PrelnError: if they are older.
    """
    moment = trained.moment
    if isinstance(run, Run):
        is_last = moment.whole_epochs == run.settings.epochs
    else:
        is_last = moment.update == run.settings.updates
    if not is_last:
        raise PrelnError(
            f"{trained.training.state.job}: the last weights are damaged or not on this machine, and the card would "
            "have the numbers of others; move the folder away, and train the run again"
        )


@contextmanager
def written(run: Run | PretrainingRun | LanguageRun, records: Path, out: Path) -> Iterator[Path]:
    """The new folder `out` for a run's model, to which the card and the record are added; `records` is the run's.

    Raises:
        PrelnError: if `out` exists, or the run has no records, or diverged.
    """
    record, metrics = recording.read(records / recording.RUN), recording.read_metrics(records)
    if diverged := metrics["diverged"]:
        raise PrelnError(f"{run.id}: diverged at update {diverged['update']:,}, so there is no trained model")
    with replaced_folder(out, is_new=True) as folder:
        yield folder
        # safetensors makes its files private.
        (folder / "model.safetensors").chmod((folder / "config.json").stat().st_mode)
        (folder / "README.md").write_text(card(run, record, metrics), encoding="utf-8")
        shutil.copyfile(records / recording.RUN, folder / recording.RUN)


def unlike(run: Run | PretrainingRun) -> str:
    """The reason why `transformers` has no such model; empty if it has one."""
    settings = run.settings
    if settings.placement not in (*POST_LN, "pre", SCALED):
        return f"none has the placement {PLACEMENTS[settings.placement].name}"
    if settings.norm != "layer":
        return f"none with this placement has norm: {settings.norm}"
    if settings.qk_norm:
        return "none with this placement has qk_norm"
    if isinstance(run, PretrainingRun) and not run.settings.embedding_norm:
        return "both BERTs there normalise the embeddings"
    return ""


def translation_model(
    run: Run, weights: Mapping[str, Tensor], prepared: Path
) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """A translation run's model, and its tokenizer for prepared text."""
    import transformers

    from preln.fairseq_plugin.binarise import symbols

    languages = prepared_text.record(prepared)["languages"]
    pieces = symbols(prepared / "binary" / f"dict.{languages['source']}.txt")
    settings = run.settings
    shared = {
        "d_model": settings.width,
        "scale_embedding": True,
        "activation_function": "relu",
        "encoder_layers": settings.encoder_layers,
        "decoder_layers": settings.decoder_layers,
        **{f"{stack}_ffn_dim": settings.ffn_width for stack in ("encoder", "decoder")},
        **{f"{stack}_attention_heads": settings.heads for stack in ("encoder", "decoder")},
        **{f"{stack}_layerdrop": 0.0 for stack in ("encoder", "decoder")},
        "dropout": settings.dropout,
        "attention_dropout": 0.0,
        "activation_dropout": 0.0,
        "max_position_embeddings": LONGEST,
        "tie_word_embeddings": True,
        **_TOKENS,
        # fairseq's decoder begins with the end of sentence.
        "decoder_start_token_id": 2,
    }
    plain = _plain(run, weights)
    if settings.placement in POST_LN:
        sizes = {"src_vocab_size": len(pieces), "tgt_vocab_size": len(pieces)}
        config: Any = transformers.FSMTConfig(langs=[*languages.values()], **sizes, **shared)
        model = _filled(transformers.FSMTForConditionalGeneration, config, plain, FSMT)
    else:
        config = transformers.M2M100Config(vocab_size=len(pieces), **shared)
        model = _filled(transformers.M2M100ForConditionalGeneration, config, plain, M2M100)
    # The rules of our search (`fairseq_plugin.decoding`): a sentence is done when it has `beam` finished hypotheses, a
    # hypothesis has at least one piece, and padding is never generated.
    model.generation_config.update(
        num_beams=settings.beam,
        # Without a beam there is nothing that these say, and transformers refuses them.
        **({"length_penalty": settings.length_penalty, "early_stopping": True} if settings.beam > 1 else {}),
        min_new_tokens=1,
        max_new_tokens=MOST_PIECES,
        # FSMT has a limit of its own, and the library warns about two.
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
    """A pre-training run's masked language model, and its tokenizer for running text."""
    import transformers

    from preln.fairseq_plugin.binarise import symbols

    dictionary = prepared / "binary" / "dict.txt"
    settings = run.settings
    shared = {
        # The last entry, after the pieces, is <mask>.
        "vocab_size": len(symbols(dictionary)) + 1,
        "hidden_size": settings.width,
        "hidden_act": "gelu",
        "num_hidden_layers": settings.layers,
        "num_attention_heads": settings.heads,
        "intermediate_size": settings.ffn_width,
        "hidden_dropout_prob": settings.dropout,
        "attention_probs_dropout_prob": settings.dropout,
        "layer_norm_eps": 1e-5,
        "type_vocab_size": 1,
        **_TOKENS,
    }
    # fairseq and RobertaPreLayerNorm count positions from one above the index of <pad>; Bert counts from 0.
    positions = weights["encoder.sentence_encoder.embed_positions.weight"]
    if settings.placement in POST_LN:
        positions, names, kind = positions[2:], POST_BERT, "Bert"
    else:
        names, kind = PRE_BERT, "RobertaPreLayerNorm"
    weights = {**weights, "encoder.sentence_encoder.embed_positions.weight": positions}
    config: Any = getattr(transformers, f"{kind}Config")(max_position_embeddings=len(positions), **shared)
    model = _filled(getattr(transformers, f"{kind}ForMaskedLM"), config, _plain(run, weights), names)
    longest = settings.sequence_length
    bpe = str(prepared / "bpe" / "bpe.model")
    return model, transformers.BartphoTokenizer(bpe, str(dictionary), model_max_length=longest)


def _plain(run: Run | PretrainingRun, weights: Mapping[str, Tensor]) -> Mapping[str, Tensor]:
    """A run's weights converted to Post-LN or Pre-LN, whichever its placement becomes."""
    if run.settings.placement == SCALED:
        # The output of a norm in layer l is divided by sqrt(l), and here its gain and bias are.
        return {
            name: value / math.sqrt(int(norm[1]) + 1) if (norm := _NORM_OF_A_LAYER.search(name)) else value
            for name, value in weights.items()
        }
    if run.settings.placement != DEEPNORM:
        return weights
    # LayerNorm(alpha x + F(x)) is LayerNorm(x + F(x) / alpha), and here the last matrix and bias of F are divided by
    # alpha. Only epsilon differs, as ours becomes epsilon / alpha^2: at a variance of about 1, by less than 1e-5.
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


def _filled(model_class: Any, config: Any, weights: Mapping[str, Tensor], names: Names) -> PreTrainedModel:
    """A model of the library with our weights.

    Raises:
        PrelnError: if a weight on one side has no counterpart on the other.
    """
    model: PreTrainedModel = model_class(config).eval()
    converted = renamed({name: value for name, value in weights.items() if not name.endswith(".version")}, names)
    unknown = model.load_state_dict(converted, strict=False).unexpected_keys
    parameters = dict(model.named_parameters(remove_duplicate=False))
    # transformers may have several names for one weight. Our model has one.
    filled = {parameters[name].data_ptr() for name in converted if name in parameters}
    unfilled = [name for name, value in parameters.items() if value.data_ptr() not in filled]
    require_no(unknown + [name for name in unfilled if not name.endswith(NOT_OURS)], model)
    for name in unfilled:
        if name.endswith("token_type_embeddings.weight"):
            torch.nn.init.zeros_(parameters[name])
    return model


def renamed(weights: Mapping[str, Tensor], names: Names) -> dict[str, Tensor]:
    """Our weights by the library's names."""
    converted = {}
    for name, weight in weights.items():
        for part, replacement in names.items():
            name = name.replace(part, replacement)
        converted[name] = weight
    return converted


def require_no(unmatched: Sequence[str], model: PreTrainedModel) -> None:
    """See that no weight lacks a counterpart on the other side.

    Raises:
        PrelnError: with the first of those that do.
    """
    import transformers

    if unmatched:
        raise PrelnError(
            f"transformers {transformers.__version__}: the weights of {type(model).__name__} changed "
            f"({', '.join(unmatched[:3])}); install the version in requirements-huggingface.txt"
        )
