"""What an update of each model of the bench takes, beside one of Post-LN."""

from __future__ import annotations

from benchmarks.record import Entry, entries, processor_of
from docs.bench.models import models_of
from docs.markdown import grid
from preln.config import RunSettings


def entry_of(settings: RunSettings) -> str:
    """The name under which a model's training steps are recorded."""
    options = ["rms"] * (settings.norm == "rms") + ["qk"] * settings.qk_norm
    return "-".join(["placement", settings.placement, *options])


def time_beside_post_ln(entry: Entry | None) -> str:
    """How many times as long as Post-LN's an update takes: the median of the rounds, the shortest and the longest.
    Nothing of a model that was not timed."""
    if entry is None:
        return ""
    # A ratio of the record is of speeds.
    return f"{1 / entry['ratio']:.2f} ({1 / entry['high']:.2f} to {1 / entry['low']:.2f})"


def table() -> str:
    """The models of the bench, with the cost of an update on each processor on which it was timed."""
    timed: dict[str, dict[str, Entry]] = {}
    for entry in entries():
        if entry["name"].startswith("placement-"):
            timed.setdefault(processor_of(entry), {})[entry["name"]] = entry
    rows = [
        (name, *(time_beside_post_ln(its.get(entry_of(settings))) for its in timed.values()))
        for name, settings in models_of("placements-depth").items()
        if name != "Post-LN"
    ]
    return grid(["", *timed], rows)
