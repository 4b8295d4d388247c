"""The cost of a model and its training, in closed form: parameters, operations, memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from preln.config import LanguageSettings, Precision, PretrainingSettings, RunSettings
from preln.placements import PLACEMENTS
from preln.placements.base import Shape, places

# <s>, <pad> and </s> in fairseq's dictionary; <unk> is among the pieces.
SPECIALS = 3

BATCH_MULTIPLE = 8
"""fairseq cuts larger batches to a multiple of this number of sentences."""


@dataclass(frozen=True)
class Cost:
    """The cost of a training.

    Attributes:
        parameters: the model's parameters, including embeddings.
        flops_per_token: floating-point operations of the forward and backward passes for each token of a batch (for
            translation, each target token with as many source tokens).
        tokens_per_batch: tokens in a batch on one GPU, with padding.
        memory: bytes on one GPU for weights, gradients, Adam's moments, activations and logits.
    """

    parameters: int
    flops_per_token: float
    tokens_per_batch: int
    memory: float


@dataclass(frozen=True)
class Estimate:
    """The length of a training, and the cost of its model. Updates and tokens are of all epochs, None while they are
    unknown; `is_counted` says whether batches were counted, and not assumed to be full; `warmup` is in updates; and
    `after` is the id of the job that it waits for."""

    cost: Cost
    precision: Precision
    updates: int | None
    tokens: float | None
    is_counted: bool = True
    warmup: int = 0
    after: str | None = None

    @classmethod
    def of_updates(cls, settings: PretrainingSettings | LanguageSettings, cost: Cost) -> Estimate:
        """The estimate of a run whose settings give its updates, and whose batches are full."""
        tokens = float(settings.updates * settings.accumulate * cost.tokens_per_batch)
        return cls(cost, settings.precision, settings.updates, tokens, warmup=settings.warmup)


def translation(settings: RunSettings, vocabulary: int) -> Cost:
    """The cost of a translation run with a joint vocabulary of this size."""
    d, layers = settings.width, settings.encoder_layers + settings.decoder_layers
    entries = _entries(vocabulary)
    encoder = 4 * _linear(d, d) + _feed_forward(d, settings.ffn_width)
    decoder = 8 * _linear(d, d) + _feed_forward(d, settings.ffn_width)
    stacks = settings.encoder_layers * encoder + settings.decoder_layers * decoder
    shape = Shape(d, settings.ffn_width, norm=settings.norm)
    stacks += _placed(settings.placement, shape, settings.encoder_layers, settings.decoder_layers)
    # QK-norm's factor in each attention.
    stacks += settings.qk_norm * (settings.encoder_layers + 2 * settings.decoder_layers)
    # The cost of attention's scores is ignored, as sentences are short compared with the width.
    parameters, tokens = stacks + d * entries, settings.batch_tokens
    memory = _memory(parameters, tokens, d, layers, settings.ffn_width, entries, settings.precision)
    return Cost(parameters, 6 * parameters, tokens, memory)


def pretraining(settings: PretrainingSettings, vocabulary: int) -> Cost:
    """The cost of a pre-training run with a vocabulary of this size."""
    d, n = settings.width, settings.sequence_length
    # One more for the mask.
    entries = _entries(vocabulary) + 1
    stack = settings.layers * (4 * _linear(d, d) + _feed_forward(d, settings.ffn_width))
    shape = Shape(d, settings.ffn_width, norm=settings.norm)
    stack += _placed(settings.placement, shape, settings.layers, 0) + settings.qk_norm * settings.layers
    # fairseq's positions begin after that of <pad>.
    embeddings = entries * d + (n + 2) * d
    if settings.embedding_norm and not PLACEMENTS[settings.placement].embedding_norm:
        embeddings += _norm(d)
    head = _linear(d, d) + _norm(d) + entries
    parameters = embeddings + stack + head
    # The head and the output are computed for the masked 15% of tokens only; attention's scores and sums take 4nd
    # operations a token and layer, and twice as many backward.
    flops = 6 * (stack + 0.15 * (head + entries * d)) + 12 * settings.layers * n * d
    tokens = settings.batch_sequences * n
    memory = _memory(parameters, tokens, d, settings.layers, settings.ffn_width, 0.15 * entries, settings.precision)
    # The attention weights, before and after their softmax and their dropout.
    memory += 3 * settings.layers * settings.heads * n * tokens * _width_of(settings.precision)
    return Cost(parameters, flops, tokens, memory)


def language(settings: LanguageSettings, vocabulary: int) -> Cost:
    """The cost of a language model over a vocabulary of this size."""
    d, n, inner = settings.width, settings.sequence_length, settings.ffn_width
    matrices = settings.layers * (4 * d * d + (3 if settings.feed_forward == "swiglu" else 2) * d * inner)
    shape = Shape(d, inner, norm=settings.norm)
    rest = _placed(settings.placement, shape, settings.layers, 0) + settings.qk_norm * settings.layers
    embeddings = vocabulary * d * (1 if settings.tied else 2) + (n * d if settings.positions == "learned" else 0)
    parameters = matrices + rest + embeddings
    # Attention's scores and sums take 2nd operations a token and layer, as half are masked, and twice as many backward.
    flops = 6 * (matrices + rest + vocabulary * d) + 6 * settings.layers * n * d
    tokens = settings.batch_sequences * n
    memory = _memory(parameters, tokens, d, settings.layers, inner, vocabulary, settings.precision)
    return Cost(parameters, flops, tokens, memory)


def batches(lengths: Mapping[tuple[int, int], int], tokens: int) -> int:
    """The number of batches that fairseq makes from a parallel text.

    Sentences are sorted by the length of their source, then of their target. A batch takes as many of the next
    sentences as fit, cut to a multiple of eight. At the end, up to seven of the longest sentences are in no batch.

    Args:
        lengths: counts of pairs by the lengths of source and target, in pieces with the end of sentence.
        tokens: the largest batch: its sentences, times the longest side of any of them.
    """
    count, longest, batch = 0, 0, list[int]()
    for pair in sorted(lengths):
        for _ in range(lengths[pair]):
            batch.append(max(pair))
            longest = max(longest, batch[-1])
            while len(batch) > 1 and len(batch) * longest > tokens:
                count += 1
                fitting = len(batch) - 1
                del batch[: fitting if fitting < BATCH_MULTIPLE else fitting - fitting % BATCH_MULTIPLE]
                longest = max(batch)
    return count + (len(batch) >= BATCH_MULTIPLE)


def _entries(vocabulary: int) -> int:
    """The dictionary's entries, which fairseq rounds up to a multiple of eight."""
    return -(-(vocabulary + SPECIALS) // 8) * 8


def _linear(inputs: int, outputs: int) -> int:
    return inputs * outputs + outputs


def _feed_forward(d: int, inner: int) -> int:
    return _linear(d, inner) + _linear(inner, d)


def _norm(d: int) -> int:
    return 2 * d


@cache
def _placed(placement: str, shape: Shape, encoder_layers: int, decoder_layers: int) -> int:
    """Parameters in a model's residual connections with their norms, and in the norms before the first layer and after
    the last of each stack."""
    described = PLACEMENTS[placement]
    modules = [described.connection(shape, place) for place in places(encoder_layers, decoder_layers)]
    for _ in filter(None, (encoder_layers, decoder_layers)):
        ends = (shape.new_norm() if described.embedding_norm else None, described.stack_norm(shape))
        modules += [norm for norm in ends if norm is not None]
    return sum(parameter.numel() for module in modules for parameter in module.parameters())


def _width_of(precision: str) -> int:
    """Bytes in an activation."""
    return 4 if precision == "fp32" else 2


def _memory(parameters: int, tokens: int, d: int, layers: int, inner: int, logits: float, precision: str) -> float:
    """Bytes in a training: weights, gradients and two moments in single precision, with a copy of weights and gradients
    in half precision if used; for each token and layer some 17 vectors of the model's width and 2 of the
    feed-forward's, as counted by Korthikanti et al. (2022, section 4.1); and the logits, their softmax and their
    gradient in single precision."""
    weights = parameters * (16 if precision == "fp32" else 20)
    return weights + tokens * (layers * (17 * d + 2 * inner) * _width_of(precision) + 12 * logits)
