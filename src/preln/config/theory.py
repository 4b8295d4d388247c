"""The checks of the theory."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from preln.config.base import Settings, ascending, distinct, later, meant

VARIANTS = {
    "no-dropout": "gradients without dropout",
    "no-label-smoothing": "the loss without label smoothing",
    "quarter-batch": "mini-batches of a quarter of the tokens",
    "separate-output": "an output projection of its own instead of the shared embeddings",
    "unpacked-projections": "W^Q, W^K and W^V drawn each by itself (Xavier with gain 1), where fairseq draws "
    "them as one packed matrix and so smaller by the square root of two",
    "xavier-feed-forward": "W^1 and W^2 Xavier with biases 0, as the theory and fairseq's older releases have "
    "them, where it now takes torch's smaller default",
    "fairseq-feed-forward": "that default, for runs whose `initialisation` is `xavier`",
}
"""The choices that the paper leaves open about figure 3, by the name that a study uses."""


def _known_variant(value: str) -> str:
    """The variant with its parts in one order."""
    parts = value.split("+")
    if unknown := [part for part in parts if part not in VARIANTS]:
        named = ", ".join(f"{part}{meant(part, VARIANTS)}" for part in unknown)
        raise ValueError(f"unknown {named}; allowed, joined by +: {', '.join(VARIANTS)}")
    if len(set(parts)) < len(parts):
        raise ValueError("names a part twice")
    return "+".join(sorted(parts, key=list(VARIANTS).index))


Variant = Annotated[str, AfterValidator(_known_variant)]
Depth = Annotated[int, Field(ge=1, le=100)]
Width = Annotated[int, Field(ge=8, le=4096)]


class ExactTheory(Settings):
    """The model of the paper's proofs (section 3.3): one head, W^Q = W^K = 0, all matrices d x d."""

    width: Width = Field(512, description="Width d of the profile by layer and of the sweep of depths.")
    depth: Depth = Field(12, description="Layers L of the profile by layer and of the sweep of widths.")
    depths: Annotated[tuple[Depth, ...], Field(min_length=3), AfterValidator(ascending)] = Field(
        (2, 4, 8, 16, 32, 64), description="Depths of theorem 1's law: three or more, ascending."
    )
    widths: Annotated[tuple[Width, ...], Field(min_length=3), AfterValidator(ascending)] = Field(
        (64, 128, 256, 512, 1024), description="Widths of theorem 1's law: three or more, ascending."
    )
    length: int = Field(64, ge=2, le=4096, description="Positions n of a sequence.")
    seeds: int | None = later(
        None,
        "Initialisations of this model, where they are others than `theory.seeds`: it takes minutes, and the "
        "models as they are trained hours.",
        ge=2,
        le=1000,
    )


class Gradients(Settings):
    """The gradients of figure 3, of a model as it is trained: a translation model or a language model."""

    runs: Annotated[tuple[str, ...], AfterValidator(distinct)] = Field(
        min_length=1,
        description="Ids of translation runs, or of language models, of the study that have a warm-up and differ only "
        "in their seed. (The paper's are of Post-LN.) Each is measured at the end of its warm-up. The models that are "
        "measured at initialisation have the same settings.",
    )
    depths: Annotated[tuple[Depth, ...], Field(min_length=1), AfterValidator(ascending)] = Field(
        (6, 8, 10, 12, 14),
        description="Layers of encoder and decoder, or of a language model, ascending; all matrices are recorded at "
        "the first.",
    )
    batches: int = Field(10, ge=1, le=10_000, description="Mini-batches of the expected gradient.")
    variants: Annotated[tuple[Variant, ...], AfterValidator(distinct)] = Field(
        (),
        description="The model at initialisation measured once more, at the first depth, with "
        + "; ".join(f"`{name}`: {text}" for name, text in VARIANTS.items())
        + ". Names joined by `+` are taken together. Not of language models.",
    )


class Theory(Settings):
    """Lemmas 1 to 3, theorem 1, boundedness and figure 3. Without this section, nothing is measured."""

    seeds: int = Field(10, ge=2, le=1000, description="Initialisations of each model: the seeds 1, 2, 3, ...")
    exact: ExactTheory = Field(
        default_factory=lambda: ExactTheory(), description="The toy model of the proofs, as below."
    )
    gradients: Gradients | None = Field(None, description="Figure 3. Without it, figure 3 is left out.")
