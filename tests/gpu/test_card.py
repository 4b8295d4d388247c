"""A training on a GPU that is there: it ends as on a CPU, to a tolerance, interrupted or not."""

import copy
import json
import math
import os
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import torch
from fairseq.trainer import Trainer

from benchmarks import gpu
from benchmarks.samples import PAD, batches, dictionaries, masked_batches
from benchmarks.training import masked_trainer, translation_trainer
from preln.config import Execution
from preln.fairseq_plugin import decoding
from preln.fairseq_plugin.batches import Noted
from preln.fairseq_plugin.launch import set_up_cuda
from preln.language.trainer import Trainer as LanguageTrainer
from tests.conftest import language_settings
from tests.made_up.language import small_text
from tests.moments import NewHold, in_epoch
from tests.trainings import finish, kill_at, write_study

REHEARSAL = gpu.REHEARSAL in os.environ
"""True if the tests are rehearsed on a CPU."""

pytestmark = pytest.mark.skipif(
    not (torch.cuda.is_available() or REHEARSAL), reason="there is no GPU that PyTorch can use (make gpu rehearses)"
)

GPUS, DEVICE = (0, "cpu") if REHEARSAL else (1, "cuda")
PRECISIONS = {"fp32": 1e-3, "bf16": 3e-2, "fp16": 1e-2}
"""How far, relatively, a loss may lie from that of the CPU in fp32."""
UPDATES = 12


@pytest.fixture(params=PRECISIONS)
def precision(request: pytest.FixtureRequest) -> str:
    """Each precision that the card has. A rehearsal tries bf16 alone: a CPU has it, and the CPU beside it computes in
    fp32."""
    if request.param != "bf16" and REHEARSAL:
        pytest.skip("a rehearsal tries bf16 alone")
    return str(request.param)


def trainer_on(gpus: int, precision: str, placement: str, is_bert: bool = False) -> Trainer:
    """A trainer of a small translation model, or of a small BERT, without dropout."""
    set_up_cuda()
    changes, execution = {"placement": placement, "dropout": 0.0}, Execution(gpus=gpus)
    if is_bert:
        return masked_trainer("preln", "bert-tiny", precision, execution, changes)
    small = {"encoder_layers": 2, "decoder_layers": 2, "width": 64, "ffn_width": 128, "heads": 2}
    return translation_trainer("preln", {**small, **changes}, precision, dictionaries(500), execution)


def samples(is_bert: bool = False) -> list[Any]:
    """Batches of pairs of sentences, or of sentences with masked words."""
    plain = masked_batches("bert-tiny") if is_bert else batches("tiny", dictionaries(500))
    return [Noted(dict, PAD)(sample) for sample in plain]


def trained(trainer: Trainer, given: list[Any]) -> list[float]:
    """Train, and say the losses."""
    logs = [trainer.train_step([given[update % len(given)]]) for update in range(UPDATES)]
    # An update that overflows in fp16, as first ones do, has no log.
    return [float(log["loss"]) if log else math.nan for log in logs]


@pytest.mark.parametrize("placement", ["post", "pre"])
@pytest.mark.parametrize("is_bert", [False, True], ids=["translation", "BERT"])
def test_a_short_training_has_the_losses_of_the_cpu(precision: str, is_bert: bool, placement: str) -> None:
    on_cpu, on_card = (
        trained(trainer_on(gpus, kind, placement, is_bert), samples(is_bert))
        for kind, gpus in (("fp32", 0), (precision, GPUS))
    )
    if precision == "fp16":
        # Another update than on the CPU follows one that overflowed; the first loss is of the same weights.
        on_card = [loss for loss in on_card if not math.isnan(loss)]
        assert min(on_card) < on_cpu[0]
        on_cpu, on_card = on_cpu[:1], on_card[:1]
    assert on_card == pytest.approx(on_cpu, rel=PRECISIONS[precision])


@pytest.mark.parametrize("placement", ["post", "pre"])
def test_a_language_model_with_graphs_has_the_losses_of_one_without(placement: str) -> None:
    changes = {"placement": placement, "precision": "bf16", "dropout": 0.1, "accumulate": 2}
    settings = language_settings(**changes)
    graphs, eager = (LanguageTrainer(settings, small_text(), device=DEVICE) for _ in range(2))
    graphs.compile()
    # A CPU's compiled loops cannot be traced.
    assert REHEARSAL or graphs._compiled is not None
    losses = [[training.update()[0] for _ in range(UPDATES)] for training in (graphs, eager)]
    assert losses[0] == pytest.approx(losses[1], rel=PRECISIONS["bf16"])


def test_the_search_finds_the_translations_of_the_cpu() -> None:
    trainer = trainer_on(0, "fp32", "pre")
    trained(trainer, samples())
    model = trainer.get_model().eval()
    source, lengths = (samples()[0]["net_input"][name] for name in ("src_tokens", "src_lengths"))
    on_cpu = decoding.search(model, source, lengths, 5, 1.0)
    on_card = decoding.search(copy.deepcopy(model).to(DEVICE), source.to(DEVICE), lengths, 5, 1.0)
    same = [left[0].pieces == right[0].pieces for left, right in zip(on_cpu, on_card, strict=True)]
    # Two hypotheses with nearly one score may change places.
    assert sum(same) >= 0.9 * len(same)


def test_a_killed_training_ends_as_a_whole_one(precision: str, hold: NewHold, prepared: Path, tmp_path: Path) -> None:
    """The last digits are other ones each time, so what is compared is the curve to a tolerance."""
    curves = []
    for name, moments in {"whole": [], "killed": [in_epoch(2), in_epoch(3)]}.items():
        folder = tmp_path / name
        _, run = write_study(folder, precision=precision, execution={"gpus": GPUS})
        kill_at(moments, hold, folder, run, prepared)
        finish(folder, run, prepared)
        assert len(json.loads((folder / run.id / "run.json").read_text())["attempts"]) == len(moments) + 1
        curves.append(pd.read_csv(folder / run.id / "curve.csv"))
    whole, killed = curves
    assert list(killed["updates"]) == list(whole["updates"])
    for column in ("train_loss", "valid_loss", "test_loss"):
        assert list(killed[column]) == pytest.approx(list(whole[column]), rel=0.02)
