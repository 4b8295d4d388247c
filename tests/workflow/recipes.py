"""The code of a page of the docs, as a reader of it has it."""

from __future__ import annotations

import re

BLOCK = re.compile(r"^```(python|sh|yaml)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^(#+) (.+)$", re.MULTILINE)
_NAMED = re.compile(r"# ([\w/]+\.py)\n")
_SAVED = re.compile(r"[Ss]ave\s+this\s+\w+\s+as\s+`([\w/.-]+)`[^`]*\Z")


def section(page: str, heading: str) -> str:
    """A section of a page, up to the next heading of its level or above it."""
    headings = [(match.start(), len(match[1]), match[2]) for match in HEADING.finditer(CODE.sub(blank, page))]
    ((start, level),) = ((at, level) for at, level, text in headings if text == heading)
    ends = (at for at, other_level, _ in headings if at > start and other_level <= level)
    return page[start : next(ends, None)]


def blank(code: re.Match[str]) -> str:
    """Spaces in place of a block of code, whose comments look like headings."""
    return " " * len(code[0])


def blocks(page: str) -> list[tuple[str, str, str | None]]:
    """The blocks of code of a page or of a section, in order: language, content, and the file that it is, if it is one.
    Its name is the first line, or stands in the sentence above it."""
    found = []
    for block in BLOCK.finditer(page):
        language, content = block.groups()
        if named := _NAMED.match(content):
            found.append((language, content[named.end() :], named[1]))
        else:
            saved = _SAVED.search(page, 0, block.start())
            found.append((language, content, saved and saved[1]))
    return found


def files(page: str) -> dict[str, str]:
    """The files that a page or a section has its reader make, by their paths."""
    return {path: content for _, content, path in blocks(page) if path}
