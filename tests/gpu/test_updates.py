"""Operations, launches and syncs of updates, on a fake GPU."""

import json
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
import torch

from benchmarks import fake_gpu, record
from benchmarks.launches import MODELS, PRECISIONS, RECORDED, Case, Model, Outcome, outcomes
from preln.placements import PLACEMENTS
from tests.conftest import MakeOnce

SMALL: dict[str, Any] = {"encoder_layers": 1, "decoder_layers": 1, "width": 32, "ffn_width": 64, "heads": 2}
SMALL_BERT: dict[str, Any] = {"layers": 1, "width": 32, "ffn_width": 64, "heads": 2}
SIZES: dict[Model, dict[str, Any]] = {"iwslt": SMALL, "bert-base": SMALL_BERT}
MORE: dict[str, Any] = {"accumulate": 2, "clip_norm": 0.5, "weight_decay": 0.01, "norm": "rms", "qk_norm": True}
TYPICAL = ("pre", "resi-dual")
"""The paper's second placement, and one with two streams; what is recorded is of Post-LN."""

RUNS: dict[str, Case] = {}
for precision in PRECISIONS:
    small, bert = {**SMALL, "precision": precision}, {**SMALL_BERT, "precision": precision}
    RUNS[f"ResiDual, {precision}"] = Case("iwslt", {**small, "placement": "resi-dual"})
    # BERT is pre-trained with Adam alone.
    RUNS[f"BERT, {precision}"] = Case("bert-base", {**bert, "placement": "pre", "accumulate": 2})
half = {**SMALL, "precision": "bf16"}
RUNS |= {f"{name}, bf16": Case("iwslt", {**half, "optimizer": name}) for name in ("radam", "sgd")}
RUNS["more settings, bf16"] = Case("iwslt", {**half, **MORE})
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
OTHERS = {
    "gradients": Case("iwslt", SMALL, part="gradients"),
    "first updates": Case("iwslt", SMALL, part="first-updates"),
    "validation of a fine-tuning": Case("fine-tuning", {**SMALL_BERT, "precision": "bf16"}, part="validation"),
}
CASES = UPDATES | PASSES | VALIDATIONS | SEARCHES | OTHERS

Seen = dict[str, Outcome]


@pytest.fixture(scope="session")
def seen(make_once: MakeOnce) -> Seen:
    """The outcome of each case, by name, from a single process; skips the tests where there can be no fake GPU."""
    if torch.cuda.is_available():
        pytest.skip("there is a GPU, and a fake one would take its place")

    def fill(folder: Path) -> None:
        try:
            results = outcomes(list(CASES.values()), fake_gpu.build(folder))
        except fake_gpu.NotBuilt as error:
            (folder / "why-not").write_text(str(error))
            return
        text = json.dumps({name: asdict(outcome) for name, outcome in zip(CASES, results, strict=True)})
        (folder / "seen.json").write_text(text)

    folder = make_once("updates on a fake GPU", fill)
    if (folder / "why-not").exists():
        pytest.skip(f"the fake GPU was not built: {(folder / 'why-not').read_text()}")
    return {name: Outcome(**fields) for name, fields in json.loads((folder / "seen.json").read_text()).items()}


# How often a case waits for the GPU: what a graph records reads no number, so nothing in it depends on the batch.
WAITS = dict.fromkeys(PASSES, 0) | dict.fromkeys(VALIDATIONS | SEARCHES, 1)


@pytest.mark.parametrize("name", CASES)
def test_it_has_no_device_or_dtype_error_and_every_attention_has_one_kernel(name: str, seen: Seen) -> None:
    assert not seen[name].error
    assert seen[name].launches > 0
    assert seen[name].attentions
    assert not set(seen[name].attentions) - {"flash", "efficient"}


@pytest.mark.parametrize("name", UPDATES)
def test_an_update_waits_for_the_norm_of_its_gradients_and_for_its_losses_alone(name: str, seen: Seen) -> None:
    functions = [line.rsplit(":", 1)[0] for line in seen[name].waits]
    assert sorted(functions) == [
        "fairseq_plugin/optimizers.py:clip_grad_norm",
        "fairseq_plugin/recorded_task.py:on_cpu",
    ]
    assert seen[name].syncs == 2


@pytest.mark.parametrize("name", WAITS)
def test_passes_wait_for_nothing_and_a_validation_or_a_step_of_the_search_once(name: str, seen: Seen) -> None:
    assert seen[name].syncs == WAITS[name], seen[name].waits


@pytest.mark.parametrize("precision", ["bf16", "fp16"])
@pytest.mark.parametrize("model", MODELS)
def test_weights_and_masters_are_copied_together(model: str, precision: str, seen: Seen) -> None:
    of_all = Counter(seen[f"{model}-{precision}"].operations)
    assert of_all["_foreach_copy_"] == 2
    of_fp32 = Counter(seen[f"{model}-fp32"].operations)
    assert of_all["copy_"] + of_all["zero_"] <= of_fp32["copy_"] + of_fp32["zero_"] + 1


@pytest.mark.parametrize("name", RECORDED)
def test_a_gpu_is_asked_for_no_more_than_the_record_says(name: str, seen: Seen) -> None:
    recorded = record.find(f"launches-{name}")["value"]
    assert seen[name].launches <= recorded, Counter(seen[name].lines).most_common(20)
