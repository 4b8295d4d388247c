"""Gather the site's pages and pictures in build/pages, from which zensical builds the site.

In the repository, a page links to files of the repository. On the site, a link to a page or a picture leads to its
copy, and a link to anything else, such as source code, becomes plain text.
"""

from __future__ import annotations

import re
import shutil
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ELSEWHERE = {
    "config/README.md": "keys.md",
    "benchmarks/README.md": "benchmarks.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changes.md",
}
"""The site's pages that are not in docs/, by their path in the repository."""
PICTURES = {".png", ".svg"}
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s#]+)(#[^)\s]*)?\)")
CODE = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)


def gather(out: Path) -> None:
    """Replace a folder by the pages and pictures of the site."""
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    for name in ("site.css", "iframe-worker.js"):
        shutil.copy(ROOT / "docs" / name, out)
    pages = {path: path.name for path in (ROOT / "docs").glob("*.md")}
    pages |= {ROOT / path: name for path, name in ELSEWHERE.items()}

    def link_on_site(page: Path, link: re.Match[str]) -> str:
        image, text, address, anchor = link.groups()
        target = (page.parent / address).resolve()
        if ":" in address or not target.exists():
            return link[0]
        if target in pages:
            return f"{image}[{text}]({pages[target]}{anchor or ''})"
        if target.suffix not in PICTURES:
            return text
        name = "-".join(target.relative_to(ROOT).parts)
        shutil.copy(target, out / name)
        return f"{image}[{text}]({name})"

    for page, name in pages.items():
        pieces = CODE.split(page.read_text(encoding="utf-8"))
        pieces[::2] = [LINK.sub(partial(link_on_site, page), piece) for piece in pieces[::2]]
        (out / name).write_text("".join(pieces), encoding="utf-8")


if __name__ == "__main__":
    gather(ROOT / "build" / "pages")
