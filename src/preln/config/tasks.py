"""The tasks of pairs of sentences to fine-tune on."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from preln.config.base import Copy, Settings
from preln.config.embedded import TASK_PAIRS, EmbeddedText, at_most


class _GlueTask(Settings):
    folder: Copy = Field(None, description="A local folder of the official files, instead of the download.")


Pairs = Annotated[int, at_most(TASK_PAIRS, "an official task (source: mrpc or rte)")]


class EmbeddedTask(EmbeddedText):
    """Pairs of sentences that come with the package. One half of them is positive."""

    source: Literal["embedded"]
    relation: Literal["paraphrase", "entailment"] = Field(
        "paraphrase", description="What is asked of a pair: does the second say the same, or does it follow?"
    )
    pairs: Pairs = Field(2000, ge=40, le=TASK_PAIRS, description="Pairs of train.")
    dev: Pairs = Field(400, ge=20, le=TASK_PAIRS, description="Pairs of dev.")
    seed: int = Field(1, ge=0, lt=2**31, description="Seed of the split.")

    @model_validator(mode="after")
    def _enough(self) -> EmbeddedTask:
        if self.pairs + self.dev > TASK_PAIRS:
            raise ValueError(
                f"pairs, dev: {self.pairs:,} and {self.dev:,}; the embedded task has {TASK_PAIRS:,} in all; give fewer"
            )
        return self


class MrpcTask(_GlueTask):
    """MRPC: is the second sentence a paraphrase of the first? 3,668 pairs of train, 408 of dev."""

    source: Literal["mrpc"]


class RteTask(_GlueTask):
    """RTE: does the second sentence follow from the first? 2,490 pairs of train, 277 of dev."""

    source: Literal["rte"]


Task = Annotated[EmbeddedTask | MrpcTask | RteTask, Field(discriminator="source")]
