"""The bench of language models: a row, the comparison of two, and a placement of one's own on it."""

import itertools
import json
import math
import signal
import sys
from contextlib import nullcontext
from dataclasses import replace
from itertools import product
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

import pytest
from scipy.stats import ttest_ind
from typer.testing import CliRunner

from preln.commands import bench as command
from preln.commands.bench import Bench, result_of, text
from preln.commands.cli import app
from preln.commands.compare import compare
from preln.config import EnglishText, load, validate, write
from preln.errors import PrelnError
from preln.language import bench, training
from preln.language.bench import (
    FIRST,
    FRESH,
    GROWN_RATES,
    MARGIN,
    RATES,
    SETTINGS,
    TEXTS,
    WARMUPS,
    Cell,
    Row,
    difference,
    renamed,
    verdict,
    wanted,
)
from preln.language.runs import LanguageRun, expand
from preln.language.training import train_run
from preln.placements import COME_ALONG
from preln.report.core.statistics import Estimate
from tests.conftest import PRE_LN_AGAIN, language_content
from tests.refused import refused

TRAIN = Bench._train


def row(losses: dict[Cell, list[float]], baseline: float = 4.2) -> Row:
    return Row({cell: dict(enumerate(values, start=1)) for cell, values in losses.items()}, baseline)


@pytest.mark.parametrize(
    ("best", "beside", "sample"),
    [
        ([2.0, 2.2, 2.3], [2.1], [2.2, 2.3]),
        ([2.0, 2.2], [2.1], [2.0, 2.2]),
        ([2.0, 2.2, 2.3], [2.1, 2.3, 2.4], [2.0, 2.2, 2.3]),
        ([math.inf, 5.0], [5.0, 6.0], [4.2, 4.2]),
    ],
    ids=["chosen by the first seed", "with one more alone", "all of another too", "above the unigram baseline"],
)
def test_the_seed_that_chose_the_best_cell_does_not_count_beside_two_others_nor_a_loss_more_than_the_baseline(
    best: list[float], beside: list[float], sample: list[float]
) -> None:
    assert row({(1e-3, 0): best, (2e-3, 0): beside}).sample == sample


def test_a_row_is_compared_with_others_when_the_cells_beside_its_best_one_are_there() -> None:
    best, lower, higher = FIRST, (FIRST[0] / 2, FIRST[1]), (2 * FIRST[0], FIRST[1])
    beside = {cell: [2.1, 2.2] for cell in (lower, higher, (FIRST[0], 0), (FIRST[0], 200))}
    assert row({best: [2.0, 2.1], **beside}).is_settled
    assert not row({best: [2.0, 2.1], **beside, higher: []}).is_settled
    assert not row({best: [2.0], **{cell: [2.1] for cell in beside}}).is_settled
    del beside[higher]
    assert not row({best: [2.0, 2.1], **beside}).is_settled


def test_sensitivity_is_between_the_grids_rates_and_unknown_beyond_them() -> None:
    losses = row({(1e-3, 0): [3.0], (2e-3, 0): [2.0], (4e-3, 0): [2.5], (8e-3, 0): [3.5]})
    assert losses.at(2) == [2.5]
    assert losses.at(2**1.5) == [pytest.approx(3.0)]
    assert losses.at(1) == [2.0]
    assert losses.at(1 / 3) == []


def test_the_limit_is_the_highest_rate_that_trains_where_a_lower_one_does() -> None:
    losses = row({(1e-3, 0): [2.0], (2e-3, 0): [2.0], (4e-3, 0): [4.1], (1e-3, 400): [4.1], (2e-3, 400): [2.0]})
    assert losses.limit(0) == 2e-3
    assert losses.limit(400) is None


