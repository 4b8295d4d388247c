"""The encoder-decoder Transformer with the placement of LayerNorm as a parameter.

Embeddings, attention, feed-forward sub-layers and incremental decoding are fairseq's. The placement decides how a
sub-layer is joined to its input, and which norms precede the first layer and follow the last (`preln.placements`).
Initialisations that differ from fairseq's are in `initialisation`.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from functools import partial
from typing import Any

from fairseq import utils
from fairseq.models import register_model, register_model_architecture
from fairseq.models.transformer import (
    TransformerConfig,
    TransformerDecoderBase,
    TransformerEncoderBase,
    TransformerModelBase,
)
from fairseq.modules import gelu
from fairseq.modules.transformer_layer import TransformerDecoderLayerBase, TransformerEncoderLayerBase
from torch import Tensor, nn
from torch.nn import functional

from preln.config import RunSettings
from preln.fairseq_plugin.attention import attention, attention_of_the_last, prepare
from preln.fairseq_plugin.initialisation import initialise
from preln.fairseq_plugin.packing import Side
from preln.fused.attention import Layout, Padded, visible
from preln.fused.dropout import Dropout
from preln.fused.embedding import Embedding
from preln.fused.products import linear
from preln.placements import PLACEMENTS
from preln.placements.base import Place, Shape, Stack, Sublayer, as_it_is


def shape(cfg: TransformerConfig, stack: Stack) -> Shape:
    """The shape shared by a stack's residual connections, from the model's configuration."""
    half = getattr(cfg, stack)
    return Shape(half.embed_dim, half.ffn_embed_dim, cfg.dropout, cfg.norm)


def connection(cfg: TransformerConfig, stack: Stack, layer: int, sublayer: Sublayer) -> nn.Module:
    """The residual connection at a place in the configured model; layers are counted from 1."""
    place = Place(stack, layer, sublayer, cfg.encoder.layers, cfg.decoder.layers)
    return PLACEMENTS[cfg.placement].connection(shape(cfg, stack), place)


def in_one_step(activation: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    """Replace fairseq's GELU with torch's: also computed in fp32, but without stored fp32 copies."""
    return functional.gelu if activation is gelu else activation


def feed_forward(
    layer: PlacedEncoderLayer | PlacedDecoderLayer, h: Tensor, inside: Callable[[Tensor], Tensor] = as_it_is
) -> Tensor:
    """A layer's ReLU(h W1 + b1) W2 + b2; `inside` is applied to the input of W2."""
    hidden = layer.activation_fn(linear(h, layer.fc1.weight, layer.fc1.bias))
    return linear(inside(hidden), layer.fc2.weight, layer.fc2.bias)


class PlacedEncoderLayer(TransformerEncoderLayerBase):
    """Self-attention and feed-forward sub-layer, each in the residual connection of the placement."""

    def __init__(self, cfg: TransformerConfig, number: int) -> None:
        super().__init__(cfg)
        del self.self_attn_layer_norm, self.final_layer_norm
        self.activation_fn: Callable[[Tensor], Tensor] = in_one_step(utils.get_activation_fn(cfg.activation_fn))
        prepare(self.self_attn, cfg.qk_norm)
        self.attention_residual = connection(cfg, "encoder", number, "self-attention")
        self.feed_forward_residual = connection(cfg, "encoder", number, "feed-forward")

    def forward(self, x: Tensor, layout: Layout) -> Tensor:
        """`x` is of shape (..., width), or (streams, ..., width) with several streams."""
        x = self.attention_residual(x, partial(attention, self.self_attn, layout=layout))
        return self.feed_forward_residual(x, partial(feed_forward, self))


