"""benchmarks/record.json: the measurements, with an entry for each name and processor.

A count has no processor, as it is the same on each. Old entries have only the machine's name for its processor, such as
"AMD EPYC", which several generations share.
"""

from __future__ import annotations

import json
from typing import Any

from benchmarks.interleaved import ROOT
from preln.config import Execution
from preln.records import provenance
from preln.records.files import write_text
from preln.report.core.records import hardware_line

RECORD = ROOT / "benchmarks" / "record.json"

Entry = dict[str, Any]


def entries() -> list[Entry]:
    """All measurements."""
    values: list[Entry] = json.loads(RECORD.read_text(encoding="utf-8"))
    return values


def find(name: str, processor: str = "") -> Entry:
    """The measurement or count with this name on a processor.

    Raises:
        KeyError: if there is none; the message has the measured processors.
    """
    by_processor = {processor_of(entry): entry for entry in entries() if entry["name"] == name}
    if processor not in by_processor:
        raise KeyError(f"{name} was not measured on {processor or 'none'!r}, but on {sorted(by_processor)}")
    return by_processor[processor]


def put(entry: Entry) -> None:
    """Write an entry, replacing that with its name and processor if there is one."""
    known = {(old["name"], processor_of(old)): old for old in entries()}
    known[entry["name"], processor_of(entry)] = entry
    write_text(RECORD, json.dumps(list(known.values()), indent=1) + "\n")


class Risen(Exception):
    """A count is higher than the recorded one."""


def refuse_risen(counts: list[Entry]) -> None:
    """Check that no count is higher than recorded.

    Raises:
        Risen: with the counts that have risen.
    """
    known = {entry["name"]: entry["value"] for entry in entries() if "value" in entry}
    risen = [
        f"{entry['name']} is {entry['value']} (recorded: {known[entry['name']]})"
        for entry in counts
        if entry["value"] > known.get(entry["name"], entry["value"])
    ]
    if risen:
        advice = f"if this is intended, remove these entries from {RECORD.name} and count again"
        raise Risen(f"not recorded, as counts may only fall: {'; '.join(risen)}; {advice}")


def origin(cores: int) -> Entry:
    """An entry's machine, of which it had so many cores, and commit."""
    machine = provenance.hardware(Execution(cpus=cores))
    commit = provenance.commit()["commit"]
    return {"hardware": hardware_line(machine), "processor": processor(machine), "commit": commit}


def processor_of(entry: Entry) -> str:
    """The processor of an entry; empty for a count."""
    if "value" in entry:
        return ""
    return str(entry.get("processor") or entry["hardware"].split(",")[0])


def processor(hardware: dict[str, Any]) -> str:
    """This machine's processor, from a record's hardware: its name, its family and model, which distinguish generations
    of the same name, and the instructions of the compiled loops."""
    known = {}
    if provenance.PROCESSORS.exists():
        lines = (line.split(":", 1) for line in provenance.PROCESSORS.read_text().splitlines() if ":" in line)
        known = {key.strip(): value.strip() for key, value in lines}
    numbers = (f"{word} {known[key]}" for word, key in (("family", "cpu family"), ("model", "model")) if key in known)
    return ", ".join([hardware["processor"], *numbers, hardware["loops"]])
