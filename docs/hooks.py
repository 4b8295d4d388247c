"""What mkdocs is told beside mkdocs.yml: the pages and figures of the site that are not in docs/.

In the repository, a page links to files of the repository. On the site, those of them that are shown there (Markdown
pages, figures) are taken along, and links to all others, such as to source code, become plain text.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
PAGES = {
    "config/README.md": "keys.md",
    "benchmarks/README.md": "benchmarks.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changes.md",
}
"""The pages that are elsewhere in the repository, by their place on the site."""

SHOWN = {".png", ".svg"}
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s#]*)(#[^)\s]*)?\)")
CODE = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages and the figures from outside docs/."""
    for source, page in PAGES.items():
        files.append(File.generated(config, page, abs_src_path=str(ROOT / source)))
    for file in list(files.documentation_pages()):
        for _, _, target, _ in LINK.findall(file.content_string):
            path = _in_repository(file.src_uri, target)
            if Path(path).suffix in SHOWN and not files.get_file_from_path(_on_site(path)):
                files.append(File.generated(config, _on_site(path), abs_src_path=str(ROOT / path)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Lead each link to where its target is on the site; a link to what is not on the site becomes its text."""

    def led(link: re.Match[str]) -> str:
        image, text, target, anchor = link.groups()
        if not target or ":" in target:
            return link[0]
        on_site = _on_site(_in_repository(page.file.src_uri, target))
        if not files.get_file_from_path(on_site) and not (ROOT / "docs" / on_site).is_file():
            return text if (ROOT / _in_repository(page.file.src_uri, target)).exists() else link[0]
        relative = posixpath.relpath(on_site, posixpath.dirname(page.file.src_uri) or ".")
        return f"{image}[{text}]({relative}{anchor or ''})"

    pieces = CODE.split(markdown)
    return "".join(piece if index % 2 else LINK.sub(led, piece) for index, piece in enumerate(pieces))


def _in_repository(page: str, target: str) -> str:
    """The path in the repository of a link's target, of a page by its place on the site."""
    source = next((source for source, on_site in PAGES.items() if on_site == page), f"docs/{page}")
    return posixpath.normpath(posixpath.join(posixpath.dirname(source), target))


def _on_site(path: str) -> str:
    """The place on the site of a file of the repository."""
    return PAGES.get(path, path.removeprefix("docs/"))
