"""benchmarks/record.json: what was measured, an entry for each name and processor.

A count has no processor: it is the same on each. Entries that were made before processors were told apart have the name
that the machine gave its processor, such as "AMD EPYC", which is that of several generations.
"""

from __future__ import annotations

import json
from typing import Any

from benchmarks.interleaved import ROOT
from preln.records import provenance
from preln.records.files import write_text

RECORD = ROOT / "benchmarks" / "record.json"

Entry = dict[str, Any]


def entries() -> list[Entry]:
    """All that was measured."""
    found: list[Entry] = json.loads(RECORD.read_text(encoding="utf-8"))
    return found


def find(name: str, processor: str = "") -> Entry:
    """What was measured under a name on a processor, or counted.

    Raises:
        KeyError: if there is nothing; it says on which processors there is.
    """
    of_name = {processor_of(entry): entry for entry in entries() if entry["name"] == name}
    if processor not in of_name:
        raise KeyError(f"{name} was not measured on {processor or 'none'!r}, but on {sorted(of_name)}")
    return of_name[processor]


def put(entry: Entry) -> None:
    """Write an entry in the place of the one that has its name and its processor, or behind all others."""
    known = {(one["name"], processor_of(one)): one for one in entries()}
    known[entry["name"], processor_of(entry)] = entry
    write_text(RECORD, json.dumps(list(known.values()), indent=1) + "\n")


class Risen(Exception):
    """A count is higher than the recorded one."""


def refuse_risen(counts: list[Entry]) -> None:
    """Let counts pass of which none is higher than the recorded one.

    Raises:
        Risen: otherwise; it says which, and what to do.
    """
    known = {entry["name"]: entry["value"] for entry in entries() if "value" in entry}
    risen = [
        f"{one['name']} is {one['value']} (recorded: {known[one['name']]})"
        for one in counts
        if one["value"] > known.get(one["name"], one["value"])
    ]
    if risen:
        how = f"if that is meant, remove these entries from {RECORD.name} and count again"
        raise Risen(f"not recorded, for these counts may only fall: {'; '.join(risen)}; {how}")


def processor_of(entry: Entry) -> str:
    """On which processor an entry was measured; nothing if it is a count."""
    if "value" in entry:
        return ""
    return str(entry.get("processor") or entry["hardware"].split(",")[0])


def processor(hardware: dict[str, Any]) -> str:
    """The processor of this machine, of what a record says of its hardware: its name, its family and model, by which
    Linux tells generations of the same name apart, and the instructions of the compiled loops."""
    known = {}
    if provenance.PROCESSORS.exists():
        lines = (line.split(":", 1) for line in provenance.PROCESSORS.read_text().splitlines() if ":" in line)
        known = {key.strip(): value.strip() for key, value in lines}
    numbers = (f"{word} {known[key]}" for word, key in (("family", "cpu family"), ("model", "model")) if key in known)
    return ", ".join([hardware["processor"], *numbers, hardware["loops"]])
