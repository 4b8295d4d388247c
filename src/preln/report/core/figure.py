"""The declaration of a figure, and its files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from preln.config import Study
from preln.errors import PrelnError
from preln.report.core import save_figure
from preln.report.core.curves import Curves
from preln.report.core.entries import Entry, R

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing


class NothingDone(PrelnError):
    """Nothing that a figure shows is done yet."""

    def __init__(self) -> None:
        super().__init__(
            "nothing that it shows is done yet; run the workflow, or see how far it is: preln status RESULTS"
        )


@dataclass(frozen=True, kw_only=True)
class Figure(Entry[R]):
    """A figure.

    Attributes:
        compose: makes it from the records of the jobs that it shows. It leaves out panels that have nothing to show,
            and raises `NothingDone` where none is left.
        curves: the same as numbers, for the page to look into; none for a figure that is an image alone.
    """

    compose: Callable[[Study, R], Drawing]
    curves: Callable[[Study, R], list[Curves]] = lambda study, records: []

    @property
    def heading(self) -> str:
        """The line above it."""
        return f"Figure {self.name}: {self.title}" if self.name.isdigit() else self.title

    @property
    def files(self) -> list[str]:
        """Its files, in the folder of the study's results."""
        return [f"figures/figure-{self.name}.{suffix}" for suffix in ("pdf", "png")]

    def write(self, study: Study, records: R, out: Sequence[Path]) -> None:
        """Draw it to each file of `out`, in the format of its suffix (pdf, png, svg). The same records give the same
        bytes.

        Raises:
            PrelnError: if a suffix is of no such format, or nothing that it shows is done.
        """
        try:
            save_figure.save(partial(self.compose, study, records), out)
        except NothingDone as error:
            raise PrelnError(f"figure {self.name}: {error}") from None
