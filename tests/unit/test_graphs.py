"""A training whose passes are recorded as graphs makes the updates of one whose passes are not."""

import logging
from collections import Counter
from dataclasses import asdict, replace
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from fairseq.trainer import Trainer
from torch import Tensor
from torch.fx.experimental.proxy_tensor import make_fx

from benchmarks.capacities import measure
from benchmarks.training import Rerun
from preln.config import Execution
from preln.fairseq_plugin import graphs, launch
from preln.fairseq_plugin.batches import Noted
from preln.fairseq_plugin.graphs import Graphs, Passes
from preln.fairseq_plugin.packing import unpack
from preln.fused import attention, native
from preln.fused.attention import Packed
from preln.training.state import RunState
from tests.conftest import settings
from tests.models import options_of, trainer

pytestmark = [pytest.mark.numbers, pytest.mark.slow]


class Recording(Rerun):
    """A recording that counts how often any was replayed."""

    replays = 0

    def replay(self) -> None:
        Recording.replays += 1
        super().replay()


@pytest.fixture(autouse=True)
def on_a_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graphs, "Recording", Recording)
    monkeypatch.setattr(Recording, "replays", 0)


def arguments(prepared: Path, state: Path, **changes: Any) -> list[str]:
    """The options of a run with dropout, on the text of the tests, that packs its batches."""
    run = settings(dropout=0.1, schedule="constant", warmup=0, **changes)
    return options_of(run, prepared, state, gpus=1, graphs=True)


def training(prepared: Path, state: Path, precision: str = "fp32", **changes: Any) -> Trainer:
    return trainer(arguments(prepared, state, precision=precision, **changes), precision)


def batches(training: Trainer) -> list[dict[str, Any]]:
    dataset = training.task.dataset("train")
    iterator = training.task.get_batch_iterator(dataset, max_tokens=256, seed=1, epoch=1)
    return list(iterator.next_epoch_itr(shuffle=False))


def updated(training: Trainer, samples: list[dict[str, Any]], accumulate: int) -> list[Tensor]:
    """The losses of updates by `accumulate` batches each, and the weights after them."""
    losses = []
    for start in range(0, len(samples), accumulate):
        log = training.train_step(samples[start : start + accumulate])
        losses.append(torch.tensor(log["loss"]))
    return [*losses, *(weight.detach().clone() for weight in training.get_model().parameters())]


@pytest.mark.parametrize(("precision", "accumulate"), [("fp32", 1), ("bf16", 2)])
def test_updates_by_graphs_are_those_without(precision: str, accumulate: int, prepared: Path, tmp_path: Path) -> None:
    by_graphs, plain = (training(prepared, tmp_path, precision, accumulate=accumulate) for _ in range(2))
    plain.task.examples = list
    samples = batches(by_graphs)[:8]
    assert all("capacity" in sample for sample in samples)
    # Two that do not fit: one before the graphs are recorded, one behind a replay of the same update.
    noted = replace(by_graphs.task._batches.collate_fn, capacities=())
    dataset = by_graphs.task.dataset("train")
    for place in (0, 5):
        samples[place] = noted([dataset[number] for number in by_graphs.task._batches.frozen_batches[place]])
    computed = updated(by_graphs, samples, accumulate)
    assert Recording.replays >= len(samples) - 2
    for ours, theirs in zip(computed, updated(plain, samples, accumulate), strict=True):
        assert ours.equal(theirs)


def test_every_capacity_has_a_graph_before_the_first_update(prepared: Path, tmp_path: Path) -> None:
    by_graphs = training(prepared, tmp_path)
    samples = batches(by_graphs)
    by_graphs.train_step(samples[:1])
    capacities = {sample["capacity"] for sample in samples}
    assert len(capacities) > 1
    assert set(by_graphs.task._graphs._graphs) == capacities


def test_modules_with_hooks_are_called(prepared: Path, tmp_path: Path) -> None:
    by_graphs = training(prepared, tmp_path)
    sample = batches(by_graphs)[0]
    by_graphs.train_step([sample])
    replays, called = Recording.replays, list[Any]()
    hook = by_graphs.get_model().decoder.layers[0].register_forward_hook(lambda *call: called.append(call))
    by_graphs.train_step([sample])
    assert called
    assert Recording.replays == replays
    hook.remove()
    by_graphs.train_step([sample])
    assert Recording.replays == replays + 1


