"""A study's theory becomes parts: which models are measured, under which names, and what is measured again."""

from typing import Any

import pytest

from preln.config import Study, StudyError, validate
from preln.jobs.checking import check
from preln.theory import measurement_jobs
from preln.theory.measurement_jobs import ExactJob, GradientJob
from preln.translation.runs import expand
from tests.conftest import language_settings, settings, study_content
from tests.made_up.theory import language_theory
from tests.refused import refused

POST: dict[str, Any] = {"placement": "post", "encoder_layers": 2, "decoder_layers": 2}
NAME = "post-adam-lr2e-3-wu10-encoderlayers2-decoderlayers2-s1"


def study(*runs: dict[str, Any], seeds: int = 3, exact: dict[str, Any] | None = None, **gradients: Any) -> Study:
    theory = {
        "seeds": seeds,
        "exact": exact or {},
        "gradients": {"runs": [NAME], "depths": [2, 4], "batches": 2, **gradients},
    }
    return validate(study_content(*(runs or (POST,)), theory=theory), "study.yaml")


def parts_of(content: Study) -> dict[str, Any]:
    return {part.id: part for part in measurement_jobs.expand(content, "study.yaml")}


def id_of(run: dict[str, Any]) -> str:
    return expand(validate(study_content(run), "study.yaml"))[0].id


OF_PROOFS = ["exact-layers", "exact-depths", "exact-widths"]


def test_the_models_of_figure_3_are_both_placements_at_every_depth_and_the_trained_run() -> None:
    assert list(parts_of(study(variants=["no-dropout"]))) == [
        *OF_PROOFS,
        *("post-2", "pre-2", "post-4", "pre-4"),
        *("post-2-no-dropout", "pre-2-no-dropout"),
        "post-2-after-warm-up",
    ]


def test_another_placement_of_the_runs_is_measured_beside_the_papers() -> None:
    before = parts_of(study(variants=["no-dropout"]))
    after = parts_of(study({**POST, "placement": ["post", "peri"]}, variants=["no-dropout"]))
    names = {"peri-2", "peri-4", "peri-2-no-dropout", *(f"{name}-peri" for name in OF_PROOFS)}
    assert after.keys() - before.keys() == names
    assert all(after[name].identity == part.identity for name, part in before.items())


def test_a_theory_without_gradients_has_the_model_of_the_proofs_alone() -> None:
    assert list(parts_of(validate(study_content(POST), "study.yaml"))) == []
    assert list(parts_of(validate(study_content(POST, theory={}), "study.yaml"))) == OF_PROOFS


def test_a_model_at_initialisation_has_the_settings_of_the_run_but_for_placement_and_depth() -> None:
    run = {**POST, "dropout": 0.25, "label_smoothing": 0.05}
    part = parts_of(study(run, runs=[id_of(run)]))["pre-4"]
    assert part.settings == settings(**{**run, "placement": "pre", "encoder_layers": 4, "decoder_layers": 4})
    assert part.seeds == (1, 2, 3)
    assert not part.trained


def test_what_is_measured_after_warm_up_has_the_seeds_that_were_trained() -> None:
    names = [NAME, NAME.replace("-s1", "-s5")]
    part = parts_of(study({**POST, "seed": [1, 5]}, runs=names))["post-2-after-warm-up"]
    assert part.seeds == (1, 5)
    assert [run.id for run in part.trained] == names


def test_language_models_are_measured_at_their_depths_and_after_the_warm_up() -> None:
    content = language_theory({"placement": ["post", "peri"], "warmup": 4, "precision": "bf16"})
    # Only a translation has this placement.
    content |= {key: study_content({"placement": "b2t"})[key] for key in ("corpora", "translation")}
    parts = check(content, "study.yaml").jobs["theory"]
    names = ["peri-2", "peri-3", "post-2", "post-2-after-warm-up", "post-3", "pre-2", "pre-3"]
    assert sorted(part.id for part in parts if isinstance(part, GradientJob)) == names
    (deeper,) = (part for part in parts if part.id == "pre-3")
    assert deeper.settings == language_settings(placement="pre", layers=3, warmup=4, precision="bf16")
    assert [prepared.stages for prepared in deeper.prepared] == [("text", "tokens-bpe")]


@pytest.mark.parametrize(
    ("run", "gradients", "parts"),
    [
        ({"warmup": 4, "layers": 4}, {}, (" 4 layers", "theory.gradients.depths is 2")),
        ({"warmup": 4}, {"variants": ["no-dropout"]}, ("theory.gradients.variants", "of translation models")),
    ],
)
def test_language_models_that_cannot_be_measured_are_refused(
    run: dict[str, Any], gradients: dict[str, Any], parts: tuple[str, ...]
) -> None:
    with refused(StudyError, "study.yaml: theory.gradients.", *parts):
        check(language_theory(run, **gradients), "study.yaml")