class PlacedDecoderLayer(TransformerDecoderLayerBase):
    """Self-attention, cross-attention and feed-forward sub-layer, each in the residual connection of the placement."""

    def __init__(self, cfg: TransformerConfig, number: int) -> None:
        super().__init__(cfg)
        del self.self_attn_layer_norm, self.encoder_attn_layer_norm, self.final_layer_norm
        prepare(self.self_attn, cfg.qk_norm)
        prepare(self.encoder_attn, cfg.qk_norm)
        self.attention_residual = connection(cfg, "decoder", number, "self-attention")
        self.encoder_attention_residual = connection(cfg, "decoder", number, "cross-attention")
        self.feed_forward_residual = connection(cfg, "decoder", number, "feed-forward")

    def forward(
        self,
        x: Tensor,
        layout: Layout,
        source: Tensor,
        source_layout: Layout,
        incremental_state: dict[str, dict[str, Tensor | None]] | None = None,
    ) -> Tensor:
        """`x` is shaped as in the encoder; `source` is the encoder's output, of shape (..., width). With an incremental
        state (fairseq's own beam search), `x` holds only the last position."""
        to_past: Callable[..., Tensor] = partial(attention, self.self_attn, layout=layout, causal=True)
        if incremental_state is not None:
            to_past = partial(attention_of_the_last, incremental_state, self.self_attn)
        x = self.attention_residual(x, to_past)
        to_source = partial(attention, self.encoder_attn, layout=layout, source=source, source_layout=source_layout)
        x = self.encoder_attention_residual(x, to_source)
        return self.feed_forward_residual(x, partial(feed_forward, self))


def embed(stack: PlacedEncoder | PlacedDecoder, tokens: Tensor, positions: Tensor) -> Tensor:
    """The input of a stack's first layer: the sum of the embeddings of tokens and of their positions, of shape
    (..., width)."""
    x = stack.embed_scale * stack.embed_tokens(tokens) + positions
    if stack.layernorm_embedding is not None:
        x = stack.layernorm_embedding(x)
    return stack.dropout_module(x)


class PlacedEncoder(TransformerEncoderBase):
    """fairseq's encoder over placed layers, with the placement's norms before and after them."""

    def __init__(self, cfg: TransformerConfig, dictionary: Any, embed_tokens: nn.Embedding) -> None:
        # fairseq does not pass a layer its number.
        self._built = 0
        super().__init__(cfg, dictionary, embed_tokens)
        _put_norms(self, cfg, "encoder")
        self.dropout_module = Dropout(cfg.dropout)

    def build_encoder_layer(self, cfg: TransformerConfig) -> PlacedEncoderLayer:
        self._built += 1
        return PlacedEncoderLayer(cfg, self._built)

    def forward(
        self, src_tokens: Tensor, src_lengths: Tensor | None = None, padded: bool | None = None
    ) -> dict[str, list[Tensor]]:
        """Encode tokens of shape (batch, length); unlike fairseq's, without asking a GPU in each layer whether there is
        padding: `padded` says so, if it is known.

        Returns:
            The input of fairseq's decoder and beam search: `encoder_out` is of shape (length, batch, width), and
            `encoder_padding_mask` holds the result of `visible`, if there is padding.
        """
        padding = src_tokens.eq(self.padding_idx)
        if padded is None:
            padded = bool(padding.any())
        x = embed(self, src_tokens, self.embed_positions(src_tokens))
        layout = Padded()
        if padded:
            x = x * (1 - padding.unsqueeze(-1).type_as(x))
            layout = Padded(visible(padding, x))
        for layer in self.layers:
            x = layer(x, layout)
        x = _output(self, x.transpose(-3, -2))
        return {
            "encoder_out": [x],
            "encoder_padding_mask": [] if layout.seen is None else [layout.seen],
            "encoder_embedding": [],
            "encoder_states": [],
            "src_tokens": [],
            "src_lengths": [],
        }


class PlacedDecoder(TransformerDecoderBase):
    """fairseq's decoder over placed layers, with the placement's norms before and after them."""

    def __init__(self, cfg: TransformerConfig, dictionary: Any, embed_tokens: nn.Embedding) -> None:
        self._built = 0
        super().__init__(cfg, dictionary, embed_tokens)
        _put_norms(self, cfg, "decoder")
        self.dropout_module = Dropout(cfg.dropout)

    def build_decoder_layer(self, cfg: TransformerConfig, no_encoder_attn: bool = False) -> PlacedDecoderLayer:
        self._built += 1
        return PlacedDecoderLayer(cfg, self._built)

    def extract_features(
        self,
        prev_output_tokens: Tensor,
        encoder_out: dict[str, list[Tensor]],
        incremental_state: dict[str, dict[str, Tensor | None]] | None = None,
        **unused: Any,
    ) -> tuple[Tensor, dict[str, list[Any]]]:
        """Decode tokens of shape (batch, length); unlike fairseq's, without masks for the target, which no layer here
        uses and which wait for a GPU. Where fairseq's own beam search sets an incremental state, only the last position
        is computed.

        Returns:
            The features, of shape (batch, length, width), and what fairseq's beam search looks up: no attention.
        """
        positions = self.embed_positions(prev_output_tokens, incremental_state=incremental_state)
        if incremental_state is not None:
            prev_output_tokens, positions = prev_output_tokens[:, -1:], positions[:, -1:]
        x = embed(self, prev_output_tokens.contiguous(), positions)
        (source,), mask = encoder_out["encoder_out"], encoder_out["encoder_padding_mask"]
        source, layout = source.transpose(0, 1), Padded(mask[0] if mask else None)
        for layer in self.layers:
            x = layer(x, Padded(), source, layout, incremental_state)
        return _output(self, x.transpose(-3, -2)).transpose(0, 1), {"attn": [None]}


