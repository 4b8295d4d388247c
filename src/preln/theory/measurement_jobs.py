"""From a study to the measurements of its theory, each a job."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from pydantic import ValidationError

from preln import schedules
from preln.config import (
    ExactTheory,
    Execution,
    Gradients,
    LanguageSettings,
    Origin,
    RunSettings,
    Study,
    describe,
    placed,
    refuse,
)
from preln.config.base import listed, meant
from preln.jobs.base import Job, Prepared
from preln.jobs.grid import series
from preln.language import runs as language
from preln.language.runs import LanguageRun
from preln.placements import PAPER, PLACEMENTS, identified, in_order
from preln.records import recording
from preln.theory.measurements import AFTER_WARMUP
from preln.translation import runs as translation
from preln.translation.runs import Run

THEORY_VERSION = 1
"""Raised when the code may change the measurements; a raise takes every measurement again.

Not raised when the weights that a run in half precision keeps after its warm-up became the fp32 masters instead of
their roundings; docs/theory.md names the committed measurement of rounded weights."""

SCALED_VERSION = 2
"""Raised when the code may change the toy model of placements that scale matrices. In 2, W^O is scaled too, and an
encoder alone has the scales of one."""

_OPTIMIZER = {"optimizer", "beta1", "beta2", "epsilon", "weight_decay", "clip_norm", "accumulate", "precision"}
_RATE = {"learning_rate", "schedule", "warmup", "epochs", *schedules.SETTINGS}
NOT_AT_INITIALISATION = _OPTIMIZER | _RATE | {"beam", "length_penalty", "bleu_sentences"}
"""A run's settings that do not affect its gradients before training. All other settings, also future ones, do: one that
is missing here costs a measurement, but never reuses an outdated one."""

NOT_IN_A_LANGUAGE_MODEL = NOT_AT_INITIALISATION - {"accumulate"} | {"updates", "validate_every", "valid_tokens"}
"""Those of a language model, whose batches are drawn for an update at a time."""

_SEPARATE = {"corpus", "text", "seed"}
"""Settings that are in the identity separately: the text by its settings, and the seed as one of several."""

EXACT = {
    "layers": {"depths", "widths", "seeds"},
    "depths": {"depth", "widths", "seeds"},
    "widths": {"width", "depths", "seeds"},
}
"""The sweeps of the toy model, each with the settings that are not part of its identity."""


@dataclass(frozen=True)
class ExactJob(Job):
    """A sweep of the toy model, for the paper's two placements or for another one.

    Every other placement has a separate job, so that adding it to a study does not repeat the paper's measurements.
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
        names = [PLACEMENTS[key].name for key in self.placements] if self.placements != PAPER else []
        return "-".join(["exact", self.sweep, *names])

    @property
    def identity(self) -> dict[str, Any]:
        return {
            "theory_version": THEORY_VERSION,
            "sweep": self.sweep,
            "seeds": self.seeds,
            # Omitted for the paper's placements, as in records from before there were others.
            **({} if self.placements == PAPER else {"placements": [identified(key) for key in self.placements]}),
            **({"scaled_version": SCALED_VERSION} if any(PLACEMENTS[key].scaled for key in self.placements) else {}),
            **self.setting.model_dump(mode="json", exclude=EXACT[self.sweep]),
        }


@dataclass(frozen=True)
class GradientJob(Job):
    """The gradients of a translation model or a language model, for several seeds.

    Attributes:
        run: the model; the seed is ignored.
        variant: a change to the model as it is trained; empty for none.
        seeds: the seeds of the initialisations.
        trained: for each seed, the run that is measured at the end of its warm-up; empty for measurements at
            initialisation.
        batches: mini-batches for each seed.
        every_matrix: whether all matrices are recorded, or only the decoder's feed-forward matrices.
    """

    kind: ClassVar[str] = "theory"
    records: ClassVar[tuple[str, ...]] = (recording.RUN, "measurements.csv")
    run: Run | LanguageRun
    variant: str
    seeds: tuple[int, ...]
    trained: tuple[Run | LanguageRun, ...]
    batches: int
    every_matrix: bool
    execution: Execution

    @property
    def settings(self) -> RunSettings | LanguageSettings:
        return self.run.settings

    @property
    def id(self) -> str:
        """For example `post-6`, `post-6-after-warm-up` or `pre-6-no-dropout`."""
        parts = [PLACEMENTS[self.settings.placement].name, str(self.settings.decoder_layers), self.variant]
        return "-".join([part for part in parts if part] + [AFTER_WARMUP] * bool(self.trained))

    @property
    def identity(self) -> dict[str, Any]:
        unused = NOT_IN_A_LANGUAGE_MODEL if isinstance(self.run, LanguageRun) else NOT_AT_INITIALISATION
        return {
            "theory_version": THEORY_VERSION,
            **self.run.text_identity,
            "model": self.settings.model_dump(mode="json", exclude=unused | _SEPARATE),
            "variant": self.variant,
            "seeds": list(self.seeds),
            "trained": [run.identity for run in self.trained],
            "batches": self.batches,
            "every_matrix": self.every_matrix,
        }

    @property
    def prepared(self) -> tuple[Prepared, ...]:
        return self.run.prepared

    @property
    def weights_of(self) -> tuple[Job, ...]:
        """The translation runs that are measured at the end of their warm-up; that of a language model is made
        again."""
        return tuple(run for run in self.trained if isinstance(run, Run))