def test_a_graph_that_differs_from_its_pass_is_not_used_and_said(
    prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    # The replays lose what they add to the gradients.
    monkeypatch.setattr(Recording, "replay", lambda recording: None)
    by_graphs, plain = training(prepared, tmp_path), training(prepared, tmp_path)
    plain.task.examples = list
    samples = batches(by_graphs)[:3]
    with caplog.at_level(logging.WARNING):
        computed = updated(by_graphs, samples, 1)
    assert "is not used: its first replay differs" in caplog.text
    assert all(ours.equal(theirs) for ours, theirs in zip(computed, updated(plain, samples, 1), strict=True))


def test_a_replay_has_the_loss_scale_of_its_update_and_not_of_the_recording(prepared: Path, tmp_path: Path) -> None:
    built = training(prepared, tmp_path)
    sample = batches(built)[0]
    scaler = SimpleNamespace(loss_scale=128.0)
    passes = Passes(built.get_model(), built.get_criterion(), SimpleNamespace(scaler=scaler), None)
    recorded = Graphs(passes, [(sample, sample)])
    weight = built.get_model().decoder.layers[0].fc1.weight
    gradients = []
    for scale in (128.0, 32.0):
        scaler.loss_scale = scale
        built.get_model().zero_grad()
        torch.manual_seed(1)
        recorded.step(sample)
        gradients.append(weight.grad.clone())
    assert gradients[0].any()
    torch.testing.assert_close(gradients[0], 4 * gradients[1])


def masked(query: Tensor, key: Tensor, value: Tensor, queries: Packed, keys: Packed, causal: bool, p: float) -> Tensor:
    """Attention of packed sentences in operations that, as the kernels of a GPU, are the same for all lengths."""
    rows = [torch.arange(len(x)) for x in (query, key)]
    sentence, attended_to = (
        torch.searchsorted(side.offsets[1:], places, right=True)
        for side, places in zip((queries, keys), rows, strict=True)
    )
    hidden = sentence[:, None].ne(attended_to)
    if causal:
        hidden = hidden | (rows[0][:, None] < rows[1])
    scores = torch.einsum("qhd,khd->hqk", query, key) * query.size(-1) ** -0.5
    return torch.einsum("hqk,khd->qhd", scores.masked_fill(hidden, -torch.inf).softmax(-1), value)


@pytest.mark.parametrize("placement", ["post", "resi-dual"])
def test_what_was_recorded_of_one_batch_computes_another(
    placement: str, prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Operations are traced as a graph has them: a number that Python took from the first batch would stay."""
    # The operations of a GPU: no compiled loops, and no attention that asks for lengths.
    monkeypatch.setattr(native, "_LIBRARY", None)
    monkeypatch.setattr(attention, "_attend_packed", masked)
    built = training(prepared, tmp_path, placement=placement, qk_norm=True)
    first, second = next(
        (a, b)
        for a, b in combinations(batches(built), 2)
        if a["capacity"] == b["capacity"] and a["ntokens"] != b["ntokens"] and a["nsentences"] != b["nsentences"]
    )
    model, criterion = built.get_model().double().eval(), built.get_criterion()

    def compute(numbers: Tensor) -> list[Tensor]:
        loss, nll = criterion.sums(model, {"capacity": first["capacity"], "numbers": numbers})
        return [loss, nll, *torch.autograd.grad(loss, list(model.parameters()))]

    recorded = make_fx(compute)(first["numbers"])
    for ours, theirs in zip(recorded(second["numbers"]), compute(second["numbers"]), strict=True):
        torch.testing.assert_close(ours, theirs)


def test_the_recorded_capacities_of_a_text_are_those_of_its_trainings(prepared: Path, tmp_path: Path) -> None:
    built = training(prepared, tmp_path)
    samples = list(built.get_train_iterator(1).next_epoch_itr(shuffle=False))
    counts = Counter(sample["capacity"] for sample in samples)
    measured = measure(prepared, built.task.settings.batch_tokens)
    sizes = sorted(counts, key=lambda capacity: sum(capacity.rows))
    assert measured["capacities"] == [{**asdict(size), "batches": counts[size]} for size in sizes]
    assert measured["value"] == sum(len(side.tokens) for sample in samples for side in unpack(sample)[:2])
    assert measured["words"] == sum(int(side.tokens.ne(1).sum()) for sample in samples for side in unpack(sample)[:2])
    assert measured["words"] <= measured["stock"]


def test_validations_stay_padded(prepared: Path, tmp_path: Path) -> None:
    built = training(prepared, tmp_path)
    built.task.load_dataset("valid")
    iterator = built.task.get_batch_iterator(built.task.dataset("valid"), max_tokens=256, seed=1, epoch=1)
    assert isinstance(iterator.collate_fn, Noted)
    assert not iterator.collate_fn.capacities


def test_a_training_that_goes_on_in_its_second_epoch_ends_as_a_whole_one(prepared: Path, tmp_path: Path) -> None:
    records = []
    for name, stops in {"whole": [2], "stopped": [1, 2]}.items():
        state = RunState(tmp_path / name)
        state.folder.mkdir()
        for epochs in stops:
            changes = {"epochs": epochs, "batch_tokens": 2048, "bleu_sentences": 2}
            launch.train(arguments(prepared, state.folder, **changes), "fp32", state, Execution())
        assert Recording.replays
        records.append([(entry["epoch"], entry["part"], entry.get("nll_loss")) for entry in state.entries()])
    assert len(records[0]) == 10
    assert records[0] == records[1]
