"""Shared fixtures of the tests on a fake GPU: its library, and the outcomes of all updates."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest
import torch

from benchmarks import fake_gpu
from benchmarks.launches import Case, Outcome, outcomes
from tests.conftest import MakeOnce

Seen = dict[str, Outcome]


@pytest.fixture(scope="session")
def library(make_once: MakeOnce) -> Path:
    """The fake GPU's library; the tests that need it are skipped where it cannot be."""
    if torch.cuda.is_available():
        pytest.skip("there is a GPU, and a fake one would take its place")

    def fill(folder: Path) -> None:
        try:
            fake_gpu.build(folder)
        except fake_gpu.NotBuilt as error:
            (folder / "why-not").write_text(str(error))

    folder = make_once("fake GPU", fill)
    if (folder / "why-not").exists():
        pytest.skip(f"the fake GPU was not built: {(folder / 'why-not').read_text()}")
    return folder / fake_gpu.LIBRARY


@pytest.fixture(scope="session")
def seen(make_once: MakeOnce, library: Path) -> Seen:
    """The outcome of each of the tests' cases, by name, from a single process."""
    from tests.gpu.test_updates import CASES

    def fill(folder: Path) -> None:
        results = outcomes(list(CASES.values()), library)
        text = json.dumps({name: asdict(outcome) for name, outcome in zip(CASES, results, strict=True)})
        (folder / "seen.json").write_text(text)

    results = json.loads((make_once("updates on a fake GPU", fill) / "seen.json").read_text())
    return {name: Outcome(**fields) for name, fields in results.items()}


__all__ = ["Case", "Seen", "library", "seen"]
