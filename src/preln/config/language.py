"""The decoder-only language models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field, model_validator

from preln import schedules
from preln.config.base import MOST_UPDATES, WIDEST, Name, Settings, of_whole_heads
from preln.config.grid import NORM, PLACEMENT, QK_NORM, Entry, Grid, Placement
from preln.placements.base import NormName
from preln.schedules.inverse_sqrt import Anchor

# A language model has no epochs, so a schedule that needs one is not for it.
SCHEDULES = {name: schedule for name, schedule in schedules.SCHEDULES.items() if "drop_epoch" not in schedule.needs()}
if TYPE_CHECKING:
    ScheduleName = str
else:
    ScheduleName = Literal[*SCHEDULES]
FeedForward = Literal["relu", "gelu", "swiglu"]
Initialisation = Literal["own", "common"]
LanguageOptimizer = Literal["sgd", "adam", "adamw", "radam", "muon"]
Positions = Literal["learned", "rope"]
Tokens = Literal["bpe", "bytes"]


class LanguageSettings(Settings):
    """Everything that can change the numbers of a language model. If you change one, it is trained anew."""

    drop_epoch: ClassVar[None] = None
    drop_factor: ClassVar[float] = 1.0
    """A constant rate stays constant."""

    text: Name = Field(description="A name under `texts`.")
    tokens: Tokens = Field(
        "bpe",
        description="`bpe`: pieces of the text's BPE vocabulary, and a mark at the end of a line. `bytes`: UTF-8.",
    )
    placement: Placement = Field(description=PLACEMENT)
    norm: NormName = Field("layer", description=NORM)
    qk_norm: bool = Field(False, description=QK_NORM)
    layers: int = Field(12, ge=1, le=1000, description="Layers.")
    width: int = Field(768, ge=8, le=WIDEST, description="Width of embeddings and hidden states.")
    ffn_width: int = Field(3072, ge=8, le=4 * WIDEST, description="Width of the feed-forward sub-layer.")
    heads: int = Field(12, ge=1, le=1024, description="Attention heads; they divide the width.")
    feed_forward: FeedForward = Field(
        "gelu",
        description="The feed-forward sub-layer: `relu` or `gelu` of x W^1, times W^2; or `swiglu`, which multiplies "
        "x W^1 by SiLU(x W^3) (Shazeer, 2020).",
    )
    positions: Positions = Field(
        "learned",
        description="`learned`: a vector of each position; `rope`: rotated queries and keys (Su et al., 2021).",
    )
    tied: bool = Field(True, description="Whether the output matrix is that of the embeddings.")
    initialisation: Initialisation = Field(
        "own",
        description="`common`: Xavier uniform for every matrix. `own`: the same, then with the scales, or after the "
        "first pass, that the placement's paper gives; where it gives none, both are the same.",
    )
    dropout: float = Field(0.0, ge=0, lt=1, description="Dropout of embeddings and sub-layer outputs.")
    optimizer: LanguageOptimizer = Field(
        "adamw",
        description="`sgd` (without momentum), `adam` (decay as L2), `adamw`, `radam`, or `muon`: Muon for the "
        "layers' matrices, at the step size of AdamW (Liu et al., 2025), and AdamW for everything else.",
    )
    beta1: float = Field(0.9, ge=0, lt=1, description="First decay rate of the Adams, and Muon's momentum.")
    beta2: float = Field(0.95, ge=0, lt=1, description="Second decay rate of the Adams.")
    epsilon: float = Field(1e-8, gt=0, le=1, description="Epsilon of the Adams.")
    weight_decay: float = Field(
        0.0, ge=0, le=1000, description="Decay of matrices and embeddings: L2 with `sgd` and `adam`, else decoupled."
    )
    clip_norm: float = Field(0.0, ge=0, le=100_000, description="Gradient norm is clipped to this; 0 does not clip.")
    learning_rate: float = Field(gt=0, le=10, description="The peak rate.")
    schedule: ScheduleName = Field(
        "constant",
        description=f"{', '.join(schedule.about for schedule in SCHEDULES.values())}; each after an optional warm-up.",
    )
    warmup: int = Field(0, ge=0, le=MOST_UPDATES, description="Updates of linear warm-up; 0 is none.")
    anchor: Anchor = Field("warmup", description="As in a translation run.")
    decay_period: int = Field(4000, ge=1, le=MOST_UPDATES, description="As in a translation run.")
    decay_start: int | None = Field(
        None, ge=0, le=MOST_UPDATES, description="The last update at the peak rate of a `stable-decay` schedule."
    )
    decay_updates: int | None = Field(
        None,
        ge=1,
        le=MOST_UPDATES,
        description="The update at which a schedule that decays to zero is there; by default the last.",
    )
    updates: int = Field(ge=1, le=MOST_UPDATES, description="Updates of the run.")
    sequence_length: int = Field(256, ge=2, le=1_000_000, description="Tokens of a sequence.")
    batch_sequences: int = Field(64, ge=1, le=1_000_000, description="Sequences of a batch.")
    accumulate: int = Field(1, ge=1, le=100_000, description="Batches whose gradients make one update.")
    validate_every: int = Field(
        ge=1, le=MOST_UPDATES, description="Updates between two validations; they divide `updates`."
    )
    valid_tokens: int = Field(
        65_536, ge=2, le=1_000_000_000, description="Tokens of valid that a validation reads: the first so many."
    )
    precision: Literal["fp32", "bf16"] = Field(
        "fp32",
        description="Of the sub-layers and the output: `fp32`, or `bf16` with sums, weights, and norms around "
        "sub-layers in fp32.",
    )
    seed: int = Field(1, ge=0, lt=2**31, description="Seed of initialisation, dropout and batches.")

    @property
    def tokens_an_update(self) -> int:
        """The tokens of an update."""
        return self.sequence_length * self.batch_sequences * self.accumulate

    @classmethod
    def default_of(cls, key: str) -> Any:
        """The value of a key that is left out."""
        return super().default_of(key) if key in cls.model_fields else getattr(cls, key)

    @property
    def decoder_layers(self) -> int:
        """The layers: a language model is a decoder."""
        return self.layers

    @model_validator(mode="before")
    @classmethod
    def _decay_to_the_end(cls, content: Any) -> Any:
        if not isinstance(content, dict) or content.get("decay_updates") is not None:
            return content
        name = content.get("schedule")
        chosen = SCHEDULES.get(name) if isinstance(name, str) else None
        decays = chosen is not None and "decay_updates" in chosen.needs() and "updates" in content
        return {**content, "decay_updates": content["updates"]} if decays else content

    @model_validator(mode="after")
    def _possible(self) -> LanguageSettings:
        problems = of_whole_heads(self.width, self.heads)
        if self.positions == "rope" and not problems and self.width // self.heads % 2:
            problems.append(f"heads: {self.heads} have a width of {self.width // self.heads}; rope needs an even one")
        if self.updates % self.validate_every:
            problems.append(f"validate_every: {self.validate_every} does not divide updates {self.updates}")
        problems += schedules.problems(self)
        if problems:
            raise ValueError("\n".join(problems))
        return self


schedules.require({*LanguageSettings.model_fields, "drop_epoch", "drop_factor"})


class Language(Grid[Entry]):
    """Decoder-only language models, trained with torch alone."""

    run: ClassVar[type[LanguageSettings]] = LanguageSettings
