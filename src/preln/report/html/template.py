"""The templates of the pages."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup


def rendered(name: str, **content: Any) -> str:
    """A page from `name.html.j2` and `name.js`, with the style that all pages share, and the values of its template's
    other variables."""
    environment = Environment(
        loader=PackageLoader("preln.report.html", "."), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    template = environment.get_template(f"{name}.html.j2")
    return template.render(style=_part("page.css"), script=_part(f"{name}.js"), **content)


def _part(file: str) -> Markup:
    return Markup(files(__package__).joinpath(file).read_text(encoding="utf-8"))