def test_the_interval_is_that_of_welchs_t() -> None:
    losses, reference = [1.5, 1.52, 1.49, 1.53], [1.4, 1.41, 1.38]
    apart = difference(losses, reference)
    expected = ttest_ind(losses, reference, equal_var=False).confidence_interval()
    assert (apart.low, apart.high) == pytest.approx((expected.low, expected.high))


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (-0.03, -0.011, "ahead"),
        (-0.03, -0.009, "not told apart"),
        (0.009, 0.03, "not told apart"),
        (0.011, 0.03, "behind"),
        (math.nan, math.nan, "not told apart"),
    ],
)
def test_the_whole_interval_must_be_beyond_the_margin(low: float, high: float, expected: str) -> None:
    assert MARGIN == 0.01
    assert verdict(Estimate((low + high) / 2, low, high, 3)) == expected


def benched(of_seed: int) -> Row:
    """Pre-LN on the whole grid with eight seeds that differ by chance, whose loss rises from the best rate on."""
    chance = Random(of_seed)

    def loss(cell: Cell) -> float:
        return 1.4 + 0.05 * abs(math.log2(cell[0] / FIRST[0])) + chance.gauss(0, 0.02)

    return Row({cell: {seed: loss(cell) for seed in range(1, 9)} for cell in product(RATES, WARMUPS)}, 4.2)


def test_pre_ln_under_another_name_is_not_told_apart_in_nineteen_of_twenty_tries() -> None:
    counts = [renamed(benched(of_seed)) for of_seed in range(1, 11)]
    assert sum(counts) >= 19 * len(counts)


def trained(loss: Any, until: int) -> Row:
    """The row after so many of the runs that are wanted, with the losses of a function of cell and seed."""
    losses: dict[Cell, dict[int, float]] = {}
    for _ in range(until):
        for cell, seed in itertools.islice(wanted(Row(losses, 4.2)), 1):
            losses.setdefault(cell, {})[seed] = loss(cell, seed)
    return Row(losses, 4.2)


@pytest.mark.parametrize("best", list(product(GROWN_RATES[1:-1], WARMUPS)), ids=str)
def test_the_search_finds_the_best_cell_and_looks_at_its_neighbours(best: Cell) -> None:
    def loss(cell: Cell, seed: int) -> float:
        return 2 + 0.1 * (abs(math.log2(cell[0] / best[0])) + abs(WARMUPS.index(cell[1]) - WARMUPS.index(best[1])))

    row = trained(loss, until=30)
    assert row.best == best
    assert {best[0] / 2, best[0] * 2} <= {rate for rate, warmup in row.losses if warmup == best[1]}
    assert len(row.losses[best]) > FRESH


def test_fresh_seeds_of_the_best_cell_come_before_the_rest_of_the_grid() -> None:
    row = trained(lambda cell, seed: 2 + abs(math.log2(cell[0] / FIRST[0])) + (cell[1] != FIRST[1]), until=5 + FRESH)
    assert len(row.losses[FIRST]) == 1 + FRESH
    assert len(row.losses) == 5


def test_a_cell_that_fails_in_a_fresh_seed_gives_way_to_the_best_that_trains() -> None:
    row = trained(lambda cell, seed: math.inf if cell == FIRST and seed > 1 else 2 + (cell != FIRST), until=40)
    assert row.best not in (None, FIRST)
    assert len(row.losses[row.best]) > FRESH


def test_with_time_enough_the_whole_grid_has_the_benchs_seeds() -> None:
    row = trained(lambda cell, seed: 2 + cell[0], until=200)
    assert all(set(row.losses[cell]) >= {1, 2, 3} for cell in product(RATES, WARMUPS))


