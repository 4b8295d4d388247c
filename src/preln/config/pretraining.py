"""The pre-training runs of BERT."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field, model_validator

from preln.config.base import MOST_UPDATES, WIDEST, Name, Settings, ascending, later, of_whole_heads
from preln.config.grid import NORM, PLACEMENT, QK_NORM, Entry, Grid, Placement, Precision
from preln.placements.base import NormName

InitialStd = Literal["fixed", "scaled"]


class PretrainingSettings(Settings):
    """Everything that can change the numbers of a pre-training. If you change one, it is trained anew."""

    text: Name = Field(description="A name under `texts`.")
    placement: Placement = Field(description=PLACEMENT)
    norm: NormName = later("layer", NORM)
    qk_norm: bool = later(False, QK_NORM)
    layers: int = Field(12, ge=1, le=100, description="Layers.")
    width: int = Field(768, ge=8, le=WIDEST, description="Width of embeddings and hidden states.")
    ffn_width: int = Field(3072, ge=8, le=4 * WIDEST, description="Width of the feed-forward sub-layer.")
    heads: int = Field(12, ge=1, le=1024, description="Attention heads; they divide the width.")
    embedding_norm: bool = Field(
        True, description="LayerNorm on the embeddings, as in BERT; fairseq's own Pre-LN model has none."
    )
    initial_std: InitialStd = later(
        "fixed",
        "Standard deviation of the weights at initialisation. `fixed`: 0.02 at every width, as BERT has it. `scaled`: "
        "0.02 x sqrt(768 / width), so that a narrow model begins with the branches of BERT base.",
    )
    dropout: float = Field(
        0.1, ge=0, lt=1, description="Dropout of embeddings, sub-layer outputs and attention weights."
    )
    beta1: float = Field(0.9, ge=0, lt=1, description="Adam's first decay rate.")
    beta2: float = Field(0.999, ge=0, lt=1, description="Adam's second decay rate.")
    epsilon: float = Field(1e-6, gt=0, le=1, description="Adam's epsilon.")
    weight_decay: float = Field(0.01, ge=0, le=1000, description="Decoupled weight decay, of all parameters.")
    clip_norm: float = Field(0.0, ge=0, le=100_000, description="Gradient norm is clipped to this; 0 does not clip.")
    learning_rate: float = Field(gt=0, le=10, description="The peak rate, from which it decays linearly to zero.")
    warmup: int = Field(0, ge=0, le=MOST_UPDATES, description="Updates of linear warm-up; 0 is none.")
    updates: int = Field(ge=1, le=MOST_UPDATES, description="Updates of the run; the rate reaches zero at the last.")
    sequence_length: int = Field(512, ge=8, le=4096, description="Tokens of a sequence, `<s>` included.")
    batch_sequences: int = Field(256, ge=1, le=1_000_000, description="Sequences of a batch.")
    accumulate: int = Field(1, ge=1, le=100_000, description="Batches whose gradients make one update.")
    validate_every: int = Field(
        ge=1, le=MOST_UPDATES, description="Updates between two validations; they divide `updates`."
    )
    precision: Precision = Field("fp32", description="`fp32`, `bf16` or `fp16`.")
    seed: int = Field(1, ge=0, lt=2**31, description="Seed of initialisation, masks of train, dropout and batch order.")

    @model_validator(mode="after")
    def _possible(self) -> PretrainingSettings:
        problems = of_whole_heads(self.width, self.heads)
        if self.warmup >= self.updates:
            problems.append(f"warmup: {self.warmup} is not below updates {self.updates}")
        if self.updates % self.validate_every:
            problems.append(f"validate_every: {self.validate_every} does not divide updates {self.updates}")
        if problems:
            raise ValueError("\n".join(problems))
        return self


class PretrainingEntry(Entry):
    """One line of the pre-training grid: these keys, and those of a pre-training. `pretraining.settings` has both."""

    finetune: bool = Field(True, description="Whether its checkpoints are fine-tuned.")


class Pretraining(Grid[PretrainingEntry]):
    """BERT: masked language models (section 4.2)."""

    run: ClassVar[type[PretrainingSettings]] = PretrainingSettings
    runs: tuple[PretrainingEntry, ...] = Field(
        min_length=1,
        description="The grid. Each entry has keys of a run; a list makes a run of each of its values. The first run "
        "is the one that the others are compared with.",
    )
    checkpoints: Annotated[tuple[Annotated[int, Field(ge=0, le=MOST_UPDATES)], ...], AfterValidator(ascending)] = Field(
        (),
        description="Updates, ascending, at which the weights are kept and fine-tuned; 0 is the model at "
        "initialisation.",
    )
    loss: float | None = Field(
        None,
        gt=0,
        le=100,
        description="The validation loss, in bits per token, that the runs are timed to. Without it, that of the "
        "first run after half of its updates.",
    )
