"""Small models of ours and of fairseq, with inputs and translations."""

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from fairseq import tasks
from fairseq.data import Dictionary
from fairseq.models.transformer import TransformerConfig, TransformerModelBase
from fairseq.sequence_generator import SequenceGenerator
from fairseq.trainer import Trainer
from torch import Tensor

from benchmarks import stock
from preln.config import Execution, RunSettings
from preln.fairseq_plugin import decoding, options
from preln.fairseq_plugin.decoding import LENGTH_FACTOR, LENGTH_MARGIN
from preln.fairseq_plugin.launch import configuration
from preln.fairseq_plugin.probe import Probe
from preln.fairseq_plugin.transformer import PlacedTransformer


def dictionary() -> Dictionary:
    words = Dictionary()
    for number in range(50):
        words.add_symbol(str(number))
    return words


def drawn(
    model: type[TransformerModelBase],
    placement: str,
    heads: int,
    depths: tuple[int, int],
    width: int = 32,
    norm: str = "layer",
    qk_norm: bool = False,
) -> Any:
    """A model without dropout, as fairseq draws it."""
    cfg = TransformerConfig()
    cfg.placement, cfg.norm, cfg.qk_norm = placement, norm, qk_norm
    cfg.dropout, cfg.share_all_embeddings = 0.0, True
    for half, layers in zip((cfg.encoder, cfg.decoder), depths, strict=True):
        half.layers, half.embed_dim, half.ffn_embed_dim, half.attention_heads = layers, width, 48, heads
        half.normalize_before = placement == "pre"
    cfg.decoder.input_dim = cfg.decoder.output_dim = width
    words = dictionary()
    task = Namespace(source_dictionary=words, target_dictionary=words)
    torch.manual_seed(3)
    # The method that reads fairseq's structured options; ours first reads a flat command line.
    return TransformerModelBase.build_model.__func__(model, cfg, task)


def build(model: type[TransformerModelBase], placement: str, heads: int = 4) -> Any:
    """A 3+2-layer model with random weights, LayerNorms included."""
    built = drawn(model, placement, heads, depths=(3, 2))
    for name, parameter in built.named_parameters():
        if "norm" in name:
            torch.nn.init.normal_(parameter)
    return built


def fairseq_names(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """Our weights under fairseq's names."""
    return {stock.parameter_name(name): value for name, value in state.items()}


def sentences(seed: int, lengths: Sequence[int] = (3, 9, 1, 5, 14, 2, 7, 9)) -> list[Tensor]:
    """Sentences of so many random words, and an end."""
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


def options_of(run: RunSettings, prepared: Path, state: Path, **execution: Any) -> list[str]:
    """The options of a translation on the small corpus."""
    folders = (prepared / "binary", prepared / "text", ("de", "en"), state)
    return options.translation(run, *folders, Execution(**execution))


def model_of(arguments: list[str], seed: int = 1) -> Any:
    """The model of these options, as its training begins with it."""
    cfg = configuration(arguments, "fp32")
    torch.manual_seed(seed)
    return tasks.setup_task(cfg.task).build_model(cfg.model)


def trainer(arguments: list[str], precision: Any) -> Trainer:
    cfg = configuration(arguments, precision)
    torch.manual_seed(1)
    np.random.seed(1)
    task = tasks.setup_task(cfg.task)
    task.load_dataset("train")
    built = Trainer(cfg, task, task.build_model(cfg.model), task.build_criterion(cfg.criterion))
    built.get_model().train()
    return built


def probe(run: RunSettings, prepared: Path) -> Probe:
    return Probe(run, prepared / "binary", prepared / "text", ("de", "en"), Execution())