@pytest.mark.parametrize(
    ("variant", "changed"),
    [
        ("no-dropout", {"dropout": 0.0}),
        ("no-label-smoothing", {"label_smoothing": 0.0}),
        ("quarter-batch", {"batch_tokens": 256}),
        ("xavier-feed-forward", {}),
        ("no-dropout+quarter-batch", {"dropout": 0.0, "batch_tokens": 256}),
    ],
)
def test_a_variant_changes_what_its_name_says_and_nothing_else(variant: str, changed: dict[str, Any]) -> None:
    parts = parts_of(study(variants=[variant]))
    usual, varied = parts["post-2"], parts[f"post-2-{variant}"]
    assert varied.settings == usual.settings.model_copy(update=changed)
    assert varied.variant == variant
    assert varied.identity != usual.identity


def test_runs_that_are_drawn_by_xavier_are_varied_by_fairseqs_own_matrices() -> None:
    run = {**POST, "initialisation": "xavier"}
    parts = parts_of(study(run, runs=[id_of(run)], variants=["fairseq-feed-forward"]))
    assert parts["post-2"].settings.initialisation == "xavier"
    assert parts["post-2-fairseq-feed-forward"].settings.initialisation == "fairseq"


@pytest.mark.parametrize("change", [{"seeds": 4}, {"batches": 3}])
def test_what_can_change_the_numbers_is_part_of_the_identity(change: dict[str, Any]) -> None:
    before, after = parts_of(study()), parts_of(study(**change))
    assert any(before[name].identity != after[name].identity for name in before)


@pytest.mark.parametrize(
    ("run", "gradients", "parts"),
    [
        ({}, {"runs": ["post-nothing"]}, ("runs: ", "post-nothing;", NAME)),
        ({"warmup": 0}, {}, ("runs: ", NAME.replace("wu10", "wu0"), "warm-up")),
        ({"placement": ["post", "pre"]}, {"runs": [NAME, NAME.replace("post", "pre")]}, ("runs: ", "seed")),
        ({}, {"depths": [3, 4]}, ("runs: ", "2-2 layers", "theory.gradients.depths is 3")),
        (
            {"projections": "separate"},
            {"variants": ["no-dropout+unpacked-projections"]},
            ("variants: ", "unpacked-projections", "projections is separate in these runs already"),
        ),
        ({"batch_tokens": 64}, {"variants": ["quarter-batch"]}, ("variants: quarter-batch: batch_tokens",)),
    ],
)
def test_gradients_that_cannot_be_measured_are_refused_with_their_place(
    run: dict[str, Any], gradients: dict[str, Any], parts: tuple[str, ...]
) -> None:
    whole = {**POST, **run}
    with refused(StudyError, "study.yaml: theory.gradients.", *parts):
        parts_of(study(whole, **{"runs": [id_of(whole)], **gradients}))


@pytest.mark.parametrize(
    ("theory", "parts"),
    [
        ({"exact": {"depths": [2, 4]}}, ("theory.exact.depths: ", "3 or more")),
        ({"exact": {"widths": [64, 32, 128]}}, ("theory.exact.widths: [64, 32, 128] ", "ascend")),
        ({"gradients": {"runs": []}}, ("theory.gradients.runs",)),
        ({"gradients": {"runs": [NAME], "variants": ["no-warmup"]}}, ("no-warmup", "allowed", "no-dropout")),
        ({"gradients": {"runs": [NAME], "variants": ["no-dropout+no-dropout"]}}, ("no-dropout", "twice")),
        (
            {"gradients": {"runs": [NAME], "variants": ["no-dropout+quarter-batch", "quarter-batch+no-dropout"]}},
            ("twice", "no-dropout+quarter-batch"),
        ),
    ],
)
def test_an_impossible_theory_is_refused(theory: dict[str, Any], parts: tuple[str, ...]) -> None:
    with refused(StudyError, *parts):
        validate(study_content(POST, theory=theory), "study.yaml")


def test_the_model_of_the_proofs_may_have_seeds_of_its_own() -> None:
    few, many = study(seeds=3), study(seeds=3, exact={"seeds": 5})
    as_many = parts_of(study(seeds=5))
    for name, part in parts_of(many).items():
        assert part.identity == (as_many if isinstance(part, ExactJob) else parts_of(few))[name].identity
