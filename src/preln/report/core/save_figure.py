"""A figure as files: matplotlib set up in one way, and the same bytes for the same records."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from preln.errors import PrelnError
from preln.records.files import replaced
from preln.report.core.style import RC

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_METADATA: dict[str, dict[str, Any]] = {
    ".pdf": {"CreationDate": None},
    ".png": {},
    ".svg": {"Date": None},
}


@contextmanager
def laid_out(compose: Callable[[], Figure]) -> Iterator[Figure]:
    """A figure with everything in its place, as long as matplotlib is set up for it."""
    import matplotlib

    # Drawn from matplotlib's own defaults: a reader's matplotlibrc does not change the figure.
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(RC)
        figure = compose()
        # The layout is found once, or else each file would have another, by how many were written before it.
        figure.draw_without_rendering()
        figure.set_layout_engine("none")
        yield figure


def save(compose: Callable[[], Figure], out: Sequence[Path]) -> None:
    """Compose a figure and write it to each file of `out`, in the format of its suffix (pdf, png, svg).

    Raises:
        PrelnError: if a suffix is of no such format.
    """
    for path in out:
        if path.suffix not in _METADATA:
            raise PrelnError(f"{path}: cannot be drawn; allowed: {', '.join(_METADATA)}")
    with laid_out(compose) as figure:
        for path in out:
            # Drawn in memory: matplotlib leaves its file open where a disk is full.
            drawn = io.BytesIO()
            # The layout leaves no room for labels that are aligned with wider neighbours; tight cuts nothing off.
            figure.savefig(
                drawn, format=path.suffix[1:], metadata=_METADATA[path.suffix], bbox_inches="tight", pad_inches=0.03
            )
            content = _with_palette(drawn) if path.suffix == ".png" else drawn.getvalue()
            with replaced(path) as partial:
                partial.write_bytes(content)


def _with_palette(drawn: io.BytesIO) -> bytes:
    """A PNG with a palette of its colours, which is a third of the size."""
    from PIL import Image

    packed = io.BytesIO()
    with Image.open(drawn) as picture:
        picture.convert("RGB").quantize(255, dither=Image.Dither.NONE).save(packed, "PNG", optimize=True)
    return packed.getvalue()
