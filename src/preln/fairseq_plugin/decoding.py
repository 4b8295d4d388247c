"""Beam search that finds what fairseq's finds, and does no more at each token than it must.

fairseq's generator copies the keys and values of all hypotheses whenever these change places, handles the source once
for each of them, and sorts the vocabulary. Here a key stays where it was written, and each hypothesis knows the way
through its own past. The rules are fairseq's: at each step the 2 x beam best continuations of a sentence; those of the
first `beam` that end are finished hypotheses, and the first `beam` of those that do not end go on; a sentence is done
when it has `beam` finished ones; the best is that with the highest log-probability over length^penalty.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor

from preln.fairseq_plugin.attention import in_one, normalised, project
from preln.fairseq_plugin.transformer import PlacedDecoderLayer, PlacedTransformer
from preln.fused.attention import words_between
from preln.fused.linear import Linear
from preln.fused.search import Source, attend_to_path, best_continuations
from preln.placements.base import as_it_is

LENGTH_FACTOR, LENGTH_MARGIN = 1.5, 10
"""A translation has at most so many pieces for each piece of its source, and so many more: a model that is half trained
does not stop by itself."""


TOKENS = 4096
"""Tokens of the source, with padding, that are translated together."""


class Hypothesis(NamedTuple):
    """A finished translation: its log-probability over length^penalty, in nats; and its indices in the dictionary,
    without the end of sentence."""

    score: float
    pieces: list[int]


def translate(
    model: PlacedTransformer, source: Tensor, lengths: Tensor, beam: int, length_penalty: float
) -> list[list[int]]:
    """The best translation of each sentence, as indices of the dictionary without the end of sentence; the arguments
    are those of `search`."""
    return [found[0].pieces for found in search(model, source, lengths, beam, length_penalty)]


def words(dictionary: Any, pieces: list[int]) -> str:
    """The text of BPE pieces, joined to words."""
    return str(dictionary.string(torch.tensor(pieces), bpe_symbol="sentencepiece"))


@torch.no_grad()
def search(
    model: PlacedTransformer, source: Tensor, lengths: Tensor, beam: int, length_penalty: float
) -> list[list[Hypothesis]]:
    """The translations of each sentence that the beam search found, the best first.

    Args:
        model: in evaluation mode.
        source: indices, of shape (sentences, length), padded on the left as fairseq has them, with the end of sentence.
        lengths: of the sentences, with the end of sentence.
        beam: hypotheses kept; of a small dictionary, half as many as it has entries.
        length_penalty: the exponent.

    Raises:
        FloatingPointError: if a sentence has no translation, for its scores are not finite.
    """
    dictionary, device = model.decoder.dictionary, source.device
    beam = min(beam, len(dictionary) // 2 - 1)
    end = dictionary.eos()
    never = torch.tensor([dictionary.pad()], device=device)
    limits = (LENGTH_FACTOR * lengths + LENGTH_MARGIN).long().clamp(max=model.decoder.max_positions() - 1)
    most = int(limits.max()) + 1
    steps = _Steps(model, source, beam, most)
    sentences = torch.arange(len(source), device=device)
    scores = torch.full((len(source), beam), -torch.inf, device=device)
    scores[:, 0] = 0.0
    # What was said at each step by each hypothesis, and which of a step's hypotheses is in the past of which.
    said = torch.full((len(source), most + 1, beam), end, device=device)
    path = torch.zeros(len(source), beam, most + 1, dtype=torch.int32, device=device)
    path[:, :, 0] = torch.arange(beam, device=device)
    finished: list[list[Hypothesis]] = [[] for _ in range(len(source))]
    for step in range(most):
        logits = steps.following(said[:, step], path, step)
        # Nothing ends before it has begun.
        kept_out = never if step else torch.cat([never, never.new_tensor([end])])
        values, pieces, totals = best_continuations(logits, 2 * beam, kept_out)
        values, pieces = (x.view(-1, beam, 2 * beam) for x in (values, pieces))
        if (full := limits <= step).any():
            values[full] = -torch.inf
            values[full, :, 0] = (logits[:, end] - totals).view(-1, beam)[full]
            pieces[full, :, 0] = end
        summed, order = (values + scores[..., None]).flatten(1).topk(2 * beam)
        parents, pieces = order // (2 * beam), pieces.flatten(1).gather(1, order)
        ends = (pieces == end) & summed.isfinite()
        for row, rank in ends[:, :beam].nonzero().tolist():
            hypotheses = finished[sentences[row]]
            if len(hypotheses) < beam:
                way = path[row, parents[row, rank], 1 : step + 1].long()
                text = said[row, 1 : step + 1].gather(1, way[:, None])[:, 0].tolist()
                hypotheses.append(Hypothesis(float(summed[row, rank]) / (step + 1) ** length_penalty, text))
        done = torch.tensor([len(finished[sentence]) == beam for sentence in sentences.tolist()], device=device)
        if done.all():
            break
        # The first that do not end, in their order.
        going = ends.byte().argsort(dim=1, stable=True)[:, :beam]
        parents, scores = parents.gather(1, going), summed.gather(1, going)
        path = path.gather(1, parents[..., None].expand_as(path))
        path[:, :, step + 1] = torch.arange(beam, device=device)
        said[:, step + 1] = pieces.gather(1, going)
        if done.any():
            sentences, limits, scores, said, path = (_close(x, done) for x in (sentences, limits, scores, said, path))
            steps.leave(done, step + 1)
    if not all(finished):
        raise FloatingPointError("a translation's scores are not finite")
    return [sorted(hypotheses, key=lambda one: -one.score) for hypotheses in finished]


class _Steps:
    """A model that is asked for one token after the other, of `beam` hypotheses of each sentence."""

    def __init__(self, model: PlacedTransformer, source: Tensor, beam: int, most: int) -> None:
        self._decoder, self._beam = model.decoder, beam
        padding = source.eq(model.encoder.padding_idx)
        (encoded,) = model.encoder(source, src_lengths=(~padding).sum(1))["encoder_out"]
        encoded = encoded.transpose(0, 1)
        seen = words_between(padding)
        self._layers = [_Layer(layer, encoded, seen, beam, most) for layer in self._decoder.layers]
        self._output = Linear(self._decoder.output_projection.weight, None)

    def following(self, tokens: Tensor, path: Tensor, step: int) -> Tensor:
        """Scores of what may follow `tokens`, (sentences, beam), the hypotheses' last: (hypotheses, vocabulary)."""
        decoder = self._decoder
        position = decoder.embed_positions.weights[decoder.padding_idx + step + 1].to(tokens.device)
        x = decoder.embed_scale * decoder.embed_tokens(tokens) + position
        if decoder.layernorm_embedding is not None:
            x = decoder.layernorm_embedding(x)
        for layer in self._layers:
            x = layer.after(x, path, step)
        if decoder.layer_norm is not None:
            x = decoder.layer_norm(x)
        return self._output(x.flatten(0, 1))

    def leave(self, gone: Tensor, steps: int) -> None:
        """Go on without the sentences that are gone, of which so many steps are done."""
        for layer in self._layers:
            layer.leave(gone, steps)


