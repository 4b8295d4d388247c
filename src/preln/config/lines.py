"""On which line of its file each value of a study stands."""

from __future__ import annotations

import itertools
import re
from collections import ChainMap
from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass, field, replace
from typing import Any

import yaml

_END_OF_A_KEY = re.compile("[.:] ?")


@dataclass(frozen=True)
class Written:
    """A value as a file has it.

    Attributes:
        line: of its key, or of the item of a list; of the first key, for the whole file.
        inside: what is inside of it, by key or by number. What it takes over from elsewhere (aliases, `<<`, and the
            `settings` of a grid in each of its `runs`) has the line on which it is written.
        is_list: whether it is a list.
    """

    line: int
    inside: MutableMapping[str, Written] = field(default_factory=dict)
    is_list: bool = False

    def line_of(self, told: str) -> int:
        """The line of what a message is about, which begins with a dotted key: of that key, or where the file does not
        have it, of the innermost section that should."""
        first, *rest = _END_OF_A_KEY.split(told, maxsplit=1)
        return self.inside[first].line_of(rest[0]) if rest and first in self.inside else self.line


def written(text: str) -> Written:
    """The content of a YAML file that `preln.config.read` accepts."""
    events = (
        event
        for event in yaml.parse(text, yaml.CSafeLoader)
        if isinstance(event, yaml.NodeEvent | yaml.CollectionEndEvent)
    )
    return _value(next(events), events, {})


def _value(event: Any, events: Iterator[Any], anchors: dict[str | None, Written], line: int | None = None) -> Written:
    """The value that begins with an event, with what follows of it; on the line of its key, if it has one."""
    line = line or event.start_mark.line + 1
    if isinstance(event, yaml.AliasEvent):
        return replace(anchors[event.anchor], line=line)
    found = Written(line)
    if isinstance(event, yaml.SequenceStartEvent):
        items = itertools.takewhile(lambda one: not isinstance(one, yaml.SequenceEndEvent), events)
        inside = {str(number): _value(item, events, anchors) for number, item in enumerate(items)}
        found = Written(line, inside, is_list=True)
    elif isinstance(event, yaml.MappingStartEvent):
        found = Written(line, _keys(events, anchors))
    if event.anchor:
        anchors[event.anchor] = found
    return found


def _keys(events: Iterator[Any], anchors: dict[str | None, Written]) -> MutableMapping[str, Written]:
    """The values of a section whose start was read, with those that it takes over."""
    own: dict[str, Written] = {}
    for event in itertools.takewhile(lambda one: not isinstance(one, yaml.MappingEndEvent), events):
        key = _value(event, events, anchors)
        own[getattr(event, "value", "")] = _value(next(events), events, anchors, key.line)
    if "settings" in own and "runs" in own:
        common, runs = own["settings"].inside, own["runs"]
        each = {number: replace(run, inside=ChainMap({}, run.inside, common)) for number, run in runs.inside.items()}
        own["runs"] = replace(runs, inside=each)
    merged = own.pop("<<", Written(0))
    return ChainMap(own, *(one.inside for one in (merged.inside.values() if merged.is_list else [merged])))
