"""Small models of ours and of fairseq, with inputs and translations."""

from argparse import Namespace
from typing import Any

import numpy as np
import torch
from fairseq import tasks
from fairseq.data import Dictionary
from fairseq.models.transformer import TransformerConfig, TransformerModelBase
from fairseq.sequence_generator import SequenceGenerator
from fairseq.trainer import Trainer
from torch import Tensor

from preln.fairseq_plugin import decoding
from preln.fairseq_plugin.decoding import LENGTH_FACTOR, LENGTH_MARGIN
from preln.fairseq_plugin.launch import configuration
from preln.fairseq_plugin.transformer import PlacedTransformer

NORMS = {
    "attention_residual.norm": "self_attn_layer_norm",
    "encoder_attention_residual.norm": "encoder_attn_layer_norm",
    "feed_forward_residual.norm": "final_layer_norm",
}


def dictionary() -> Dictionary:
    words = Dictionary()
    for number in range(50):
        words.add_symbol(str(number))
    return words


def build(model: type[TransformerModelBase], placement: str, heads: int = 4) -> Any:
    """A 3+2-layer model of width 32 with random weights, LayerNorms included, without dropout."""
    cfg = TransformerConfig()
    cfg.placement, cfg.norm, cfg.qk_norm = placement, "layer", False
    cfg.dropout = 0.0
    cfg.share_all_embeddings = True
    for half, layers in ((cfg.encoder, 3), (cfg.decoder, 2)):
        half.layers, half.embed_dim, half.ffn_embed_dim, half.attention_heads = layers, 32, 48, heads
        half.normalize_before = placement == "pre"
    cfg.decoder.input_dim = cfg.decoder.output_dim = 32
    words = dictionary()
    task = Namespace(source_dictionary=words, target_dictionary=words)
    torch.manual_seed(3)
    # The method that reads fairseq's structured options; ours first reads a flat command line.
    built = TransformerModelBase.build_model.__func__(model, cfg, task)
    for name, parameter in built.named_parameters():
        if "norm" in name:
            torch.nn.init.normal_(parameter)
    return built


def fairseq_names(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """Our weights under fairseq's names."""
    renamed = {}
    for key, value in state.items():
        for name, replacement in sorted(NORMS.items(), key=lambda pair: -len(pair[0])):
            key = key.replace(f".{name}.", f".{replacement}.")
        renamed[key] = value
    return renamed


LENGTHS = [3, 9, 1, 5, 14, 2, 7, 9]
"""Words of the sentences that are translated together."""


def sentences(seed: int, lengths: list[int] = LENGTHS) -> list[Tensor]:
    generator = torch.Generator().manual_seed(seed)
    end = torch.tensor([dictionary().eos()])
    return [torch.cat([torch.randint(4, len(dictionary()), (n,), generator=generator), end]) for n in lengths]


def fairseqs(model: TransformerModelBase, source: Tensor, beam: int, penalty: float) -> list[int]:
    """A sentence's translation by fairseq's generator, alone, so that its length limit is the sentence's."""
    generator = SequenceGenerator(
        [model], dictionary(), beam_size=beam, len_penalty=penalty, max_len_a=LENGTH_FACTOR, max_len_b=LENGTH_MARGIN
    )
    sample = {"net_input": {"src_tokens": source[None], "src_lengths": torch.tensor([len(source)])}}
    (outputs,) = generator.generate([model], sample)
    text: list[int] = outputs[0]["tokens"].tolist()
    return text[:-1]


def together(model: PlacedTransformer, sources: list[Tensor], beam: int, penalty: float) -> list[list[int]]:
    """The best translations by our search, in one batch."""
    return [outputs[0].pieces for outputs in hypotheses(model, sources, beam, penalty)]


def hypotheses(
    model: PlacedTransformer, sources: list[Tensor], beam: int, penalty: float
) -> list[list[decoding.Hypothesis]]:
    """The translations by our search, in one batch that is padded on the left."""
    longest = max(map(len, sources))
    pad = dictionary().pad()
    source = torch.stack([torch.nn.functional.pad(x, (longest - len(x), 0), value=pad) for x in sources])
    return decoding.search(model, source, torch.tensor([len(x) for x in sources]), beam, penalty)


def trainer(arguments: list[str], precision: Any) -> Trainer:
    cfg = configuration(arguments, precision)
    torch.manual_seed(1)
    np.random.seed(1)
    task = tasks.setup_task(cfg.task)
    task.load_dataset("train")
    built = Trainer(cfg, task, task.build_model(cfg.model), task.build_criterion(cfg.criterion))
    built.get_model().train()
    return built