MeasurementJob = ExactJob | GradientJob


def expand(study: Study, origin: Origin = "study") -> list[MeasurementJob]:
    """The measurements of a study's theory; empty if it has no such section.

    They are for Post-LN and Pre-LN, which the paper's theory compares, and for every other placement among the runs: of
    the gradients, among the runs of the kind whose gradients are measured.

    Raises:
        StudyError: if the theory names a run that is not in the study or cannot be used.
    """
    if (theory := study.theory) is None:
        return []
    runs: list[Run | LanguageRun] = [*translation.expand(study, origin), *language.expand(study, origin)]
    placements = in_order([*PAPER, *(run.settings.placement for run in runs)])
    execution = study.execution.alone
    # The toy model has no use for a GPU.
    on_cpu = execution.model_copy(update={"gpus": 0})
    jobs: list[MeasurementJob] = [
        ExactJob(sweep, theory.exact, theory.exact.seeds or theory.seeds, on_cpu, group)
        for group in (PAPER, *((name,) for name in placements if name not in PAPER))
        for sweep in EXACT
    ]
    if theory.gradients is None:
        return jobs
    gradients = theory.gradients
    trained = _trained(gradients, runs, origin)
    model = trained[0]
    alike = in_order([*PAPER, *(run.settings.placement for run in runs if isinstance(run, type(model)))])

    def initial(placement: str, depth: int, variant: str = "") -> GradientJob:
        depths = dict.fromkeys(_depths(model.settings), depth)
        settings: Any = model.settings.model_copy(update={"placement": placement, **depths})
        return GradientJob(
            replace(model, settings=_varied(settings, variant, origin)),
            variant,
            seeds=tuple(range(1, theory.seeds + 1)),
            trained=(),
            batches=gradients.batches,
            every_matrix=depth == gradients.depths[0],
            execution=execution,
        )

    first = gradients.depths[0]
    jobs += [initial(placement, depth) for depth in gradients.depths for placement in alike]
    jobs += [initial(placement, first, variant) for variant in gradients.variants for placement in alike]
    seeds = tuple(run.settings.seed for run in trained)
    jobs.append(GradientJob(model, "", seeds, trained, gradients.batches, True, execution))
    return jobs


def _trained(gradients: Gradients, runs: Sequence[Run | LanguageRun], origin: Origin) -> tuple[Run | LanguageRun, ...]:
    """The runs that the theory names: seeds of one model with a warm-up."""
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
        depths = [getattr(settings, key) for key in _depths(settings)]
        if set(depths) != {gradients.depths[0]}:
            wrong.append(
                f"{where}: {name} has {'-'.join(map(str, depths))} layers, and the first of "
                f"theory.gradients.depths is {gradients.depths[0]}: they must be the same"
            )
        if gradients.variants and isinstance(by_id[name], LanguageRun):
            wrong.append(f"theory.gradients.variants: {name} is a language model; they are of translation models")
    refuse(placed(origin, wrong))
    chosen = tuple(by_id[name] for name in gradients.runs)
    if len({series(run.settings) for run in chosen}) > 1:
        refuse(placed(origin, [f"{where}: {listed(gradients.runs)} differ in more than their seed"]))
    return chosen


def _depths(settings: RunSettings | LanguageSettings) -> tuple[str, ...]:
    """The settings that hold a model's depth."""
    return ("encoder_layers", "decoder_layers") if isinstance(settings, RunSettings) else ("layers",)


VARIED_SETTINGS: dict[str, Callable[[RunSettings], dict[str, Any]]] = {
    "no-dropout": lambda settings: {"dropout": 0.0},
    "no-label-smoothing": lambda settings: {"label_smoothing": 0.0},
    "quarter-batch": lambda settings: {"batch_tokens": settings.batch_tokens // 4},
    "fairseq-feed-forward": lambda settings: {"initialisation": "fairseq"},
}
"""The variants that change a run's settings; those that change the weights are in `fairseq_plugin.probe`."""

INITIALISATIONS = {
    "fairseq-feed-forward": ("initialisation", "fairseq"),
    "xavier-feed-forward": ("initialisation", "xavier"),
    "unpacked-projections": ("projections", "separate"),
}
"""Initialisations that are variants only for runs with another value of the setting."""


def _varied(settings: Any, variant: str, origin: Origin) -> Any:
    """The settings with a variant's changes to settings.

    Raises:
        StudyError: if the changed settings are invalid.
    """
    where = "theory.gradients.variants"
    content = settings.model_dump()
    for name in variant.split("+"):
        key, value = INITIALISATIONS.get(name, ("", None))
        if value is not None and getattr(settings, key) == value:
            refuse(placed(origin, [f"{where}: {name} changes nothing: {key} is {value} in these runs already"]))
        if name in VARIED_SETTINGS:
            content |= VARIED_SETTINGS[name](settings)
    try:
        return type(settings).model_validate(content)
    except ValidationError as error:
        refuse(placed(origin, [f"{where}: {variant}: {line}" for line in describe(error, content, type(settings))]))
        raise