@pytest.fixture
def small(placement_file: Path, monkeypatch: pytest.MonkeyPatch, prepared_tokens: Path) -> Path:
    """Pre-LN under another name, in a folder in which the bench is tiny and trains in this process."""
    tiny = {"layers": 1, "width": 8, "ffn_width": 8, "heads": 1, "batch_sequences": 1, "sequence_length": 16}
    of_runs = {"schedule": "constant", "updates": 2, "validate_every": 1, "valid_tokens": 64}
    monkeypatch.setattr(command, "SETTINGS", {**SETTINGS, **tiny, **of_runs})
    for module in (command, bench):
        monkeypatch.setattr(module, "WARMUPS", (0,))
        monkeypatch.setattr(module, "GROWN_RATES", (2e-3, FIRST[0], 8e-3))
    monkeypatch.setattr(bench, "RATES", (2e-3, FIRST[0], 8e-3))
    monkeypatch.setattr(bench, "FIRST", (FIRST[0], 0))
    monkeypatch.setattr(command, "_prepare", lambda run, cores: prepared_tokens)

    def train(self: Bench, run: LanguageRun, prepared: Path) -> float:
        train_run(self.study, run, prepared, self.folder / run.folder)
        return 1.0

    monkeypatch.setattr(Bench, "_train", train)
    # Signals are the main thread's.
    monkeypatch.setattr(training, "handled", lambda handler: nullcontext())
    monkeypatch.chdir(placement_file.parent)
    return placement_file


def trained_bench(path: Path, runs: int) -> Bench:
    chosen = Bench.of(str(path), None, Path("nowhere"))
    every = Bench._wanted

    def some(self: Bench, choice: Any) -> list[LanguageRun]:
        done = sum(len(seeds) for row in self.rows().values() for seeds in row.losses.values())
        return every(self, choice) if done < runs else []

    with mock.patch.object(Bench, "_wanted", some):
        chosen.train(seconds=600, cores=1, tell=lambda line: None)
    return chosen


@pytest.mark.slow
def test_without_recorded_rows_pre_ln_is_trained_too_and_renamed_is_not_told_apart(small: Path) -> None:
    result = result_of(trained_bench(small, 14))
    own, pre, _ = result["rows"]
    assert result["beside"] is None
    assert (own["placement"], pre["placement"]) == ("again", "pre")
    assert own["loss"] == pre["loss"]
    assert result["verdict"] == "not told apart"
    assert "Pre-LN again is not told apart from Pre-LN" in text(result)
    assert "trained here" in text(result)


@pytest.mark.slow
def test_a_second_call_goes_on_and_an_edited_file_begins_anew(small: Path) -> None:
    first = trained_bench(small, 2)
    again = Bench.of(str(small), None, Path("nowhere"))
    assert again.rows()[again.placement].losses == first.rows()[first.placement].losses != {}
    small.write_text(PRE_LN_AGAIN.replace("Pre-LN again", "Pre-LN once more"), encoding="utf-8")
    edited = Bench.of(str(small), None, Path("nowhere"))
    assert edited.rows()[edited.placement].losses == {}
    assert (edited.folder, edited.rows()["pre"].losses) == (first.folder, first.rows()["pre"].losses)


