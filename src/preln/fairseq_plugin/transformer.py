"""The encoder-decoder Transformer with the placement of LayerNorm as a parameter.

Embeddings, attention, feed-forward sub-layers, their initialisation and incremental decoding are fairseq's; how a
sub-layer is joined to its input, and whether a final LayerNorm follows, is `preln.residual`'s.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from functools import partial
from typing import Any

from fairseq.models import register_model, register_model_architecture
from fairseq.models.transformer import (
    TransformerConfig,
    TransformerDecoderBase,
    TransformerEncoderBase,
    TransformerModelBase,
)
from fairseq.modules.transformer_layer import TransformerDecoderLayerBase, TransformerEncoderLayerBase
from torch import Tensor, nn

from preln.residual import PLACEMENTS


def feed_forward(layer: PlacedEncoderLayer | PlacedDecoderLayer, h: Tensor) -> Tensor:
    """ReLU(h W1 + b1) W2 + b2 of a layer, with its dropout."""
    inner = layer.activation_dropout_module(layer.activation_fn(layer.fc1(h)))
    return layer.dropout_module(layer.fc2(inner))


class PlacedEncoderLayer(TransformerEncoderLayerBase):
    """Self-attention and feed-forward sub-layer, each in the residual connection of the placement."""

    def __init__(self, cfg: TransformerConfig) -> None:
        super().__init__(cfg)
        residual = PLACEMENTS[cfg.placement]
        del self.self_attn_layer_norm, self.final_layer_norm
        self.attention_residual = residual(self.embed_dim)
        self.feed_forward_residual = residual(self.embed_dim)

    def forward(self, x: Tensor, encoder_padding_mask: Tensor | None, attn_mask: Tensor | None = None) -> Tensor:
        """`x` of shape (length, batch, width); the mask is true where a position is padding."""

        def attention(h: Tensor) -> Tensor:
            attended, _ = self.self_attn(
                h, h, h, key_padding_mask=encoder_padding_mask, need_weights=False, attn_mask=attn_mask
            )
            return self.dropout_module(attended)

        return self.feed_forward_residual(self.attention_residual(x, attention), partial(feed_forward, self))


class PlacedDecoderLayer(TransformerDecoderLayerBase):
    """Self-attention, attention over the encoder's output, and feed-forward sub-layer, likewise."""

    def __init__(self, cfg: TransformerConfig, no_encoder_attn: bool = False) -> None:
        super().__init__(cfg, no_encoder_attn)
        residual = PLACEMENTS[cfg.placement]
        del self.self_attn_layer_norm, self.encoder_attn_layer_norm, self.final_layer_norm
        self.attention_residual = residual(self.embed_dim)
        self.encoder_attention_residual = residual(self.embed_dim)
        self.feed_forward_residual = residual(self.embed_dim)

    def forward(
        self,
        x: Tensor,
        encoder_out: Tensor | None = None,
        encoder_padding_mask: Tensor | None = None,
        incremental_state: dict[str, dict[str, Tensor | None]] | None = None,
        self_attn_mask: Tensor | None = None,
        self_attn_padding_mask: Tensor | None = None,
        need_attn: bool = False,
        need_head_weights: bool = False,
    ) -> tuple[Tensor, Tensor | None, None]:
        """`x` of shape (length, batch, width); also the attention over the source where it is asked for."""
        weights: Tensor | None = None

        def attention(h: Tensor) -> Tensor:
            attended, _ = self.self_attn(
                h,
                h,
                h,
                key_padding_mask=self_attn_padding_mask,
                incremental_state=incremental_state,
                need_weights=False,
                attn_mask=self_attn_mask,
            )
            return self.dropout_module(attended)

        def encoder_attention(h: Tensor) -> Tensor:
            nonlocal weights
            attended, weights = self.encoder_attn(
                h,
                encoder_out,
                encoder_out,
                key_padding_mask=encoder_padding_mask,
                incremental_state=incremental_state,
                static_kv=True,
                need_weights=need_attn,
                need_head_weights=need_head_weights,
            )
            return self.dropout_module(attended)

        x = self.attention_residual(x, attention)
        x = self.encoder_attention_residual(x, encoder_attention)
        return self.feed_forward_residual(x, partial(feed_forward, self)), weights, None


class PlacedEncoder(TransformerEncoderBase):
    """fairseq's encoder over placed layers, with the placement's final norm."""

    def __init__(self, cfg: TransformerConfig, dictionary: Any, embed_tokens: nn.Embedding) -> None:
        super().__init__(cfg, dictionary, embed_tokens)
        self.layer_norm = PLACEMENTS[cfg.placement].final_norm(cfg.encoder.embed_dim)

    def build_encoder_layer(self, cfg: TransformerConfig) -> PlacedEncoderLayer:
        """One layer."""
        return PlacedEncoderLayer(cfg)


class PlacedDecoder(TransformerDecoderBase):
    """fairseq's decoder over placed layers, with the placement's final norm."""

    def __init__(self, cfg: TransformerConfig, dictionary: Any, embed_tokens: nn.Embedding) -> None:
        super().__init__(cfg, dictionary, embed_tokens)
        self.layer_norm = PLACEMENTS[cfg.placement].final_norm(cfg.decoder.embed_dim)

    def build_decoder_layer(self, cfg: TransformerConfig, no_encoder_attn: bool = False) -> PlacedDecoderLayer:
        """One layer."""
        return PlacedDecoderLayer(cfg, no_encoder_attn)


@register_model("preln_transformer")
class PlacedTransformer(TransformerModelBase):
    """The translation model of a run (section 4.1)."""

    @classmethod
    def add_args(cls, parser: ArgumentParser) -> None:
        """fairseq's options of a Transformer, and the placement."""
        super().add_args(parser)
        parser.add_argument("--placement", choices=sorted(PLACEMENTS), required=True)

    @classmethod
    def build_model(cls, args: Namespace, task: Any) -> PlacedTransformer:
        """The model that the options ask for, with fairseq's initialisation."""
        return super().build_model(TransformerConfig.from_namespace(args), task)

    @classmethod
    def build_encoder(cls, cfg: TransformerConfig, src_dict: Any, embed_tokens: nn.Embedding) -> Any:
        """The encoder."""
        return PlacedEncoder(cfg, src_dict, embed_tokens)

    @classmethod
    def build_decoder(cls, cfg: TransformerConfig, tgt_dict: Any, embed_tokens: nn.Embedding) -> Any:
        """The decoder."""
        return PlacedDecoder(cfg, tgt_dict, embed_tokens)


@register_model_architecture("preln_transformer", "preln_transformer")
def _architecture(args: Namespace) -> None:
    """fairseq wants an architecture for each model; the launch gives every option itself."""
