"""A study answers whether Post-LN needs the warm-up, and Pre-LN not, as certainly as its seeds allow."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from preln.commands.answer import answer as of_question
from preln.config import write
from preln.translation.report import finding
from preln.translation.report.four_curves import shown
from preln.translation.report.records import SOURCE
from tests.made_up.maps import GUESS, Loss, bench
from tests.made_up.translation import records_of

FOUR: dict[str, Any] = {
    **{"placement": ["post", "pre"], "optimizer": "adam", "schedule": "inverse-sqrt", "anchor": "hold"},
    **{"learning_rate": 2e-3, "warmup": [0, 50]},
}


def conclusion(results: Path, loss: Loss, *entries: dict[str, Any]) -> finding.Finding:
    """The finding of a study whose runs ended with these losses."""
    study, runs = bench(results, loss, *entries)
    answer = finding.find(SOURCE.load(study, shown(study, runs), results))
    assert answer is not None
    return answer


def losses(post: float | None, pre: float = 5.0) -> Loss:
    """Post-LN and Pre-LN without a warm-up end there, and with one at 5 bits."""
    return lambda run: 5.0 if run.settings.warmup else {"post": post, "pre": pre}[run.settings.placement]


@pytest.mark.parametrize("loss", [GUESS + 1, GUESS, None], ids=["above", "at", "diverged"])
def test_post_ln_that_learns_nothing_without_the_warmup_needs_it(tmp_path: Path, loss: float | None) -> None:
    assert conclusion(tmp_path, losses(loss), {**FOUR, "seed": [1, 2, 3]}).answer == (
        "Post-LN needs the warm-up here: without it, it learns nothing. Pre-LN does not need the warm-up here: without "
        "it, it ends at the same loss."
    )


@pytest.mark.parametrize("loss", [GUESS - 0.1, None], ids=["at the baseline", "diverged"])
def test_where_no_run_learns_the_answer_says_so(tmp_path: Path, loss: float | None) -> None:
    answer = conclusion(tmp_path, lambda run: loss, {**FOUR, "seed": [1, 2, 3]}).answer
    assert answer.startswith("Post-LN learns nothing here, with the warm-up or without it.")


@pytest.mark.parametrize(("seeds", "so_far"), [([1], "1 seed"), ([1, 2], "2 seeds")])
def test_fewer_seeds_answer_alike_and_say_what_would_settle_it(tmp_path: Path, seeds: list[int], so_far: str) -> None:
    answer = conclusion(tmp_path, losses(6.0), {**FOUR, "seed": seeds}).answer
    needs = "Post-LN needs the warm-up here: without it, it ends 1.00 bits behind"
    assert f"{needs} ({so_far}; 3 that agree settle it)." in answer


def test_seeds_that_disagree_give_no_answer(tmp_path: Path) -> None:
    by_seed = {1: losses(5.1), 2: losses(6.0), 3: losses(6.0)}
    answer = conclusion(tmp_path, lambda run: by_seed[run.settings.seed](run), {**FOUR, "seed": [1, 2, 3]}).answer
    assert "Whether Post-LN needs the warm-up depends on the seed here." in answer


def test_a_seed_that_diverges_beside_ones_that_learn_leaves_the_mean_far_behind(tmp_path: Path) -> None:
    by_seed = {1: losses(None), 2: losses(6.0), 3: losses(6.0)}
    answer = conclusion(tmp_path, lambda run: by_seed[run.settings.seed](run), {**FOUR, "seed": [1, 2, 3]}).answer
    assert "Post-LN needs the warm-up here: without it, it ends far behind." in answer


def test_a_run_that_diverges_after_it_has_learned_learns_nothing(tmp_path: Path) -> None:
    study, runs = bench(tmp_path, losses(6.0), {**FOUR, "seed": [1, 2, 3]})
    for run in runs:
        if run.settings.placement == "pre" and not run.settings.warmup:
            shutil.rmtree(tmp_path / study.study / run.folder)
            records_of(study, run, tmp_path, [9.0, 5.0], diverged={"update": 7, "epoch": 3}, constant_guess=GUESS)
    answer = finding.find(SOURCE.load(study, shown(study, runs), tmp_path))
    assert answer is not None
    assert str(answer.rows[2]) == "Pre-LN, no warm-up: diverged"
    assert answer.answer.endswith("Pre-LN needs the warm-up here: without it, it learns nothing.")


def test_runs_of_unequal_length_are_compared_at_the_last_epoch_that_all_have(tmp_path: Path) -> None:
    pre = {**FOUR, "placement": "pre", "warmup": 0, "epochs": 1, "seed": [1, 2, 3]}
    answer = conclusion(tmp_path, losses(6.0), {**FOUR, "placement": "post", "epochs": 2, "seed": [1, 2, 3]}, pre)
    assert {loss for row in answer.rows for loss in row.losses.values()} == {9.0}
    assert "after 1 epoch," in answer.conditions


@pytest.mark.parametrize(
    ("loss", "answer"),
    [
        (4.9, "Pre-LN does not need the warm-up here: without it, it ends 0.10 bits ahead."),
        (5.3, "Pre-LN trains without the warm-up here, and ends 0.30 bits behind."),
        (6.0, "Pre-LN needs the warm-up here: without it, it ends 1.00 bits behind."),
    ],
)
def test_pre_ln_is_held_against_itself_with_the_warmup(tmp_path: Path, loss: float, answer: str) -> None:
    assert conclusion(tmp_path, losses(8.0, loss), {**FOUR, "seed": [1, 2, 3]}).answer.endswith(answer)


def test_pre_ln_of_another_schedule_is_held_against_the_unigram_baseline_alone(tmp_path: Path) -> None:
    post = {**FOUR, "placement": "post", "seed": [1, 2, 3]}
    pre = {**FOUR, "placement": "pre", "schedule": "constant", "anchor": "warmup", "warmup": 0, "seed": [1, 2, 3]}
    answer = conclusion(tmp_path, losses(8.0), post, pre)
    names = ["Post-LN, no warm-up", "Post-LN, warm-up 50", "Pre-LN, no warm-up, constant"]
    assert [row.label for row in answer.rows] == names
    assert answer.answer.endswith("Pre-LN trains without a warm-up.")


def test_runs_of_one_rate_and_one_schedule_are_compared(tmp_path: Path) -> None:
    without = {**FOUR, "placement": "post", "warmup": 0, "learning_rate": [1e-3, 2e-3]}
    warmed_up = {**FOUR, "placement": "post", "warmup": 50}
    other = {**FOUR, "placement": "post", "warmup": 80, "schedule": "constant", "anchor": "warmup"}
    runs = shown(*bench(tmp_path, losses(8.0), without, warmed_up, other))
    assert [(run.settings.learning_rate, run.settings.warmup) for run in runs] == [(2e-3, 0), (2e-3, 50)]


@pytest.mark.parametrize("missing", [{"warmup": 50}, {"placement": "pre"}, {"optimizer": "sgd"}])
def test_a_study_without_post_ln_without_a_warmup_has_no_such_finding(tmp_path: Path, missing: dict[str, Any]) -> None:
    assert shown(*bench(tmp_path, losses(8.0), {**FOUR, **missing})) == []


def test_a_copy_further_down_does_not_answer_for_a_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder, loss in ((tmp_path, 6.0), (tmp_path / "copy", 5.0)):
        study, _ = bench(folder / "results", losses(loss), {**FOUR, "seed": [1, 2, 3]})
        write(study, folder / "results" / study.study / "study.yaml")
    monkeypatch.chdir(tmp_path)
    (own,) = of_question("C9", tmp_path / "results" / study.study).partition("tiny: ")[2:]
    assert own in of_question("C9", None)
