"""The declaration of a table, and its files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from preln.config import Study
from preln.errors import PrelnError
from preln.records.files import write_text
from preln.report.core import forms
from preln.report.core.entries import Entry, R
from preln.report.core.forms import Content


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
    def heading(self) -> str:
        """The line above it."""
        return self.title

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
