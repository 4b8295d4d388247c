"""The capacities of a text's packed batches: `python -m benchmarks.capacities PREPARED`.

PREPARED is the folder of a prepared text, such as `resources/corpora/iwslt14-c34768d6`. Its batches have the paper's
4,096 tokens. The entry in benchmarks/record.json holds the capacities, each with its number of batches in an epoch, the
rows of all these batches, and beside them their words and the places of fairseq's padded batches.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from dataclasses import asdict
from pathlib import Path

from fairseq import tasks

from benchmarks import record
from benchmarks.samples import RUN, SIZES
from preln.config import Execution, RunSettings
from preln.fairseq_plugin import options
from preln.fairseq_plugin.launch import configuration
from preln.fairseq_plugin.packing import Capacity, fitting
from preln.training import prepared_text


def measure(prepared: Path, tokens: int) -> record.Entry:
    """The entry of a prepared text, whose batches have so many tokens."""
    languages = prepared_text.record(prepared)["languages"]
    arguments = options.translation(
        RunSettings.model_validate({**RUN, "batch_tokens": tokens}),
        prepared / "binary",
        prepared / "text",
        (languages["source"], languages["target"]),
        prepared,
        Execution(gpus=1, graphs=True),
    )
    cfg = configuration(arguments, "fp32")
    task = tasks.setup_task(cfg.task)
    task.load_dataset("train")
    pairs, multiple = task.dataset("train"), cfg.dataset.required_batch_size_multiple
    batches = task.get_batch_iterator(pairs, max_tokens=tokens, required_batch_size_multiple=multiple)
    counts: Counter[Capacity] = Counter()
    places = words = 0
    for batch in batches.frozen_batches:
        source, target = pairs.src_sizes[batch], pairs.tgt_sizes[batch]
        held = fitting(batches.collate_fn.capacities, (source.tolist(), target.tolist()))
        assert held is not None, "capacities hold all batches of their text"
        counts[held[0]] += 1
        places += len(batch) * int(source.max() + target.max())
        words += int(source.sum() + target.sum())
    return {
        "name": f"capacities-{prepared.name}",
        "baseline": "places of padded batches",
        "value": sum(sum(capacity.rows) * number for capacity, number in counts.items()),
        "stock": places,
        "words": words,
        "capacities": [{**asdict(capacity), "batches": counts[capacity]} for capacity in batches.collate_fn.capacities],
        **record.origin(1),
    }


if __name__ == "__main__":
    entry = measure(Path(sys.argv[1]).resolve(), SIZES["B"]["batch_tokens"])
    record.put(entry)
    print(json.dumps(entry, indent=1))
