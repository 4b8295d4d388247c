"""What a study ends in: its figures and tables, what each shows, and the code that it is made by."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from preln.config import Study
from preln.runs import Run, digest

FIGURE_OF_PRETRAINING = "5"
FIGURES_OF_THEORY = ("theory", "3", "gradients")
TABLES: dict[str, Callable[[Study], object]] = {
    "runs": lambda study: study.translation,
    "pretraining": lambda study: study.pretraining,
    "finetuning": lambda study: study.finetuning,
    "theory": lambda study: study.theory,
    "figure-3": lambda study: study.theory and study.theory.gradients,
}
"""The tables, each with the section of a study that it is of."""
REPORT = "report.html"

_DATA = (".csv", ".yaml", ".j2", ".css", ".js")
_SOURCE = Path(__file__).parents[1]
_REGISTRIES = ("preln.placements", "preln.schedules")
_FOLLOWED = ("preln.report", "preln.theory", *_REGISTRIES)
"""Where code is cheap to run again. What trains is followed by version and not by its code (`preln.runs`)."""


class Shown(Protocol):
    """A run, a fine-tuning or a part of the theory."""

    @property
    def id(self) -> str: ...
    @property
    def identity(self) -> dict[str, Any]: ...


def figures(study: Study, runs: Iterable[Run]) -> list[str]:
    """The names of a study's figures, those of the paper by their numbers."""
    named = sorted({str(number) for run in runs for number in run.figures})
    if study.pretraining:
        named.append(FIGURE_OF_PRETRAINING)
    if study.theory:
        # Without gradients there is the model of the proofs alone.
        named += FIGURES_OF_THEORY if study.theory.gradients else ["theory"]
    return named


def tables(study: Study) -> list[str]:
    """The names of a study's tables."""
    return [name for name, section in TABLES.items() if section(study)]


def files(study: Study, runs: Iterable[Run]) -> list[str]:
    """The files of a study's figures and tables and of its ledger, in the folder of its results."""
    return [
        *(f"figures/figure-{name}.{suffix}" for name in figures(study, runs) for suffix in ("pdf", "png")),
        *(f"tables/{name}.{suffix}" for name in tables(study) for suffix in ("csv", "md", "tex")),
        *(f"claims.{suffix}" for suffix in ("csv", "md")),
    ]


def content(study: Study, shown: Iterable[Shown]) -> str:
    """A checksum of what a figure or a table says beside its records: of what it is, and what the study says of it."""
    described = study.model_dump(mode="json", include={"description", "paper_settings", "paper_curves"})
    if study.pretraining:
        described["loss"] = study.pretraining.loss
    if study.finetuning:
        described["fixed"] = study.finetuning.fixed.model_dump()
    return digest({**described, "shown": {one.id: one.identity for one in shown}})


def module_of_figure(name: str) -> str:
    """The module of the report that composes a figure."""
    (path,) = (_SOURCE / "report").glob(f"*/figure_{name}.py")
    return f"{path.parent.name}.{path.stem}"


def code(*modules: str) -> list[Path]:
    """The files that modules of the report (such as `translation.figure_2`) compute by: their own, those of what they
    import of the report, the theory, the placements and the schedules, and the data beside these."""
    found: dict[Path, None] = {}
    wanted = [_SOURCE / "report" / f"{module.replace('.', '/')}.py" for module in modules]
    while wanted:
        path = wanted.pop()
        if path not in found:
            data = [file for file in sorted(path.parent.glob(f"{path.stem}.*")) if file.suffix in _DATA]
            found |= dict.fromkeys([path, *data])
            wanted += _imported(path)
    return list(found)


@cache
def _imported(path: Path) -> list[Path]:
    """The files of what a module imports, where they are followed."""
    files: list[Path] = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(_FOLLOWED):
            place = _SOURCE.parent / node.module.replace(".", "/")
            files += [place.with_suffix(".py"), place / "__init__.py"]
            files += [place / f"{name.name}.py" for name in node.names]
            # A registry imports what is beside it without naming it.
            files += sorted(place.glob("*.py")) if node.module in _REGISTRIES else []
    return [file for file in files if file.exists()]
