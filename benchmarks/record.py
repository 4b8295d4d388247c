"""benchmarks/record.json: the measurements, with an entry for each name and processor.

A count has no processor, as it is the same on each. Old entries have only the machine's name for its processor, such as
"AMD EPYC", which several generations share.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from benchmarks.interleaved import ROOT
from preln.config import Execution
from preln.records import provenance
from preln.records.files import write_text
from preln.report.core.records import hardware_line

RECORD = ROOT / "benchmarks" / "record.json"

Entry = dict[str, Any]


def entries() -> list[Entry]:
    values: list[Entry] = json.loads(RECORD.read_text(encoding="utf-8"))
    return values


def find(name: str, processor: str = "") -> Entry:
    """The measurement with this name on a processor, or the count with this name.

    Raises:
        KeyError: if there is none.
    """
    return _by_name_and_processor()[name, processor]


def put(entry: Entry) -> None:
    """Write an entry, replacing that with its name and processor if there is one."""
    known = _by_name_and_processor()
    known[entry["name"], processor_of(entry)] = entry
    write_text(RECORD, json.dumps(list(known.values()), indent=1) + "\n")


def _by_name_and_processor() -> dict[tuple[str, str], Entry]:
    return {(entry["name"], processor_of(entry)): entry for entry in entries()}


def refuse_risen(counts: list[Entry]) -> None:
    """Check that no count is higher than recorded.

    Raises:
        SystemExit: with the counts that have risen.
    """
    known = {entry["name"]: entry["value"] for entry in entries() if "value" in entry}
    risen = [
        f"{entry['name']} is {entry['value']} (recorded: {known[entry['name']]})"
        for entry in counts
        if entry["value"] > known.get(entry["name"], entry["value"])
    ]
    if risen:
        advice = f"if this is intended, remove these entries from {RECORD.name} and count again"
        sys.exit(f"not recorded, as counts may only fall: {'; '.join(risen)}; {advice}")


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
