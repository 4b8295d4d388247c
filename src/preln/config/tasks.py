"""The tasks of pairs of sentences to fine-tune on."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from preln.config.base import Copy, Settings


class _GlueTask(Settings):
    folder: Copy = Field(None, description="A local folder of the official files, instead of the download.")


class EmbeddedTask(Settings):
    """Pairs of sentences from the grammar that comes with the package. One half of them is positive."""

    source: Literal["embedded"]
    relation: Literal["paraphrase", "entailment"] = Field(
        "paraphrase", description="What is asked of a pair: does the second say the same, or does it follow?"
    )
    pairs: int = Field(2000, ge=40, le=100000, description="Pairs of train.")
    dev: int = Field(400, ge=20, le=100000, description="Pairs of dev.")
    seed: int = Field(1, ge=0, lt=2**31, description="Seed of the generator.")


class MrpcTask(_GlueTask):
    """MRPC: is the second sentence a paraphrase of the first? 3,668 pairs of train, 408 of dev."""

    source: Literal["mrpc"]


class RteTask(_GlueTask):
    """RTE: does the second sentence follow from the first? 2,490 pairs of train, 277 of dev."""

    source: Literal["rte"]


Task = Annotated[EmbeddedTask | MrpcTask | RteTask, Field(discriminator="source")]
