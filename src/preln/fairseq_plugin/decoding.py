"""Beam search that finds what fairseq's finds, and does no more at each token than it must.

fairseq's generator copies the keys and values of all hypotheses whenever these change places, handles the source once
for each of them, sorts the vocabulary, and works on ever fewer sentences until a batch is done. Here a key stays where
it was written, each hypothesis knows the way through its own past, and sentences that are done make place for others.
The rules are fairseq's: at each step the 2 x beam best continuations of a sentence; those of the first `beam` that end
are finished hypotheses, and the first `beam` of those that do not end go on; a sentence is done when it has `beam`
finished ones; the best is that with the highest log-probability over length^penalty.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from preln.fairseq_plugin.attention import in_one
from preln.fairseq_plugin.transformer import PlacedDecoderLayer, PlacedTransformer, feed_forward
from preln.fused.attention import attend, words_between
from preln.fused.search import attend_to_path, best_continuations

LENGTH_FACTOR, LENGTH_MARGIN = 1.5, 10
"""A translation has at most so many pieces for each piece of its source, and so many more: a model that is half trained
does not stop by itself."""
TOGETHER = 60
"""Sentences that are translated together where there are as many: more do not fit into a processor's caches."""


@torch.no_grad()
def translate(
    model: PlacedTransformer, batches: Iterable[dict[str, Any]], beam: int, length_penalty: float
) -> dict[int, list[int]]:
    """The best translation of each sentence, as indices of the dictionary without the end of sentence.

    Args:
        model: in evaluation mode.
        batches: fairseq's, of sentences with their numbers (`id`), padded on the left.
        beam: hypotheses kept.
        length_penalty: the exponent.
    """
    search = _Search(model, beam, length_penalty)
    for batch in batches:
        search.take(batch["id"], batch["net_input"]["src_tokens"], batch["net_input"]["src_lengths"])
        while search.at_work > TOGETHER // 2:
            search.step()
    while search.at_work:
        search.step()
    return search.found


@dataclass
class _Sentences:
    """Sentences that are being translated; each tensor has a row for each.

    Attributes:
        number: by which the sentence is known.
        steps: pieces that are said, with the one that stands for the beginning.
        limit: pieces that may be said.
        scores: log-probabilities of the hypotheses.
        said: what was said at each step by each hypothesis.
        path: which of a step's hypotheses is in the past of which.
        seen: where the source has words.
        sources: K and V of the source, by layer.
        pasts: K and V of what was said, by layer.
    """

    number: Tensor
    steps: Tensor
    limit: Tensor
    scores: Tensor
    said: Tensor
    path: Tensor
    seen: Tensor
    sources: list[Tensor]
    pasts: list[Tensor]

    def __len__(self) -> int:
        return len(self.number)

    def with_others(self, others: _Sentences) -> _Sentences:
        """These and others."""
        joined: dict[str, Any] = {}
        for name, mine in vars(self).items():
            theirs, dimension = vars(others)[name], _GROWING.get(name)
            if isinstance(mine, list):
                joined[name] = [_joined(*pair, dimension) for pair in zip(mine, theirs, strict=True)]
            else:
                joined[name] = _joined(mine, theirs, dimension)
        return _Sentences(**joined)

    def without(self, gone: Tensor) -> _Sentences:
        """Those that are not gone: the last ones take the places of those that are."""
        left = int((~gone).sum())
        gaps, movers = gone[:left].nonzero()[:, 0], left + (~gone[left:]).nonzero()[:, 0]
        longest = int(self.steps.max())
        kept: dict[str, Any] = {}
        for name, tensors in vars(self).items():
            for tensor in tensors if isinstance(tensors, list) else [tensors]:
                if name == "pasts":
                    tensor[gaps, :longest] = tensor[movers, :longest]
                else:
                    tensor[gaps] = tensor[movers]
            kept[name] = [tensor[:left] for tensor in tensors] if isinstance(tensors, list) else tensors[:left]
        return _Sentences(**kept)


_GROWING = {"said": 1, "path": 2, "sources": 1, "pasts": 1}
"""The dimension in which what is kept of sentences may be longer for some than for others."""


