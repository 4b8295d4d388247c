"""Records of language models, and a text, made up."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import torch

from preln.config import Study, validate
from preln.language.runs import LanguageRun, expand
from preln.language.text import TokenText
from preln.pretraining.runs import PretrainingRun
from preln.records.files import write_json, write_sealed
from tests.conftest import language_content

BASELINE = 7.15
HARDWARE = {"processor": "Processor 1", "cores": 2, "cores_used": 1, "gpus": []}
AnyRun = LanguageRun | PretrainingRun
Loss = Callable[[LanguageRun], float | None]


def records_of(
    study: Study, run: AnyRun, results: Path, losses: list[float], diverged: int | None = None, speed: float = 1e3
) -> None:
    """Write records of a run with these validation losses, one every third update; `diverged` is an update."""
    folder = results / study.study / run.folder
    folder.mkdir(parents=True)
    rows: dict[str, Any] = {"updates": [3 * number for number, _ in enumerate(losses, start=1)]}
    rows |= {"valid_loss": losses, "train_loss": losses, "learning_rate": 1e-3, "gradient_norm": 1.0}
    pd.DataFrame({**rows, "tokens_per_second": speed, "seconds": 2.0}).to_csv(folder / "curve.csv", index=False)
    reason = {"update": diverged, "reason": "the training loss is nan bits a token"} if diverged else None
    metrics = {
        **{"id": run.id, "status": "diverged" if diverged else "finished", "diverged": reason},
        **{"updates": 3 * len(losses), "parameters": 5000, "unigram_baseline": BASELINE, "seconds": 8.0},
        "final": {"valid_loss": losses[-1]} if losses else None,
        "best": {"valid_loss": min(losses)} if losses else None,
    }
    write_json(folder / "metrics.json", metrics)
    origin = {"commit": "abc", "commit_changed": False, "versions": {"torch": "2.9"}, "hardware": HARDWARE}
    write_sealed(folder / "run.json", {"identity": run.identity, **origin})


def grid(
    results: Path,
    loss: Loss,
    *entries: dict[str, Any],
    done: Callable[[LanguageRun], bool] = lambda run: True,
    speed: Callable[[LanguageRun], float] = lambda run: 1e3,
) -> Study:
    """A study whose runs ended with their losses, or diverged where there is none."""
    study = validate(language_content(*entries), "my.yaml")
    for run in filter(done, expand(study)):
        last = loss(run)
        ended: dict[str, Any] = {"losses": [], "diverged": 2} if last is None else {"losses": [7.0, last]}
        records_of(study, run, results, **ended, speed=speed(run))
    return study


def small_text() -> TokenText:
    """Tokens at random, of twenty kinds."""
    tokens = torch.randint(20, (2000,), generator=torch.Generator().manual_seed(1)).numpy().astype("uint16")
    return TokenText(tokens[:1500], tokens[1500:], 20, torch.ones(20).numpy().astype("int64"))
