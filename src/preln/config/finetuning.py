"""Fine-tuning of the pre-trained checkpoints."""

from __future__ import annotations

import itertools
from typing import Annotated

from pydantic import AfterValidator, Field, model_validator

from preln.config.base import Name, Settings, ascending, distinct

MOST_POINTS = 1000
"""Largest number of points of a fine-tuning's grid, each done with each seed; the paper's has 60."""


class GridPoint(Settings):
    """One way to fine-tune."""

    batch_size: int = Field(ge=1, le=100_000, description="Pairs of a batch.")
    learning_rate: float = Field(gt=0, le=1, description="The peak rate.")
    epochs: int = Field(ge=1, le=10_000, description="Passes over the task's train.")


class Finetuning(Settings):
    """Fine-tuning of each checkpoint on each task (appendix A.3)."""

    tasks: Annotated[tuple[Name, ...], Field(min_length=1), AfterValidator(distinct)] = Field(
        description="Names under `tasks`."
    )
    batch_sizes: Annotated[
        tuple[Annotated[int, Field(ge=1, le=100_000)], ...], Field(min_length=1), AfterValidator(ascending)
    ] = Field((16, 32), description="The grid's batch sizes, pairs of sentences, ascending.")
    learning_rates: Annotated[
        tuple[Annotated[float, Field(gt=0, le=1)], ...], Field(min_length=1), AfterValidator(ascending)
    ] = Field((1e-5, 2e-5, 3e-5, 5e-5, 1e-4), description="The grid's peak rates, ascending.")
    epochs: Annotated[
        tuple[Annotated[int, Field(ge=1, le=10_000)], ...], Field(min_length=1), AfterValidator(ascending)
    ] = Field((3, 4, 5, 6, 7, 8), description="The grid's passes over train, ascending.")
    seeds: int = Field(6, ge=2, le=1000, description="Fine-tunings of each grid point: the seeds 1, 2, 3, ...")
    fixed: GridPoint = Field(
        description="The point of the grid whose scores are reported beside those of the point chosen on dev: "
        "`batch_size`, `learning_rate`, `epochs`."
    )

    @model_validator(mode="after")
    def _in_the_grid(self) -> Finetuning:
        size = len(self.batch_sizes) * len(self.learning_rates) * len(self.epochs)
        if size > MOST_POINTS:
            raise ValueError(
                f"batch_sizes, learning_rates, epochs: a grid of {size:,} points; allowed: {MOST_POINTS:,} or fewer"
            )
        if self.fixed not in self.points:
            raise ValueError("fixed: no point of the grid of batch_sizes, learning_rates and epochs")
        return self

    @property
    def points(self) -> list[GridPoint]:
        """The grid, in the order of the file."""
        return [
            GridPoint(batch_size=batch_size, learning_rate=learning_rate, epochs=epochs)
            for batch_size, learning_rate, epochs in itertools.product(
                self.batch_sizes, self.learning_rates, self.epochs
            )
        ]
