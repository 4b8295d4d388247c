"""The bare steps of other toolkits at the same sizes: forward, backward, and torch's Adam. requirements-bench.txt names
their versions."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from benchmarks import samples

PAD, END = 1, 2
SMOOTHING = 0.1


def work(toolkit: str, size: str) -> Callable[[], int]:
    """A round of training steps of a toolkit."""
    if toolkit == "transformers-bert":
        return _masked()
    folder = samples.dictionaries(samples.VOCABULARY[size])
    model, loss = MODELS[toolkit](samples.VOCABULARY[size], samples.SIZES[size])
    model.train()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, betas=(0.9, 0.98))

    def step(sample: Any) -> None:
        optimizer.zero_grad()
        (loss(sample) / sample["ntokens"]).backward()
        optimizer.step()

    return samples.steps(samples.batches(size, folder), step)


def _smoothed(scores: Tensor, target: Tensor) -> Tensor:
    return functional.cross_entropy(
        scores.flatten(0, -2), target.flatten(), ignore_index=PAD, label_smoothing=SMOOTHING, reduction="sum"
    )


def _marian(vocabulary: int, size: dict[str, int]) -> tuple[nn.Module, Callable[[Any], Tensor]]:
    """Hugging Face's encoder-decoder for translation."""
    from transformers import MarianConfig, MarianMTModel

    halves = {
        f"{half}_{key}": value
        for half in ("encoder", "decoder")
        for key, value in (("layers", 6), ("ffn_dim", size["ffn_width"]), ("attention_heads", size["heads"]))
    }
    model = MarianMTModel(
        MarianConfig(
            vocab_size=vocabulary,
            d_model=size["width"],
            dropout=0.1,
            activation_function="relu",
            scale_embedding=True,
            tie_word_embeddings=True,
            pad_token_id=PAD,
            eos_token_id=END,
            decoder_start_token_id=END,
            forced_eos_token_id=END,
            **halves,
        )
    )

    def loss(sample: Any) -> Tensor:
        source = sample["net_input"]["src_tokens"]
        scores = model(
            input_ids=source,
            attention_mask=source.ne(PAD),
            decoder_input_ids=sample["net_input"]["prev_output_tokens"],
            use_cache=False,
        ).logits
        return _smoothed(scores, sample["target"])

    return model, loss


class _TorchTransformer(nn.Module):
    """torch.nn.Transformer with embeddings and positions that are shared and learnt."""

    def __init__(self, vocabulary: int, size: dict[str, int]) -> None:
        super().__init__()
        width = size["width"]
        self.embedding, self.positions = nn.Embedding(vocabulary, width, PAD), nn.Embedding(256, width)
        self.transformer = nn.Transformer(width, size["heads"], 6, 6, size["ffn_width"], 0.1, batch_first=True)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        padding = source.eq(PAD)
        mask = nn.Transformer.generate_square_subsequent_mask(target.size(1))
        states = self.transformer(
            self._embedded(source),
            self._embedded(target),
            tgt_mask=mask,
            src_key_padding_mask=padding,
            memory_key_padding_mask=padding,
            tgt_is_causal=True,
        )
        return functional.linear(states, self.embedding.weight)

    def _embedded(self, tokens: Tensor) -> Tensor:
        return functional.dropout(self.embedding(tokens) + self.positions.weight[: tokens.size(1)], 0.1, self.training)


def _torch(vocabulary: int, size: dict[str, int]) -> tuple[nn.Module, Callable[[Any], Tensor]]:
    model = _TorchTransformer(vocabulary, size)

    def loss(sample: Any) -> Tensor:
        inputs = sample["net_input"]
        return _smoothed(model(inputs["src_tokens"], inputs["prev_output_tokens"]), sample["target"])

    return model, loss


def _joeynmt(vocabulary: int, size: dict[str, int]) -> tuple[nn.Module, Callable[[Any], Tensor]]:
    from joeynmt.model import build_model
    from joeynmt.vocabulary import Vocabulary

    stack = {
        "type": "transformer",
        "num_layers": 6,
        "num_heads": size["heads"],
        "embeddings": {"embedding_dim": size["width"], "scale": True, "dropout": 0.1},
        "hidden_size": size["width"],
        "ff_size": size["ffn_width"],
        "dropout": 0.1,
        "layer_norm": "post",
    }
    special = SimpleNamespace(
        **{"unk_token": "<unk>", "pad_token": "<pad>", "bos_token": "<s>", "eos_token": "</s>", "sep_token": None},
        **{"unk_id": 0, "pad_id": PAD, "bos_id": 2, "eos_id": 3, "lang_tags": []},
    )
    words = Vocabulary([f"w{number}" for number in range(vocabulary - 4)], special)
    cfg = {"encoder": stack, "decoder": stack, "tied_embeddings": True, "tied_softmax": True, "initializer": "xavier"}
    model = build_model(cfg, words, words)
    model.loss_function = ("crossentropy", SMOOTHING)

    def loss(sample: Any) -> Tensor:
        source, target = sample["net_input"]["src_tokens"], sample["target"]
        nll: Tensor = model(
            return_type="loss",
            src=source,
            src_length=source.ne(PAD).sum(1),
            src_mask=source.ne(PAD)[:, None],
            trg_input=sample["net_input"]["prev_output_tokens"],
            trg=target,
            trg_mask=target.ne(PAD)[:, None],
        )[0]
        return nll

    return model, loss


def _masked() -> Callable[[], int]:
    """Hugging Face's BERT, which computes scores of all tokens and not of those that are masked alone."""
    from transformers import BertConfig, BertForMaskedLM

    size = samples.BERTS["bert"]
    model = BertForMaskedLM(
        BertConfig(
            vocab_size=samples.BERT_VOCABULARY["bert"],
            hidden_size=size["width"],
            num_hidden_layers=size["layers"],
            num_attention_heads=size["heads"],
            intermediate_size=size["ffn_width"],
            max_position_embeddings=size["sequence_length"] + 2,
        )
    ).train()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)

    def step(sample: Any) -> None:
        optimizer.zero_grad()
        labels = sample["target"].masked_fill(sample["target"].eq(PAD), -100)
        model(input_ids=sample["net_input"]["src_tokens"], labels=labels).loss.backward()
        optimizer.step()

    return samples.steps(samples.masked_batches("bert"), step)


MODELS: dict[str, Callable[[int, dict[str, int]], tuple[nn.Module, Callable[[Any], Tensor]]]] = {
    "joeynmt": _joeynmt,
    "torch.nn.Transformer": _torch,
    "transformers-marian": _marian,
}
"""The toolkits by name: each makes a model of a vocabulary and a size, and its loss of a batch."""
