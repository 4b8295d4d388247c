"""From a study to the measurements of its theory, each one job: what it measures and what its numbers depend on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from pydantic import ValidationError

from preln import schedules
from preln.config import Corpus, ExactTheory, Execution, Gradients, Origin, RunSettings, Study, describe, placed, refuse
from preln.config.base import listed, meant
from preln.jobs.base import Job
from preln.jobs.runs import PREPARATION_VERSION, Run, series
from preln.placements import PAPER, in_order
from preln.records import recording
from preln.theory.measurements import AFTER_WARMUP

THEORY_VERSION = 1
"""Raised when the measurements can change with the code; a raise takes every measurement again.

It was not raised when the weights that a run in half precision keeps after its warm-up became the fp32 masters, where
they had been the masters' roundings; docs/theory.md says which committed measurement is of roundings."""

NOT_AT_INITIALISATION = {
    *("optimizer", "beta1", "beta2", "epsilon", "weight_decay", "clip_norm", "learning_rate", "schedule", "warmup"),
    *("epochs", "accumulate", "precision", "beam", "length_penalty", "bleu_sentences"),
    *schedules.SETTINGS,
}
"""The settings of a run that say nothing of its gradients before it is trained. All others do, also those to come: a
setting that is missing here costs a measurement, and never passes an old one off as new."""

_SAID_ELSEWHERE = {"corpus", "seed"}
"""The corpus's name, beside its settings, and the seed, of which a job has several."""

EXACT = {
    "layers": {"depths", "widths", "seeds"},
    "depths": {"depth", "widths", "seeds"},
    "widths": {"width", "depths", "seeds"},
}
"""The sweeps of the model of the proofs, each with the settings that it does not depend on, or names itself."""


@dataclass(frozen=True)
class ExactJob(Job):
    """One sweep of the model of the proofs: of the paper's two placements, or of another one.

    Each other placement has a job of its own, so that a run of it in a study leaves the paper's measurements as they
    are.
    """

    kind: ClassVar[str] = "theory"
    records: ClassVar[tuple[str, ...]] = (recording.RUN, "measurements.csv")
    sweep: str
    setting: ExactTheory
    seeds: int
    execution: Execution
    placements: tuple[str, ...] = PAPER

    @property
    def id(self) -> str:
        """For example `exact-depths`, or `exact-depths-peri`."""
        return "-".join(["exact", self.sweep, *(self.placements if self.placements != PAPER else ())])

    @property
    def identity(self) -> dict[str, Any]:
        """All that can change the measurement's numbers, as plain JSON values."""
        return {
            "theory_version": THEORY_VERSION,
            "sweep": self.sweep,
            "seeds": self.seeds,
            # Left out where they are the paper's: so were they before there were others.
            **({} if self.placements == PAPER else {"placements": list(self.placements)}),
            **self.setting.model_dump(mode="json", exclude=EXACT[self.sweep]),
        }


@dataclass(frozen=True)
class GradientJob(Job):
    """The gradients of one translation model, for several seeds.

    Attributes:
        settings: the model's, whatever its seed.
        corpus: what its mini-batches are of.
        variant: how it departs from the model as it is trained; empty where it does not.
        seeds: the seeds of the initialisations.
        trained: for each seed, the run that is measured at the end of its warm-up; empty where the model is measured at
            initialisation.
        batches: mini-batches of a seed.
        every_matrix: whether all matrices are recorded, or the decoder's feed-forward matrices alone.
        execution: on what it is computed.
    """

    kind: ClassVar[str] = "theory"
    records: ClassVar[tuple[str, ...]] = (recording.RUN, "measurements.csv")
    settings: RunSettings
    corpus: Corpus
    variant: str
    seeds: tuple[int, ...]
    trained: tuple[Run, ...]
    batches: int
    every_matrix: bool
    execution: Execution

    @property
    def id(self) -> str:
        """For example `post-6`, `post-6-after-warm-up` or `pre-6-no-dropout`."""
        parts = [self.settings.placement, str(self.settings.decoder_layers), self.variant]
        return "-".join([part for part in parts if part] + [AFTER_WARMUP] * bool(self.trained))

    @property
    def identity(self) -> dict[str, Any]:
        """All that can change the measurement's numbers, as plain JSON values."""
        return {
            "theory_version": THEORY_VERSION,
            "preparation_version": PREPARATION_VERSION,
            "corpus_settings": self.corpus.identity,
            "model": self.settings.model_dump(mode="json", exclude=NOT_AT_INITIALISATION | _SAID_ELSEWHERE),
            "variant": self.variant,
            "seeds": list(self.seeds),
            "trained": [run.identity for run in self.trained],
            "batches": self.batches,
            "every_matrix": self.every_matrix,
        }


MeasurementJob = ExactJob | GradientJob


