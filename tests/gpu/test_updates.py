"""Operations, launches and syncs of updates, on a fake GPU."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from benchmarks import record
from benchmarks.launches import MODELS, PRECISIONS, RECORDED, Case, Model
from preln.placements import PLACEMENTS
from tests.gpu.conftest import Seen

pytestmark = pytest.mark.slow

SMALL: dict[str, Any] = {"encoder_layers": 1, "decoder_layers": 1, "width": 32, "ffn_width": 64, "heads": 2}
SMALL_BERT: dict[str, Any] = {"layers": 1, "width": 32, "ffn_width": 64, "heads": 2}
SIZES: dict[Model, dict[str, Any]] = {"iwslt": SMALL, "bert-base": SMALL_BERT}
MORE: dict[str, Any] = {"accumulate": 2, "clip_norm": 0.5, "weight_decay": 0.01, "norm": "rms", "qk_norm": True}
TYPICAL = ("post", "pre", "resi-dual")
"""The paper's placements, and one with two streams."""

RUNS: dict[str, Case] = {}
for precision in PRECISIONS:
    small, bert = {**SMALL, "precision": precision}, {**SMALL_BERT, "precision": precision}
    RUNS |= {f"{name}, {precision}": Case("iwslt", {**small, "placement": name}) for name in TYPICAL}
    RUNS |= {f"{name}, {precision}": Case("iwslt", {**small, "optimizer": name}) for name in ("radam", "sgd")}
    RUNS[f"more settings, {precision}"] = Case("iwslt", {**small, **MORE})
    # BERT is pre-trained with Adam alone.
    RUNS[f"BERT, {precision}"] = Case("bert-base", {**bert, "placement": "pre", "accumulate": 2})
VALIDATIONS = {
    f"validation of {model}, {precision}": Case(model, {**small, "precision": precision}, part="validation")
    for model, small in SIZES.items()
    for precision in PRECISIONS
}
PASSES = {
    f"passes, {name}": Case(
        "iwslt", {**SMALL, "placement": name, "precision": "bf16", "norm": "rms", "qk_norm": True}, part="passes"
    )
    for name in PLACEMENTS
} | {name: case for name, case in RECORDED.items() if case.part == "passes"}
UPDATES = RUNS | {name: case for name, case in RECORDED.items() if case.part == "update"}
SEARCHES = {f"search, {name}": Case("iwslt", {**SMALL, "placement": name, **MORE}, part="search") for name in TYPICAL}
SEARCHES |= {name: case for name, case in RECORDED.items() if case.part.startswith("search")}
SEARCHES["search-closing"] = Case("iwslt", SMALL, part="search-closing")
THEORY = {
    "gradients": Case("iwslt", SMALL, part="gradients"),
    "first updates": Case("iwslt", SMALL, part="first-updates"),
}
FINE_TUNING = {
    "validation of a fine-tuning": Case("fine-tuning", {**SMALL_BERT, "precision": "bf16"}, part="validation")
}
CASES = UPDATES | PASSES | VALIDATIONS | SEARCHES | THEORY | FINE_TUNING


@pytest.mark.parametrize("name", CASES)
def test_it_has_no_device_or_dtype_error(name: str, seen: Seen) -> None:
    assert not seen[name].error
    assert seen[name].launches > 0


@pytest.mark.parametrize("name", UPDATES)
def test_an_update_waits_for_the_norm_of_its_gradients_and_for_its_losses_and_for_nothing_else(
    name: str, seen: Seen
) -> None:
    functions = [line.rsplit(":", 1)[0] for line in seen[name].waits]
    assert sorted(functions) == [
        "fairseq_plugin/optimizers.py:clip_grad_norm",
        "fairseq_plugin/recorded_task.py:on_cpu",
    ]
    assert seen[name].syncs == 2


@pytest.mark.parametrize("name", PASSES)
def test_what_a_graph_records_waits_for_nothing(name: str, seen: Seen) -> None:
    """No number is read, so nothing that is launched depends on the batch."""
    assert seen[name].syncs == 0, seen[name].waits


@pytest.mark.parametrize("name", VALIDATIONS)
def test_a_batch_is_validated_with_one_wait(name: str, seen: Seen) -> None:
    assert seen[name].syncs == 1, seen[name].waits


@pytest.mark.parametrize("name", SEARCHES)
def test_a_step_of_the_beam_search_has_one_wait(name: str, seen: Seen) -> None:
    assert seen[name].syncs == 1, seen[name].waits


def test_a_step_of_the_beam_search_launches_at_most_120_operations(seen: Seen) -> None:
    assert seen["search-fp32"].launches <= 120
    assert seen["search-limit-fp32"].launches <= 120


@pytest.mark.parametrize(("precision", "most"), [("fp32", 800), ("bf16", 800), ("fp16", 900)])
def test_an_update_of_the_iwslt_model_stays_under_its_ceiling_whatever_the_record_says(
    precision: str, most: int, seen: Seen
) -> None:
    assert seen[f"iwslt-{precision}"].launches <= most


@pytest.mark.parametrize("name", CASES)
def test_every_attention_has_one_kernel(name: str, seen: Seen) -> None:
    assert seen[name].attentions
    assert not set(seen[name].attentions) - {"flash", "efficient"}


@pytest.mark.parametrize("precision", ["bf16", "fp16"])
@pytest.mark.parametrize("model", MODELS)
def test_weights_and_masters_are_copied_together(model: str, precision: str, seen: Seen) -> None:
    of_all = Counter(seen[f"{model}-{precision}"].operations)
    assert of_all["_foreach_copy_"] == 2
    of_fp32 = Counter(seen[f"{model}-fp32"].operations)
    assert of_all["copy_"] + of_all["zero_"] <= of_fp32["copy_"] + of_fp32["zero_"] + 1


@pytest.mark.parametrize("name", RECORDED)
@pytest.mark.parametrize("what", ["launches", "syncs"])
def test_a_gpu_is_asked_for_no_more_than_the_record_says(what: str, name: str, seen: Seen) -> None:
    result, recorded = getattr(seen[name], what), record.find(f"{what}-{name}")["value"]
    by = seen[name].lines if what == "launches" else seen[name].waits
    assert result <= recorded, sorted(by.items(), key=lambda one: -one[1])[:20]
