"""On which line of its file each value of a study stands."""

from __future__ import annotations

import re
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq


def document(text: str) -> Any:
    """The content of a YAML file, whose sections and lists know their lines. Its values are not for use: they follow
    YAML 1.2, and Snakemake reads a study by YAML 1.1.

    Raises:
        ruamel.yaml.error.YAMLError: if it is not YAML, or a section has a key twice.
    """
    return YAML().load(text)


def line_of(content: Any, message: str) -> int:
    """The line of what a message is about, which begins with a dotted key: of that key, or where the file does not have
    it, of the innermost section that should. What a section takes over from elsewhere (aliases, `<<`, and the
    `settings` of a grid in each of its `runs`) has the line on which it is written.

    Args:
        content: of the file, from `document`.
        message: such as `translation.runs.0.epochs: 0: must be ...`.
    """
    line: int = content.lc.line + 1
    path = [content]
    for key in re.split("[.:] ?", message):
        places = path[-1:]
        if len(path) > 2 and isinstance(path[-3], CommentedMap) and path[-3].get("runs") is path[-2]:
            places.append(path[-3].get("settings"))
        entry = next(filter(None, (_entry(place, key) for place in places)), None)
        if entry is None:
            break
        line, value = entry
        path.append(value)
    return line


def _entry(content: Any, key: str) -> tuple[int, Any] | None:
    """The line and the value of a key of a section, or of an item of a list by its number; None where there is none."""
    if isinstance(content, CommentedSeq):
        is_item = key.isdecimal() and int(key) < len(content)
        return (content.lc.item(int(key))[0] + 1, content[int(key)]) if is_item else None
    if not isinstance(content, CommentedMap):
        return None
    for name, (line, *_) in (content.lc.data or {}).items():
        if str(name) == key:
            return line + 1, content[name]
    return next(filter(None, (_entry(section, key) for section in content.merge)), None)
