"""What updates ask of a GPU, seen on one that is not there."""

from __future__ import annotations

import json
from typing import Any

import pytest

from benchmarks.interleaved import ROOT
from benchmarks.launches import MODELS, PRECISIONS, Case
from preln.placements import PLACEMENTS
from tests.gpu.conftest import Seen

pytestmark = pytest.mark.slow

SMALL: dict[str, Any] = {"encoder_layers": 2, "decoder_layers": 2, "width": 32, "ffn_width": 64, "heads": 2}
SMALL_BERT: dict[str, Any] = {"layers": 2, "width": 32, "ffn_width": 64, "heads": 2}
FEW = ("post", "pre", "deepnorm", "resi-dual")
"""Placements that go through every precision: the paper's, one that scales, and one with two streams."""

FULL = {f"{model}-{precision}": Case(model, {"precision": precision}) for model in MODELS for precision in PRECISIONS}
"""The updates of the record."""
RUNS = {
    f"{placement}, {precision}": Case("iwslt", {**SMALL, "placement": placement, "precision": precision})
    for placement in PLACEMENTS
    for precision in (PRECISIONS if placement in FEW else ["bf16"])
} | {
    f"{optimizer}, {precision}": Case("iwslt", {**SMALL, "optimizer": optimizer, "precision": precision})
    for optimizer in ("radam", "sgd")
    for precision in PRECISIONS
}
SETTINGS: dict[str, dict[str, Any]] = {
    "accumulation": {"accumulate": 4},
    "clipping and weight decay": {"clip_norm": 0.5, "weight_decay": 0.01},
    "RMSNorm and QK-norm": {"norm": "rms", "qk_norm": True},
}
RUNS |= {
    f"{name}, {precision}": Case("iwslt", {**SMALL, "precision": precision, **changes})
    for name, changes in SETTINGS.items()
    for precision in PRECISIONS
}
RUNS |= {
    f"BERT, {placement}, {precision}": Case("bert-base", {**SMALL_BERT, "placement": placement, "precision": precision})
    for placement in FEW
    for precision in PRECISIONS
}
RUNS |= {
    f"BERT, accumulation, {precision}": Case("bert-base", {**SMALL_BERT, "accumulate": 4, "precision": precision})
    for precision in PRECISIONS
}
CASES = FULL | RUNS


@pytest.mark.parametrize("name", CASES)
def test_an_update_has_no_device_or_dtype_error(name: str, seen: Seen) -> None:
    assert not seen[name].error
    assert seen[name].launches > 0


@pytest.mark.parametrize("name", FULL)
@pytest.mark.parametrize("what", ["launches", "syncs"])
def test_an_update_asks_no_more_of_a_gpu_than_the_record_says(what: str, name: str, seen: Seen) -> None:
    record = {entry["name"]: entry for entry in json.loads((ROOT / "benchmarks" / "record.json").read_text())}
    found, recorded = getattr(seen[name], what), record[f"{what}-{name}"]["value"]
    by = seen[name].lines if what == "launches" else seen[name].waits
    assert found <= recorded, sorted(by.items(), key=lambda one: -one[1])[:20]
