"""The forms of a table: CSV for programs, Markdown and LaTeX for readers, plain text for the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from preln.libraries import pd, tabulate
from preln.values import short

FORMS = (".csv", ".md", ".tex")
MISSING = "–"
DIGITS = 6
"""Significant digits of what is computed from the records, of which those of single precision have seven. The last
digits of a double would depend on the C library."""
_NUMBER = rf"[\d.,e+-]+|{MISSING}|none|(?:\d+ days?, )?\d+:\d\d:\d\d"
# Characters that LaTeX cannot read as they stand, though they are no commands.
_SYMBOLS = str.maketrans(
    {"×": "$\\times$", "±": "$\\pm$", "–": "--", "‖": "$\\Vert$", "|": "\\textbar{}"}
    | {"β": "$\\beta$", "Δ": "$\\Delta$"}
)
# Characters that Markdown reads anywhere in a line.
_MARKDOWN = str.maketrans({character: f"\\{character}" for character in "\\`*_[]<>&|~$"})
# All but the line's end.
_CONTROLS = dict.fromkeys({*range(32), *range(127, 160)} - {10}, "\N{REPLACEMENT CHARACTER}")


@dataclass(frozen=True)
class Content:
    """A table that is made.

    Attributes:
        full: in full precision, of which the CSV is made.
        text: rounded to text for readers.
        title: what it is of, and how much of that is done, in a sentence.
        notes: how the numbers were computed, and where; a paragraph each.
        brief: the text that a terminal shows, where that is not all of it.
    """

    full: pd.DataFrame
    text: pd.DataFrame
    title: str
    notes: Sequence[str]
    brief: pd.DataFrame | None = None


def in_csv(table: pd.DataFrame, computed: Sequence[str]) -> str:
    """A table as CSV: the columns that are computed from the records to `DIGITS` significant digits, and all else as it
    stands."""
    rounded = {
        name: table[name].map(lambda value: float(f"{value:.{DIGITS}g}"), na_action="ignore")
        for name in computed
        if name in table.columns
    }
    return table.assign(**rounded).to_csv(index=False, lineterminator="\n")


def markdown(content: Content) -> str:
    """The table in Markdown, with its title above it and the notes below."""
    heading = f"**{content.title.translate(_MARKDOWN)}**"
    return "\n\n".join([heading, *_grid(content.text, "github"), *content.notes]) + "\n"


def plain(content: Content) -> str:
    """The table as text for a terminal, with its title above it and the notes below; of a brief one without these. A
    study's own words, such as its description, command the terminal nothing."""
    if content.brief is not None:
        parts = [content.title, *_grid(content.brief, "simple")]
    else:
        parts = [content.title, *_grid(content.text, "simple"), *content.notes]
    return ("\n\n".join(parts) + "\n").translate(_CONTROLS)


def latex(content: Content, label: str) -> str:
    """The table as a LaTeX `table*`, which needs the package booktabs: the title is its caption."""
    text = content.text
    sides = ["right" if text[name].astype(str).str.fullmatch(_NUMBER).all() else "left" for name in text.columns]
    latex = str.maketrans(tabulate.LATEX_ESCAPE_RULES)
    lines = [
        "\\begin{table*}\n\\centering",
        f"\\caption{{{content.title.translate(latex)}}}\n\\label{{{label}}}",
        "\\scriptsize\n\\setlength{\\tabcolsep}{3pt}",
        *_grid(text, "latex_booktabs", sides),
        *(f"\\par\\smallskip\\footnotesize {note.translate(latex)}" for note in content.notes),
        "\\end{table*}",
    ]
    return "\n".join(lines).translate(_SYMBOLS) + "\n"


def _grid(text: pd.DataFrame, form: str, sides: Sequence[str] | None = None) -> list[str]:
    """The rows in a form of tabulate's, or nothing where there are none."""
    if text.empty:
        return []
    # Numbers are text already; the printer would write 1e-3 as 0.001.
    return [
        tabulate.tabulate(text.to_dict("list"), headers="keys", tablefmt=form, disable_numparse=True, colalign=sides)
    ]


def rounded(value: float, digits: int) -> str:
    """A number for readers."""
    return f"{value:.{digits}f}" if pd.notna(value) else MISSING


def rate(value: float) -> str:
    """A learning rate for readers."""
    return short(value) if pd.notna(value) else MISSING
