"""Beam search with fairseq's results and less work at each token.

fairseq's generator copies the keys and values of all hypotheses whenever they are reordered, processes the source once
for each of them, and sorts the vocabulary. Here a key stays where it was written, and each hypothesis stores the path
through its own past. The rules are fairseq's: each step takes a sentence's 2 x beam best continuations; those among the
first `beam` that end are finished hypotheses, and the first `beam` that do not end continue; a sentence is done when it
has `beam` finished hypotheses; the best has the highest log-probability over length^penalty.

One GPU-CPU sync per step: the number of finished hypotheses. Everything else stays on the device and is read once, when
all sentences are done.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from preln.fairseq_plugin.attention import in_one, normalised, project
from preln.fairseq_plugin.transformer import PlacedDecoderLayer, PlacedTransformer
from preln.fused.search import Linear, Path, Source, attend_to_path, best_continuations
from preln.placements.base import as_it_is

LENGTH_FACTOR, LENGTH_MARGIN = 1.5, 10
"""A translation's longest length: pieces for each piece of its source, plus a margin. A half-trained model may never
stop by itself."""

TOKENS = {"cpu": 4096, "cuda": 32000}
"""Largest number of source tokens in a batch, with padding, by device: as fits a CPU's cache, and enough that a step on
a GPU takes longer than its launches."""

SENTENCES: dict[str, int | None] = {"cpu": None, "cuda": 1500}
"""Largest number of sentences in a batch, for a GPU's memory: a short sentence's translation may be many times as
long."""

DONE = {"cpu": 0.0, "cuda": 0.5}
"""The share of finished rows at which a batch is compacted. A CPU gains from every row; on a GPU a finished row costs
less than the launches of a compaction."""


class Hypothesis(NamedTuple):
    """A finished translation: log-probability over length^penalty, in nats, and indices in the dictionary without the
    end of sentence."""

    score: float
    pieces: list[int]


def translate(
    model: PlacedTransformer, source: Tensor, lengths: Tensor, beam: int, length_penalty: float
) -> list[list[int]]:
    """Each sentence's best translation, as indices in the dictionary without the end of sentence; the arguments are
    those of `search`."""
    return [hypotheses[0].pieces for hypotheses in search(model, source, lengths, beam, length_penalty)]


def words(dictionary: Any, pieces: list[int]) -> str:
    """The text of BPE pieces, joined to words."""
    return str(dictionary.string(torch.tensor(pieces), bpe_symbol="sentencepiece"))


@torch.no_grad()
def search(
    model: PlacedTransformer, source: Tensor, lengths: Tensor, beam: int, length_penalty: float
) -> list[list[Hypothesis]]:
    """Each sentence's translations by beam search, best first.

    Args:
        model: in evaluation mode.
        source: indices, of shape (sentences, length), padded on the left as in fairseq, with the end of sentence.
        lengths: the sentences' lengths with the end of sentence, on the CPU.
        beam: hypotheses kept; at most half the dictionary's entries.
        length_penalty: the exponent.

    Raises:
        FloatingPointError: if a sentence has no translation because its scores are not finite.
    """
    dictionary, device = model.decoder.dictionary, source.device
    beam = min(beam, len(dictionary) // 2 - 1)
    long, pad, end = lengths.numpy(), dictionary.pad(), dictionary.eos()
    # A hypothesis has at least one piece.
    never = [torch.tensor(kept_out, device=device) for kept_out in ([pad, end], [pad])]
    limits = np.minimum((LENGTH_FACTOR * long + LENGTH_MARGIN).astype(int), model.decoder.max_positions() - 1)
    most = int(limits.max()) + 1
    steps = _Steps(model, source, bool(long.min() < source.size(1)), beam, most)
    # Each row's sentence, and the number of finished hypotheses that it lacks.
    sentences, lacking = np.arange(len(source)), np.full(len(source), beam)
    scores = torch.full((len(source), beam), -torch.inf, device=device)
    scores[:, 0] = 0.0
    tokens = torch.full((len(source), beam), end, device=device)
    history: list[_Step] = []
    for step in range(most):
        ending = limits <= step
        only = (_on(device, np.repeat(ending, beam)), end) if ending.any() else None
        values, pieces = best_continuations(steps.following(tokens), 2 * beam, never[step > 0], only)
        summed, order = (values.view(-1, beam, 2 * beam) + scores[..., None]).flatten(1).topk(2 * beam)
        pieces = pieces.view(len(order), -1).gather(1, order)
        ends = pieces == end
        # The first continuations that do not end, in order.
        going = ends.view(torch.uint8).argsort(dim=1, stable=True)[:, :beam]
        parents = order.gather(1, going) // (2 * beam)
        tokens, scores = pieces.gather(1, going), summed.gather(1, going)
        first = slice(beam)
        history.append(_Step(sentences, ends[:, first], summed[:, first], order[:, first], parents, tokens))
        steps.path.follow(parents)
        lacking = lacking - ends[:, first].sum(1).cpu().numpy()
        done = lacking <= 0
        if done.all():
            break
        if done.any() and done.mean() >= DONE[device.type]:
            closing = _Closing(done, device)
            sentences, limits, lacking = (x[closing.kept] for x in (sentences, limits, lacking))
            tokens, scores = (x.index_select(0, _on(device, closing.kept)) for x in (tokens, scores))
            steps.keep(closing)
    finished = _read(history, len(source), beam, length_penalty)
    if not all(finished):
        raise FloatingPointError("a translation's scores are not finite")
    return finished


class _Step(NamedTuple):
    """A step's results, each of shape (rows, beam) except the first.

    Attributes:
        sentences: the rows' sentences, by number.
        ends: whether each of the best continuations is a finished hypothesis.
        scores: the continuations' log-probabilities, in nats.
        order: the continuations' places among the 2 x beam best of each hypothesis.
        parents: the parents of the continuing hypotheses.
        tokens: the tokens of the continuing hypotheses.
    """

    sentences: np.ndarray[Any, np.dtype[np.int_]]
    ends: Tensor
    scores: Tensor
    order: Tensor
    parents: Tensor
    tokens: Tensor


def _read(history: list[_Step], sentences: int, beam: int, length_penalty: float) -> list[list[Hypothesis]]:
    """Each sentence's finished hypotheses, at most `beam`, best first."""
    row_sentences, *columns = zip(*history, strict=True)
    rows = np.concatenate(row_sentences)
    ends, scores, order, parents, tokens = (torch.cat(column).cpu().numpy() for column in columns)
    # The row at each step and sentence.
    places = np.full((len(history), sentences), -1)
    steps = np.repeat(np.arange(len(history)), [len(step.sentences) for step in history])
    places[steps, rows] = np.arange(len(rows))
    row, rank = (ends & np.isfinite(scores)).nonzero()
    owner, length = rows[row], steps[row]
    totals = scores[row, rank] / (length + 1.0) ** length_penalty
    text, parent = np.zeros((len(row), len(history)), dtype=np.int64), order[row, rank] // (2 * beam)
    for step in reversed(range(len(history) - 1)):
        (longer,) = (length > step).nonzero()
        place = places[step, owner[longer]]
        text[longer, step] = tokens[place, parent[longer]]
        parent[longer] = parents[place, parent[longer]]
    finished: list[list[Hypothesis]] = [[] for _ in range(sentences)]
    for number, sentence in enumerate(owner.tolist()):
        if len(finished[sentence]) < beam:
            finished[sentence].append(Hypothesis(float(totals[number]), text[number, : length[number]].tolist()))
    return [sorted(hypotheses, key=lambda hypothesis: -hypothesis.score) for hypotheses in finished]