class _Search:
    """The search for the translations of sentences that come and go."""

    def __init__(self, model: PlacedTransformer, beam: int, length_penalty: float) -> None:
        self._model, self._decoder, self._beam, self._penalty = model, model.decoder, beam, length_penalty
        dictionary = model.decoder.dictionary
        self._end = dictionary.eos()
        self._never = torch.tensor([dictionary.pad()], device=next(model.parameters()).device)
        self._projections = [in_one(layer.self_attn, "qkv") for layer in self._decoder.layers]
        self._of_sources = [in_one(layer.encoder_attn, "kv") for layer in self._decoder.layers]
        self._sentences: _Sentences | None = None
        self._finished: dict[int, list[tuple[float, list[int]]]] = {}
        self.found: dict[int, list[int]] = {}

    @property
    def at_work(self) -> int:
        """Sentences that are being translated."""
        return len(self._sentences) if self._sentences else 0

    def take(self, number: Tensor, source: Tensor, lengths: Tensor) -> None:
        """Begin with more sentences."""
        padding = source.eq(self._model.encoder.padding_idx)
        (encoded,) = self._model.encoder(source, src_lengths=lengths)["encoder_out"]
        encoded = encoded.transpose(0, 1)
        limit = (LENGTH_FACTOR * lengths + LENGTH_MARGIN).long()
        rows, most, device = len(source), int(limit.max()) + 1, source.device
        scores = torch.full((rows, self._beam), -torch.inf, device=device)
        scores[:, 0] = 0.0
        here = torch.arange(self._beam, dtype=torch.int32, device=device)
        new = _Sentences(
            number=number.clone(),
            steps=torch.ones(rows, dtype=torch.long, device=device),
            limit=limit,
            scores=scores,
            said=torch.full((rows, most + 1, self._beam), self._end, device=device),
            path=here[:, None].expand(rows, -1, most + 1).clone(),
            seen=words_between(padding),
            sources=[functional.linear(encoded, *projection) for projection in self._of_sources],
            pasts=[encoded.new_zeros(rows, most, self._beam, 2 * encoded.size(2)) for _ in self._decoder.layers],
        )
        self._finished |= {sentence: [] for sentence in number.tolist()}
        # Nothing ends before it has begun.
        new = self._go_on(new, torch.cat([self._never, self._never.new_tensor([self._end])]))
        self._sentences = self._sentences.with_others(new) if self._sentences else new

    def step(self) -> None:
        """Every sentence goes on by one piece, and those that are done leave."""
        assert self._sentences is not None
        going = self._go_on(self._sentences, self._never)
        done = torch.tensor([len(self._finished[number]) == self._beam for number in going.number.tolist()])
        for number in going.number[done].tolist():
            self.found[number] = max(self._finished.pop(number), key=lambda one: one[0])[1]
        self._sentences = going.without(done.to(going.number.device)) if done.any() else going

    def _go_on(self, now: _Sentences, never: Tensor) -> _Sentences:
        """The sentences with one piece more."""
        beam, rows = self._beam, torch.arange(len(now), device=now.steps.device)
        logits = self._following(now, now.said[rows, now.steps - 1])
        values, pieces, totals = best_continuations(logits, 2 * beam, never)
        values, pieces = (x.view(-1, beam, 2 * beam) for x in (values, pieces))
        if (full := now.limit < now.steps).any():
            values[full] = -torch.inf
            values[full, :, 0] = (logits[:, self._end] - totals).view(-1, beam)[full]
            pieces[full, :, 0] = self._end
        summed, order = (values + now.scores[..., None]).flatten(1).topk(2 * beam)
        parents, pieces = order // (2 * beam), pieces.flatten(1).gather(1, order)
        ends = (pieces == self._end) & summed.isfinite()
        for row, rank in ends[:, :beam].nonzero().tolist():
            hypotheses = self._finished[int(now.number[row])]
            if len(hypotheses) < beam:
                steps = int(now.steps[row])
                way = now.path[row, parents[row, rank], 1:steps].long()
                text = now.said[row, 1:steps].gather(1, way[:, None])[:, 0].tolist()
                hypotheses.append((float(summed[row, rank]) / steps**self._penalty, text))
        # The first that do not end, in their order.
        going = ends.byte().argsort(dim=1, stable=True)[:, :beam]
        parents, now.scores = parents.gather(1, going), summed.gather(1, going)
        now.path = now.path.gather(1, parents[..., None].expand_as(now.path))
        now.path[rows, :, now.steps] = torch.arange(beam, dtype=torch.int32, device=rows.device)
        now.said[rows, now.steps] = pieces.gather(1, going)
        now.steps = now.steps + 1
        return now

    def _following(self, now: _Sentences, tokens: Tensor) -> Tensor:
        """Scores of what may follow `tokens`, (sentences, beam), the hypotheses' last: (hypotheses, vocabulary)."""
        decoder = self._decoder
        position = decoder.embed_positions.weights.to(tokens.device)[decoder.padding_idx + now.steps]
        x = decoder.embed_scale * decoder.embed_tokens(tokens) + position[:, None]
        for number, layer in enumerate(decoder.layers):
            x = layer.attention_residual(x, partial(self._attend, now, layer, number))
            x = layer.encoder_attention_residual(x, partial(self._attend_to_source, now, layer, number))
            x = layer.feed_forward_residual(x, partial(feed_forward, layer))
        if decoder.layer_norm is not None:
            x = decoder.layer_norm(x)
        scores: Tensor = decoder.output_layer(x.flatten(0, 1))
        return scores

    def _attend(self, now: _Sentences, layer: PlacedDecoderLayer, number: int, h: Tensor) -> Tensor:
        projected = functional.linear(h, *self._projections[number])
        attended = attend_to_path(projected, now.pasts[number], now.path, now.steps, layer.self_attn.num_heads)
        return _projected(layer.self_attn, attended)

    def _attend_to_source(self, now: _Sentences, layer: PlacedDecoderLayer, number: int, h: Tensor) -> Tensor:
        attention = layer.encoder_attn
        query = attention.q_proj(h)
        return _projected(attention, attend(query, now.sources[number], now.seen, attention.num_heads, False, 0.0))


def _projected(attention: Any, attended: Tensor) -> Tensor:
    projected: Tensor = attention.out_proj(attended)
    return projected


def _joined(first: Tensor, second: Tensor, dimension: int | None) -> Tensor:
    """The rows of both, as long as the longer ones in a dimension."""
    if dimension is None:
        return torch.cat([first, second])
    most = max(first.size(dimension), second.size(dimension))
    behind = [0] * (2 * (first.dim() - 1 - dimension))
    return torch.cat([functional.pad(x, (*behind, 0, most - x.size(dimension))) for x in (first, second)])
