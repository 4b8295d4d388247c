"""The declaration of a figure, and its files: matplotlib set up in one way, and the same bytes for the same records."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from preln.config import Study
from preln.errors import PrelnError
from preln.records.files import replaced
from preln.report.core.curves import Curves
from preln.report.core.entries import Entry, R
from preln.report.core.style import RC

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

_METADATA: dict[str, dict[str, Any]] = {".pdf": {"CreationDate": None}, ".png": {}, ".svg": {"Date": None}}
"""The metadata of each format, without a date."""


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
        for path in out:
            if path.suffix not in _METADATA:
                raise PrelnError(f"{path}: cannot be drawn; allowed: {', '.join(_METADATA)}")
        try:
            with laid_out(partial(self.compose, study, records)) as drawing:
                for path in out:
                    _save(drawing, path)
        except NothingDone as error:
            raise PrelnError(f"figure {self.name}: {error}") from None


@contextmanager
def laid_out(compose: Callable[[], Drawing]) -> Iterator[Drawing]:
    """A figure with everything in its place, as long as matplotlib is set up for it."""
    import matplotlib

    # Drawn from matplotlib's own defaults: a reader's matplotlibrc does not change the figure.
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(RC)
        drawing = compose()
        # The layout is found once, or else each file would have another, by how many were written before it.
        drawing.draw_without_rendering()
        drawing.set_layout_engine("none")
        yield drawing


def _save(drawing: Drawing, path: Path) -> None:
    # Drawn in memory: matplotlib leaves its file open where a disk is full.
    drawn = io.BytesIO()
    # The layout leaves no room for labels that are aligned with wider neighbours; tight cuts nothing off.
    drawing.savefig(
        drawn, format=path.suffix[1:], metadata=_METADATA[path.suffix], bbox_inches="tight", pad_inches=0.03
    )
    content = _with_palette(drawn) if path.suffix == ".png" else drawn.getvalue()
    with replaced(path) as partial_file:
        partial_file.write_bytes(content)


def _with_palette(drawn: io.BytesIO) -> bytes:
    """A PNG with a palette of its colours, which is a third of the size."""
    from PIL import Image

    packed = io.BytesIO()
    with Image.open(drawn) as picture:
        picture.convert("RGB").quantize(255, dither=Image.Dither.NONE).save(packed, "PNG", optimize=True)
    return packed.getvalue()