class _Steps:
    """A model that scores the next token of each sentence's `beam` hypotheses, step by step."""

    def __init__(self, model: PlacedTransformer, source: Tensor, padded: bool, beam: int, most: int) -> None:
        self._decoder = decoder = model.decoder
        padding = source.eq(model.encoder.padding_idx)
        (encoded,) = model.encoder(source, padded=padded)["encoder_out"]
        encoded = encoded.transpose(0, 1)
        self.path = Path(encoded, beam, most + 1, decoder.layers[0].self_attn.num_heads)
        self._layers = [_Layer(layer, encoded, padding, self.path, most) for layer in decoder.layers]
        self._embeddings = decoder.embed_scale * decoder.embed_tokens.weight
        # The position of the first word follows that of padding.
        self._positions = decoder.embed_positions.weights[decoder.padding_idx + 1 :].to(source.device)
        self._output = Linear(decoder.output_projection.weight, None)

    def following(self, tokens: Tensor) -> Tensor:
        """Scores of the next token, (hypotheses, vocabulary), after the last `tokens`, (sentences, beam)."""
        decoder = self._decoder
        x = functional.embedding(tokens, self._embeddings) + self._positions[self.path.steps - 1]
        if decoder.layernorm_embedding is not None:
            x = decoder.layernorm_embedding(x)
        for layer in self._layers:
            x = layer.after(x)
        if decoder.layer_norm is not None:
            x = decoder.layer_norm(x)
        return self._output(x.flatten(0, 1))

    def keep(self, closing: _Closing) -> None:
        self.path.keep(closing)
        for layer in self._layers:
            layer.keep(closing)


