"""The notes of the preparation on a study's texts: likely mistakes in them, and pairs that were left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from preln.config.base import listed
from preln.corpora.text import Drops, in_words
from preln.jobs.base import Job
from preln.jobs.results import prepared_for
from preln.records.recording import Record
from preln.training import prepared_text

MOST_LEFT_OUT = 0.01
"""Share of a part's pairs that may be left out without a note."""


def of_study(jobs: Iterable[Job], results: Path) -> list[str]:
    """The notes on the texts that the jobs of a study read, once each. Where a text is not prepared beside `results`,
    the folder of the study's results, the record of a job that has read it tells."""
    texts: dict[str, dict[str, Any]] = {}
    for job in jobs:
        for text in job.prepared:
            if text.record and not texts.get(text.folder):
                texts[text.folder] = _record(job, text.folder, text.record, results)
    return [note for record in texts.values() for note in of_text(record)]


def _record(job: Job, folder: str, name: str, results: Path) -> dict[str, Any]:
    prepared = prepared_for(results, folder)
    if (prepared / "text" / name).exists():
        return prepared_text.record(prepared)
    record = Record(job, results / job.folder)
    # The record of another text says nothing of this one.
    content = {} if record.is_of_other_settings else record.content
    return dict(content.get("corpus") or content.get("text") or {})


def of_text(record: dict[str, Any]) -> list[str]:
    """The notes in the record of a prepared text: its warnings, and the parts of the user's own text of which pairs are
    left out."""
    notes = list(record.get("warnings", []))
    settings = record.get("settings", {})
    if record.get("source") != "files":
        return [*notes, *_of_english(record)]
    for name, part in record["parts"].items():
        # Pairs of train that are left out for being in valid or test are no fault of the text.
        drops = Drops(part["drops"] | {"held_out": 0, "not_chosen": 0})
        left_out = drops.total()
        total = part["pairs"] + left_out
        if left_out > MOST_LEFT_OUT * total:
            files = settings[name] or settings["train"]
            notes.append(
                f"{files['source']}, {files['target']}: of {total:,} pairs for {name}, left out: {in_words(drops)}"
            )
    return notes


def _of_english(record: dict[str, Any]) -> Iterator[str]:
    """The notes on what is left out of a user's own English text."""
    sources = record.get("settings", {}).get("sources", [])
    paths = [source["path"] for source in sources if source["source"] == "files"]
    reasons = {"documents": "without a sentence that a model reads", "sentences": "too long or unreadable for a model"}
    for unit, reason in reasons.items() if paths else ():
        parts = record["parts"]
        left_out = parts["dropped"]["empty_documents" if unit == "documents" else unit]
        total = left_out + sum(part[unit] for name, part in parts.items() if name != "dropped")
        total += parts["dropped"].get("copies", 0) if unit == "documents" else 0
        if left_out > MOST_LEFT_OUT * total:
            yield f"{listed(paths, 3)}: of {total:,} {unit}, left out: {left_out:,} {reason}"


def told(notes: list[str]) -> list[str]:
    """The lines that say the notes; none where there is none."""
    return ["About the text:", *(f"  {note}" for note in notes)] if notes else []
