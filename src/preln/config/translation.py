"""The translation runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field, model_validator

from preln import schedules
from preln.config.base import MOST_UPDATES, WIDEST, Name, Settings, later, of_whole_heads
from preln.config.grid import NORM, PLACEMENT, QK_NORM, Entry, Grid, Placement, Precision
from preln.placements.base import NormName
from preln.schedules.inverse_sqrt import Anchor

Optimizer = Literal["adam", "radam", "sgd"]
if TYPE_CHECKING:
    ScheduleName = str
else:
    ScheduleName = Literal[*schedules.SCHEDULES]
Initialisation = Literal["fairseq", "xavier"]
Projections = Literal["packed", "separate"]


class RunSettings(Settings):
    """Everything that can change a run's numbers. If you change one, the run is trained anew."""

    corpus: Name = Field(description="A name under `corpora`.")
    placement: Placement = Field(description=PLACEMENT)
    norm: NormName = later("layer", NORM)
    qk_norm: bool = later(False, QK_NORM)
    encoder_layers: int = Field(6, ge=1, le=100, description="Encoder layers.")
    decoder_layers: int = Field(6, ge=1, le=100, description="Decoder layers.")
    width: int = Field(512, ge=8, le=WIDEST, description="Width of embeddings and hidden states (d).")
    ffn_width: int = Field(1024, ge=8, le=4 * WIDEST, description="Width of the feed-forward sub-layer.")
    heads: int = Field(4, ge=1, le=1024, description="Attention heads; they divide the width.")
    dropout: float = Field(0.1, ge=0, lt=1, description="Dropout of embeddings and sub-layer outputs.")
    label_smoothing: float = Field(0.1, ge=0, lt=1, description="Label smoothing of the training loss.")
    initialisation: Initialisation = later(
        "fairseq",
        "How the feed-forward matrices are drawn. `fairseq`: as it does now, by torch's default, uniform with variance "
        "1/(3 inputs), biases too. `xavier`: Xavier uniform with biases 0, as fairseq did when the paper was written, "
        "and as the paper's theory has them.",
    )
    projections: Projections = later(
        "packed",
        "How W^Q, W^K and W^V are drawn. `packed`: as one Xavier matrix of three times the outputs, as fairseq does. "
        "`separate`: each as a Xavier matrix of its own, larger by the square root of two.",
    )
    optimizer: Optimizer = Field(description="`adam`, `radam`, or `sgd` (without momentum).")
    beta1: float = Field(0.9, ge=0, lt=1, description="Adam's and RAdam's first decay rate.")
    beta2: float = Field(0.98, ge=0, lt=1, description="Adam's and RAdam's second decay rate.")
    epsilon: float = Field(1e-9, gt=0, le=1, description="Adam's and RAdam's epsilon.")
    weight_decay: float = Field(
        0.0, ge=0, le=1000, description="Weight decay: decoupled with Adam and RAdam, L2 with SGD."
    )
    clip_norm: float = Field(0.0, ge=0, le=100_000, description="Gradient norm is clipped to this; 0 does not clip.")
    learning_rate: float = Field(gt=0, le=10, description="The peak rate (lr_max).")
    schedule: ScheduleName = Field(
        description=", ".join(schedule.about for schedule in schedules.SCHEDULES.values())
        + "; each after an optional warm-up."
    )
    warmup: int = Field(0, ge=0, le=MOST_UPDATES, description="Updates of linear warm-up (Eq. 1); 0 is none.")
    anchor: Anchor = Field(
        "warmup",
        description="Where the inverse-square-root decay is anchored (readings A, B, C of the paper's "
        "`T_warmup = 1`): `warmup` decays from the end of warm-up, `hold` keeps the peak until update "
        "`decay_period`, `shift` decays as if `decay_period` updates had gone before.",
    )
    decay_period: int = Field(4000, ge=1, le=MOST_UPDATES, description="Updates; of the anchors `hold` and `shift`.")
    drop_epoch: int | None = Field(
        None, ge=1, le=10_000, description="The last epoch at the peak rate (`constant`, `drop-inverse-sqrt`)."
    )
    drop_factor: float = Field(0.1, gt=0, le=1, description="The rate is multiplied by this at the drop.")
    decay_start: int | None = later(
        None, "The last update at the peak rate of a `stable-decay` schedule.", ge=0, le=MOST_UPDATES
    )
    decay_updates: int | None = Field(
        None,
        ge=1,
        le=MOST_UPDATES,
        description="The update at which the rate reaches zero (`linear`, `cosine`, `stable-decay`).",
    )
    epochs: int = Field(15, ge=1, le=10_000, description="Passes over the training text.")
    batch_tokens: int = Field(
        4096, ge=32, le=10_000_000, description="Tokens of a batch (the longer side, with padding)."
    )
    accumulate: int = Field(1, ge=1, le=100_000, description="Batches whose gradients make one update.")
    precision: Precision = Field("fp32", description="`fp32`, `bf16` or `fp16`.")
    beam: int = Field(5, ge=1, le=100, description="Beam width of the translations that BLEU scores.")
    length_penalty: float = Field(1.2, ge=0, le=100, description="Exponent of the length in the beam's score.")
    bleu_sentences: int | None = Field(
        None,
        ge=1,
        le=10_000_000,
        description="BLEU on the first so many sentences of valid and test. Without it, on all.",
    )
    seed: int = Field(1, ge=0, lt=2**31, description="Seed of initialisation, dropout and batch order.")

    @property
    def tokens_an_update(self) -> int:
        """The target tokens of an update, at most."""
        return self.batch_tokens * self.accumulate

    @model_validator(mode="after")
    def _possible(self) -> RunSettings:
        problems = of_whole_heads(self.width, self.heads)
        if self.drop_epoch is not None and self.drop_epoch >= self.epochs:
            problems.append(f"drop_epoch: {self.drop_epoch} is not before the last of {self.epochs} epochs")
        problems += schedules.problems(self)
        if problems:
            raise ValueError("\n".join(problems))
        return self


schedules.require(RunSettings.model_fields)


class RunEntry(Entry):
    """One line of the translation grid: these keys, and those of a run. `translation.settings` has both."""

    figures: tuple[Literal[2, 4, 6], ...] = Field((), description="The paper's figures in which these runs are drawn.")


class Translation(Grid[RunEntry]):
    """The translation grid."""

    run: ClassVar[type[RunSettings]] = RunSettings