class _Layer:
    """A decoder layer with its weights laid out for single steps, the source, and what it has seen so far."""

    def __init__(self, layer: PlacedDecoderLayer, encoded: Tensor, seen: Tensor, beam: int, most: int) -> None:
        to_past, to_source = layer.self_attn, layer.encoder_attn
        self._layer, self._heads = layer, to_past.num_heads
        self._projection = Linear(*in_one(to_past, "qkv"))
        self._query = Linear(*in_one(to_source, "q"))
        self._of_past, self._of_source, self._inner, self._outer = (
            Linear(one.weight, one.bias) for one in (to_past.out_proj, to_source.out_proj, layer.fc1, layer.fc2)
        )
        self._source = Source(project(to_source, encoded, "kv"), seen, to_source.num_heads)
        self._past = encoded.new_empty(len(encoded), most, beam, 2 * encoded.size(2))

    def after(self, x: Tensor, path: Tensor, step: int) -> Tensor:
        """The hypotheses' vectors of one step, (sentences, beam, width), after the layer."""
        layer = self._layer

        def to_past(h: Tensor, inside: Callable[[Tensor], Tensor] = as_it_is) -> Tensor:
            projected = normalised(layer.self_attn, self._projection(h), "qkv")
            return self._of_past(inside(attend_to_path(projected, self._past, path, step + 1, self._heads)))

        def to_source(h: Tensor, inside: Callable[[Tensor], Tensor] = as_it_is) -> Tensor:
            query = normalised(layer.encoder_attn, self._query(h), "q")
            return self._of_source(inside(self._source.attend(query)))

        def feed_forward(h: Tensor, inside: Callable[[Tensor], Tensor] = as_it_is) -> Tensor:
            return self._outer(inside(layer.activation_fn(self._inner(h))))

        x = layer.attention_residual(x, to_past)
        x = layer.encoder_attention_residual(x, to_source)
        return layer.feed_forward_residual(x, feed_forward)

    def leave(self, gone: Tensor, steps: int) -> None:
        """Go on without the sentences that are gone, of which so many steps are done."""
        self._source.keep(partial(_close, gone=gone))
        self._past = _close(self._past, gone, steps)


def _close(rows: Tensor, gone: Tensor, columns: int | None = None) -> Tensor:
    """The rows that are not gone: the last ones take the places of those that are, with their first `columns`."""
    number = int((~gone).sum())
    gaps, movers = gone[:number].nonzero()[:, 0], number + (~gone[number:]).nonzero()[:, 0]
    if columns is None:
        rows[gaps] = rows[movers]
    else:
        rows[gaps, :columns] = rows[movers, :columns]
    return rows[:number]