@pytest.mark.slow
def test_recorded_rows_are_not_trained_again(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recorded, pre_ln = trained_bench(small, 1), row({(rate, 0): [2.0, 2.1] for rate in bench.RATES})
    monkeypatch.setattr(command, "_rows", lambda folder, placements: {"pre": pre_ln, "post": pre_ln})
    beside = Bench.of(str(small), Path("results/second"), recorded.folder)
    assert beside.beside == recorded.folder
    runs = {(run.settings.placement, command._cell(run), run.settings.seed): run for run in expand(beside.study)}
    assert {run.settings.placement for run in beside._wanted(runs)} == {beside.placement}


def test_its_records_are_sealed_and_compared_by_preln_compare(small: Path) -> None:
    chosen = trained_bench(small, 2)
    assert not compare(chosen.folder, chosen.folder).is_worse
    metrics = next(chosen.folder.glob("language/again-*/metrics.json"))
    metrics.write_text(metrics.read_text().replace("final", "finish"), encoding="utf-8")
    with refused(PrelnError, "metrics.json", "damaged"):
        chosen.rows()


def test_the_results_of_another_study_and_of_one_with_placements_beside_its_grid_are_left_alone(small: Path) -> None:
    beside = Bench.of(str(small), Path("results/beside"), Path("nowhere")).study.model_dump(mode="json")
    beside["language"]["runs"] *= 2
    for name, content in {"mine": language_content(), "beside": beside}.items():
        folder = Path("results", name)
        write(validate(content, "my.yaml"), folder / "study.yaml")
        before = (folder / "study.yaml").read_bytes()
        with refused(PrelnError, f"{folder}: has the results of another study", "--out"):
            Bench.of(str(small), folder, Path("nowhere"))
        assert (folder / "study.yaml").read_bytes() == before


def test_a_training_that_fails_ends_the_others(small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\ncase $6 in again*) sleep 0.5; echo no memory; exit 1;; *) exec sleep 60;; esac\n")
    python.chmod(0o755)
    monkeypatch.setattr(Bench, "_train", TRAIN)
    monkeypatch.setattr(sys, "executable", str(python))
    chosen = Bench.of(str(small), None, Path("nowhere"))
    with refused(PrelnError, "its training failed"):
        chosen.train(seconds=600, cores=2, tell=lambda line: None)
    assert [process.returncode for process in chosen.processes if process.returncode != 1] == [-signal.SIGTERM]


def test_a_recorded_placement_gets_more_seeds_and_no_run_twice(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recorded = row({(rate, warmup): [2.0] for rate in bench.RATES for warmup in bench.WARMUPS})
    chosen = replace(Bench.of("pre", None, Path("nowhere")), recorded={"pre": recorded, "post": recorded})
    told: list[str] = []
    every = Bench._wanted
    monkeypatch.setattr(Bench, "_wanted", lambda self, runs: [] if len(told) == 3 else every(self, runs))
    chosen.train(seconds=600, cores=1, tell=told.append)
    assert len({line.partition(":")[0] for line in told}) == 3
    assert sum(map(len, chosen.rows()["pre"].losses.values())) > len(recorded.losses)


def test_a_file_that_changes_while_its_bench_runs_ends_it(small: Path) -> None:
    chosen = Bench.of(str(small), None, Path("nowhere"))

    def edit(line: str) -> None:
        small.write_text(PRE_LN_AGAIN.replace("Pre-LN again", "Pre-LN once more"), encoding="utf-8")

    with refused(PrelnError, "mine.py: has changed; run the same command again"):
        chosen.train(seconds=600, cores=1, tell=edit)


@pytest.mark.parametrize(("low", "status"), [(-0.5, 0), (-0.02, 3), (0.5, 4)])
def test_the_exit_status_is_the_verdict(low: float, status: int, small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def rows(self: Bench) -> dict[str, Row]:
        losses = [2.0, 2.01, 1.99]
        shifted = [loss + low for loss in losses]
        return {self.placement: row({FIRST: shifted}), "pre": row({FIRST: losses}), "post": row({FIRST: losses})}

    monkeypatch.setattr(Bench, "rows", rows)
    monkeypatch.setattr(Bench, "train", lambda *arguments: None)
    outcome = CliRunner().invoke(app, ["bench", str(small), "--json", "--budget", "1h30m"])
    assert outcome.exit_code == status
    (own, *_), margin = (json.loads(outcome.stdout)[key] for key in ("rows", "margin"))
    assert (own["verdict"], margin) == ({0: "ahead", 3: "not told apart", 4: "behind"}[status], MARGIN)


def test_the_committed_bench_has_the_settings_and_the_grid_of_this_one() -> None:
    runs = [run for run in expand(load(Path("config/language-bench.yaml"))) if command._is_of_the_bench(run)]
    assert {run.settings.placement for run in runs} == set(COME_ALONG)
    assert {(run.settings.learning_rate, run.settings.warmup) for run in runs} == set(product(RATES, WARMUPS))
    assert {run.text for run in runs} == {EnglishText.model_validate(TEXTS["english"])}
