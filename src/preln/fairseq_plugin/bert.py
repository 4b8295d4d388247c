"""BERT with the placement of LayerNorm as a parameter.

Embeddings, attention, the masked-LM head, the classification heads and the initialisation are those of fairseq's
RoBERTa model, which is BERT without next-sentence prediction and segment embeddings; how a sub-layer is joined to its
input, and whether a final LayerNorm follows, is the placement's (`preln.placements`). The embeddings are normalised
with every placement, as in BERT, unless a study says otherwise: fairseq's own Pre-LN model leaves that norm out, and
narrow models then hardly learn.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import Any

from fairseq.models import register_model, register_model_architecture
from fairseq.models.roberta import RobertaEncoder, RobertaModel, base_architecture
from fairseq.models.transformer import TransformerConfig
from fairseq.modules.transformer_sentence_encoder import init_bert_params
from torch import Tensor, nn

from preln.config import PretrainingSettings
from preln.fairseq_plugin.initialisation import apply_placement, scale_to_width
from preln.fairseq_plugin.transformer import PlacedEncoder, in_one_step
from preln.fused.embedding import Embedding
from preln.fused.norm import LayerNorm
from preln.placements import PLACEMENTS


class PlacedBertEncoder(RobertaEncoder):
    """fairseq's masked language model over placed layers."""

    def build_embedding(self, vocab_size: int, embedding_dim: int, padding_idx: int) -> Embedding:
        return Embedding(vocab_size, embedding_dim, padding_idx)

    def build_encoder(self, args: Namespace, dictionary: Any, embed_tokens: nn.Embedding) -> PlacedEncoder:
        """The layers, initialised as in BERT, N(0, 0.02^2)."""
        cfg = TransformerConfig.from_namespace(args)
        cfg.decoder.layers = 0
        encoder = PlacedEncoder(cfg, dictionary, embed_tokens)
        encoder.apply(init_bert_params)
        if args.layernorm_embedding and not PLACEMENTS[args.placement].embedding_norm:
            encoder.layernorm_embedding = LayerNorm(args.encoder_embed_dim)
        return encoder

    def extract_features(
        self, src_tokens: Tensor, padded: bool | None = None, **unused: Any
    ) -> tuple[Tensor, dict[str, Any]]:
        """The features of tokens of shape (batch, length), of shape (batch, length, width); `padded` is the layers'."""
        (features,) = self.sentence_encoder(src_tokens, padded=padded)["encoder_out"]
        return features.transpose(0, 1), {}

    def forward(
        self,
        src_tokens: Tensor,
        features_only: bool = False,
        return_all_hiddens: bool = False,
        masked_tokens: Tensor | None = None,
        padded: bool | None = None,
        **unused: Any,
    ) -> tuple[Tensor, dict[str, Any]]:
        """The features, or the vocabulary's scores at each position, or only at those in `masked_tokens`."""
        x, extra = self.extract_features(src_tokens, padded)
        return x if features_only else self.output_layer(x, masked_tokens=masked_tokens), extra

    def build_lm_head(self, embed_dim: int, **arguments: Any) -> nn.Module:
        head: Any = super().build_lm_head(embed_dim, **arguments)
        head.layer_norm = LayerNorm(embed_dim)
        head.activation_fn = in_one_step(head.activation_fn)
        return head


@register_model("preln_bert")
class PlacedBert(RobertaModel):
    """The model of a pre-training run, to which fine-tuning adds a head (section 4.2)."""

    @staticmethod
    def add_args(parser: ArgumentParser) -> None:
        RobertaModel.add_args(parser)
        parser.add_argument("--run-settings", required=True, help="the pre-training run's settings, as JSON")

    @classmethod
    def build_model(cls, args: Namespace, task: Any) -> PlacedBert:
        settings = PretrainingSettings.model_validate_json(args.run_settings)
        args.placement, args.layernorm_embedding = settings.placement, settings.embedding_norm
        args.norm, args.qk_norm = settings.norm, settings.qk_norm
        base_architecture(args)
        args.max_source_positions = args.max_positions
        model = cls(args, PlacedBertEncoder(args, task.source_dictionary))
        if settings.initial_std == "scaled":
            scale_to_width(model, args.encoder_embed_dim)
        apply_placement(PLACEMENTS[settings.placement], [model.encoder.sentence_encoder], task.source_dictionary, model)
        return model


# fairseq requires an architecture for each model; the launch sets every option itself.
register_model_architecture("preln_bert", "preln_bert")(lambda args: None)