class _Layer:
    """A decoder layer with weights laid out for single steps, the projected source, and the past keys and values."""

    def __init__(self, layer: PlacedDecoderLayer, encoded: Tensor, padding: Tensor, path: Path, most: int) -> None:
        to_past, to_source = layer.self_attn, layer.encoder_attn
        self._layer, self._path, self._heads = layer, path, to_past.num_heads
        self._projection = Linear(*in_one(to_past, "qkv"))
        self._query = Linear(*in_one(to_source, "q"))
        self._of_past, self._of_source, self._inner, self._outer = (
            Linear(part.weight, part.bias) for part in (to_past.out_proj, to_source.out_proj, layer.fc1, layer.fc2)
        )
        self._source = Source(project(to_source, encoded, "kv"), padding, to_source.num_heads)
        self._past = encoded.new_empty(len(encoded), most, path.beam, 2 * encoded.size(2))

    def after(self, x: Tensor) -> Tensor:
        """The hypotheses' vectors at one step, (sentences, beam, width), after the layer."""
        layer = self._layer

        def to_past(h: Tensor, inside: Callable[[Tensor], Tensor] = as_it_is) -> Tensor:
            projected = normalised(layer.self_attn, self._projection(h), "qkv")
            return self._of_past(inside(attend_to_path(projected, self._past, self._path, self._heads)))

        def to_source(h: Tensor, inside: Callable[[Tensor], Tensor] = as_it_is) -> Tensor:
            query = normalised(layer.encoder_attn, self._query(h), "q")
            return self._of_source(inside(self._source.attend(query)))

        def feed_forward(h: Tensor, inside: Callable[[Tensor], Tensor] = as_it_is) -> Tensor:
            return self._outer(inside(layer.activation_fn(self._inner(h))))

        x = layer.attention_residual(x, to_past)
        x = layer.encoder_attention_residual(x, to_source)
        return layer.feed_forward_residual(x, feed_forward)

    def keep(self, closing: _Closing) -> None:
        """Continue with the remaining sentences; the path is at its next step already."""
        self._source.keep(closing)
        self._past = closing(self._past, self._path.steps - 1)


class _Closing:
    """A compaction of rows: the last remaining rows fill the gaps of finished ones.

    Attributes:
        kept: the old row at each new place.
    """

    def __init__(self, gone: np.ndarray[Any, np.dtype[np.bool_]], device: torch.device) -> None:
        number = int((~gone).sum())
        gaps, movers = gone[:number].nonzero()[0], number + (~gone[number:]).nonzero()[0]
        self.kept = np.arange(number)
        self.kept[gaps] = movers
        self._gaps, self._movers = _on(device, gaps), _on(device, movers)

    def __call__(self, rows: Tensor, columns: int | None = None) -> Tensor:
        """The remaining rows, moved in place; only their first `columns` are moved."""
        part = rows if columns is None else rows[:, :columns]
        part[self._gaps] = part[self._movers]
        return rows[: len(self.kept)]


def _on(device: torch.device, numbers: np.ndarray[Any, Any]) -> Tensor:
    """Copy numbers from the CPU to a device without waiting."""
    return torch.from_numpy(numbers).to(device, non_blocking=True)
