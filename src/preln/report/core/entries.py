"""The declaration of a figure or a table: its name, title and caption, the records that it needs, and what makes it;
and its files, which are the same bytes for the same records.

The catalogue finds every declaration in the modules of the report. Each start of the workflow reads these modules, so
they take matplotlib and seaborn from `preln.libraries`.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar

from preln.config import Study
from preln.errors import PrelnError
from preln.jobs.base import Job
from preln.libraries import mpl
from preln.records.files import replaced, write_text
from preln.report.core import forms
from preln.report.core.curves import Curves
from preln.report.core.forms import Content
from preln.report.core.style import RC

_METADATA: dict[str, dict[str, Any]] = {".pdf": {"CreationDate": None}, ".png": {}, ".svg": {"Date": None}}
"""The metadata of each format, without a date."""

J = TypeVar("J", bound=Job)
R = TypeVar("R")


@dataclass(frozen=True)
class Source(Generic[J, R]):
    """A kind of records: the jobs of a study that make them, and what reads what is done of some of these, from the
    folder of the results of all studies."""

    jobs: Callable[[Study], Sequence[J]]
    load: Callable[[Study, Sequence[J], Path], R]


@dataclass(frozen=True, kw_only=True)
class Entry(Generic[R]):
    """A figure or a table.

    Attributes:
        name: what the command line and the files of the results call it.
        title: what it shows, in a line.
        caption: how it is read, and what the paper says of it. Plain text, in paragraphs.
        source: the records that it is made from.
        of: those of the source's jobs that it shows. A study has the entry if there is one.
    """

    name: str
    title: str
    caption: str
    source: Source[Any, R]
    of: Callable[[Study, Sequence[Any]], Sequence[Any]] = lambda study, jobs: jobs

    @property
    def heading(self) -> str:
        """The line above it."""
        return self.title


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

    compose: Callable[[Study, R], mpl.figure.Figure]
    curves: Callable[[Study, R], list[Curves]] = lambda study, records: []

    @property
    def heading(self) -> str:
        """The line above it, with the paper's number of one of its figures."""
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
def laid_out(compose: Callable[[], mpl.figure.Figure]) -> Iterator[mpl.figure.Figure]:
    """A figure with everything in its place, as long as matplotlib is set up for it."""
    # Drawn from matplotlib's own defaults: a reader's matplotlibrc does not change the figure.
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(RC)
        drawing = compose()
        # The layout is found once, or else each file would have another, by how many were written before it.
        drawing.draw_without_rendering()
        drawing.set_layout_engine("none")
        yield drawing


def _save(drawing: mpl.figure.Figure, path: Path) -> None:
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


@dataclass(frozen=True, kw_only=True)
class Table(Entry[R]):
    """A table.

    Attributes:
        make: makes it from the records of the jobs that it shows.
        computed: the columns of its CSV that are computed from the records, and not as they stand there.
        folder: where its files lie, in the folder of the study's results.
        forms: the suffixes of the files that the workflow writes.
    """

    make: Callable[[Study, R], Content]
    computed: Sequence[str] = ()
    folder: str = "tables/"
    forms: tuple[str, ...] = forms.FORMS

    @property
    def files(self) -> list[str]:
        """Its files, in the folder of the study's results."""
        return [f"{self.folder}{self.name}{suffix}" for suffix in self.forms]

    def write(self, study: Study, records: R, out: Sequence[Path], progress: str = "") -> None:
        """Write it to each file of `out`, in the form of its suffix (csv, md, tex). Readers are told the progress, if
        any, in the last note.

        Raises:
            PrelnError: if a suffix is of no such form.
        """
        for path in out:
            if path.suffix not in forms.FORMS:
                raise PrelnError(f"{path}: no form of a table; allowed: {', '.join(forms.FORMS)}")
        content = self.make(study, records)
        if progress:
            content = replace(content, notes=[*content.notes, progress])
        texts = {
            ".csv": forms.in_csv(content.full, self.computed),
            ".md": forms.markdown(content),
            ".tex": forms.latex(content, f"tab:{self.name}-{study.study}"),
        }
        for path in out:
            write_text(path, texts[path.suffix])