def expand(study: Study, runs: Sequence[Run], origin: Origin = "study") -> list[MeasurementJob]:
    """The measurements of a study's theory; none where it has no such section.

    Measured are Post-LN and Pre-LN, which the paper's theory compares, and any other placement that the runs have.

    Args:
        study: the study.
        runs: its runs.
        origin: of the study, for messages.

    Raises:
        StudyError: if the theory names a run that is not in the study or cannot be used.
    """
    theory = study.theory
    if theory is None:
        return []
    placements = in_order([*PAPER, *(run.settings.placement for run in runs)])
    execution = study.execution.alone
    # The model of the proofs has no use for a GPU.
    on_cpu = execution.model_copy(update={"gpus": 0})
    jobs: list[MeasurementJob] = [
        ExactJob(sweep, theory.exact, theory.exact.seeds or theory.seeds, on_cpu, measured)
        for measured in (PAPER, *((name,) for name in placements if name not in PAPER))
        for sweep in EXACT
    ]
    if theory.gradients is None:
        return jobs
    gradients = theory.gradients
    trained = _trained(gradients, runs, origin)
    model = trained[0]

    def initial(placement: str, depth: int, variant: str = "") -> GradientJob:
        changes = {"placement": placement, "encoder_layers": depth, "decoder_layers": depth}
        return GradientJob(
            _varied(model.settings.model_copy(update=changes), variant, origin),
            model.corpus,
            variant,
            seeds=tuple(range(1, theory.seeds + 1)),
            trained=(),
            batches=gradients.batches,
            every_matrix=depth == gradients.depths[0],
            execution=execution,
        )

    first = gradients.depths[0]
    jobs += [initial(placement, depth) for depth in gradients.depths for placement in placements]
    jobs += [initial(placement, first, variant) for variant in gradients.variants for placement in placements]
    seeds = tuple(run.settings.seed for run in trained)
    jobs.append(GradientJob(model.settings, model.corpus, "", seeds, trained, gradients.batches, True, execution))
    return jobs


def _trained(gradients: Gradients, runs: Sequence[Run], origin: Origin) -> tuple[Run, ...]:
    """The runs that the theory names, which are seeds of one model with a warm-up."""
    where = "theory.gradients.runs"
    by_id = {run.id: run for run in runs}
    wrong = []
    for name in gradients.runs:
        if name not in by_id:
            wrong.append(f"{where}: the study has no run {name}{meant(name, by_id)}; it has {listed(by_id)}")
            continue
        settings = by_id[name].settings
        if settings.warmup == 0:
            wrong.append(f"{where}: {name} has no warm-up")
        if settings.encoder_layers != gradients.depths[0] or settings.decoder_layers != gradients.depths[0]:
            wrong.append(
                f"{where}: {name} has {settings.encoder_layers}-{settings.decoder_layers} layers, and the first of "
                f"theory.gradients.depths is {gradients.depths[0]}: they must be the same"
            )
    refuse(placed(origin, wrong))
    chosen = tuple(by_id[name] for name in gradients.runs)
    if len({series(run.settings) for run in chosen}) > 1:
        refuse(placed(origin, [f"{where}: {listed(gradients.runs)} differ in more than their seed"]))
    return chosen


VARIED_SETTINGS: dict[str, Callable[[RunSettings], dict[str, Any]]] = {
    "no-dropout": lambda settings: {"dropout": 0.0},
    "no-label-smoothing": lambda settings: {"label_smoothing": 0.0},
    "quarter-batch": lambda settings: {"batch_tokens": settings.batch_tokens // 4},
    "fairseq-feed-forward": lambda settings: {"initialisation": "fairseq"},
}
"""The variants that are settings of a run; the others are of the weights, and known to `fairseq_plugin.probe`."""

DRAWS_OF_WEIGHTS = {
    "fairseq-feed-forward": ("initialisation", "fairseq"),
    "xavier-feed-forward": ("initialisation", "xavier"),
    "unpacked-projections": ("projections", "separate"),
}
"""The variants that are no variants of runs which have such a setting."""


def _varied(settings: RunSettings, variant: str, origin: Origin) -> RunSettings:
    """The settings with those changes of a variant that are settings.

    Raises:
        StudyError: if they are impossible.
    """
    where = "theory.gradients.variants"
    content = settings.model_dump()
    for name in variant.split("+"):
        key, value = DRAWS_OF_WEIGHTS.get(name, ("", None))
        if value is not None and getattr(settings, key) == value:
            refuse(placed(origin, [f"{where}: {name} is no variant of these runs, whose {key} is {value} already"]))
        if name in VARIED_SETTINGS:
            content |= VARIED_SETTINGS[name](settings)
    try:
        return type(settings).model_validate(content)
    except ValidationError as error:
        refuse(placed(origin, [f"{where}: {variant}: {line}" for line in describe(error, content, type(settings))]))
        raise