def _output(stack: PlacedEncoder | PlacedDecoder, x: Tensor) -> Tensor:
    """A stack's output from that of its last layer, of shape (..., width).

    In the padded layout `x` is time-major, as in fairseq: the gradients of the norm's gain and bias are sums over all
    positions, whose last digits depend on their order.
    """
    return x if stack.layer_norm is None else stack.layer_norm(x)


def _put_norms(module: PlacedEncoder | PlacedDecoder, cfg: TransformerConfig, stack: Stack) -> None:
    """Put the placement's norms where fairseq has a stack's: on the embeddings and after the last layer."""
    placement = PLACEMENTS[cfg.placement]
    if placement.embedding_norm:
        module.layernorm_embedding = shape(cfg, stack).new_norm()
    module.layer_norm = placement.stack_norm(shape(cfg, stack))


@register_model("preln_transformer")
class PlacedTransformer(TransformerModelBase):
    """The translation model of a run (section 4.1)."""

    @classmethod
    def add_args(cls, parser: ArgumentParser) -> None:
        super().add_args(parser)
        parser.add_argument("--run-settings", required=True, help="the run's settings, as JSON")

    @classmethod
    def build_model(cls, args: Namespace, task: Any) -> PlacedTransformer:
        settings = RunSettings.model_validate_json(args.run_settings)
        cfg = TransformerConfig.from_namespace(args)
        cfg.placement, cfg.norm, cfg.qk_norm = settings.placement, settings.norm, settings.qk_norm
        model: PlacedTransformer = super().build_model(cfg, task)
        initialise(model, settings)
        return model

    def forward(
        self,
        src_tokens: Tensor,
        src_lengths: Tensor,
        prev_output_tokens: Tensor,
        features_only: bool = False,
        padded: bool | None = None,
    ) -> Any:
        """The decoder's output for the source and the target so far, both of shape (batch, length); `padded` is as for
        the encoder."""
        source = self.encoder(src_tokens, src_lengths, padded=padded)
        return self.decoder(prev_output_tokens, encoder_out=source, features_only=features_only)

    def features(self, source: Side, target: Side) -> Tensor:
        """The features of a packed batch's target, of shape (rows, width)."""
        encoder, decoder = self.encoder, self.decoder
        x = embed(encoder, source.tokens, encoder.embed_positions.weights.index_select(0, source.positions))
        for layer in encoder.layers:
            x = layer(x, source.layout)
        memory = _output(encoder, x)
        x = embed(decoder, target.tokens, decoder.embed_positions.weights.index_select(0, target.positions))
        for layer in decoder.layers:
            x = layer(x, target.layout, memory, source.layout)
        return _output(decoder, x)

    @classmethod
    def build_embedding(
        cls, cfg: TransformerConfig, dictionary: Any, embed_dim: int, path: str | None = None
    ) -> Embedding:
        """fairseq's embeddings, with its initialisation and exact gradients."""
        embedding = super().build_embedding(cfg, dictionary, embed_dim, path)
        return Embedding(
            embedding.num_embeddings, embedding.embedding_dim, embedding.padding_idx, _weight=embedding.weight
        )

    @classmethod
    def build_encoder(cls, cfg: TransformerConfig, src_dict: Any, embed_tokens: nn.Embedding) -> Any:
        return PlacedEncoder(cfg, src_dict, embed_tokens)

    @classmethod
    def build_decoder(cls, cfg: TransformerConfig, tgt_dict: Any, embed_tokens: nn.Embedding) -> Any:
        return PlacedDecoder(cfg, tgt_dict, embed_tokens)


# fairseq requires an architecture for each model; the launch sets every option itself.
register_model_architecture("preln_transformer", "preln_transformer")(lambda args: None)
