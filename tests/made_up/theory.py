"""Parts of a study's theory and their records, made up."""

import math
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

from preln.config import Study, validate
from preln.language import runs as language
from preln.records.files import write_sealed
from preln.theory import measurement_jobs
from preln.theory.measurement_jobs import ExactJob, MeasurementJob
from preln.theory.measurements import Measurement, write
from tests.conftest import language_content, study_content

RUN = {"placement": "post", "encoder_layers": 6, "decoder_layers": 6}
NAME = "post-adam-lr2e-3-wu10-encoderlayers6-decoderlayers6-s1"
SEEDS = 3


def small_study(run: dict[str, Any] = RUN, name: str = NAME, **changes: Any) -> tuple[Study, list[MeasurementJob]]:
    theory = {
        "seeds": SEEDS,
        "exact": {"width": 16, "depth": 4, "depths": [1, 2, 4], "widths": [8, 16, 32], "length": 4},
        "gradients": {"runs": [name], "depths": [6, 8], "batches": 1, "variants": ["no-dropout"]},
    }
    study = validate(study_content(run, theory=theory, **changes), "study.yaml")
    return study, measurement_jobs.expand(study)


def language_theory(*runs: dict[str, Any], **gradients: Any) -> dict[str, Any]:
    """The content of a study of the gradients of language models, of which the first is measured after its warm-up."""
    content = language_content(*(runs or ({"placement": "post", "warmup": 4},)))
    trained = language.expand(validate(content, "study.yaml"))[0].id
    exact = {"width": 8, "depth": 2, "depths": [1, 2, 4], "widths": [8, 16, 32], "length": 4}
    section = {"runs": [trained], "depths": [2, 3], "batches": 3, **gradients}
    return {**content, "theory": {"seeds": 2, "exact": exact, "gradients": section}}


def write_part(study: Study, part: MeasurementJob, rows: list[Measurement], results: Path) -> None:
    folder = results / study.study / "theory" / part.id
    write(rows, folder / "measurements.csv")
    record = {"identity": part.identity, "commit": "c0ffee", "hardware": {"gpus": [], "processor": "an abacus"}}
    write_sealed(folder / "run.json", record)


OF_A_LAYER = {
    **{"square_norm": 1.5, "relu_square_norm": 0.5, "jacobian_norm": 0.8, "jacobian_closed_form": 0.8},
    **{"excess_share": 0.1, "excess_quantile": 0.05},
}


def rows_of(part: MeasurementJob, width: int = 16) -> list[Measurement]:
    """Made-up measurements of simple form: gradients of (depth or layer) to a known power, times the seed's factor."""
    rows: list[Measurement] = []
    base = Measurement("exact", "", "initial", "post", "encoder", 4, width, None, "", 1, "", math.nan)

    def add(quantity: str, value: float, **place: Any) -> None:
        rows.append(replace(base, quantity=quantity, value=value, **place))

    for seed, placement in product(range(1, SEEDS + 1), ("post", "pre")):
        factor = 1 + seed / 100
        of: dict[str, Any] = {"seed": seed, "placement": placement}
        if isinstance(part, ExactJob) and part.sweep == "layers":
            for stack, layer in product(("encoder", "decoder"), range(1, 5)):
                at = {**of, "stack": stack, "layer": layer}
                for quantity, value in OF_A_LAYER.items():
                    add(quantity, value, **at)
                add("gradient_norm", 1.5**layer * factor, matrix="W2", **at)
        elif isinstance(part, ExactJob):
            power = {"post": 0.0, "pre": -0.5}[placement]
            swept = (1, 2, 4) if part.sweep == "depths" else (8, 16, 32)
            for size, variant in product(swept, ("", "unit-output")):
                at = {**of, part.sweep.removesuffix("s"): size, "layer": 4, "matrix": "W2", "variant": variant}
                add("gradient_norm", size**power * factor, **at)
        elif placement == part.settings.placement:
            depth, state = part.settings.decoder_layers, "after-warm-up" if part.trained else "initial"
            of |= {"model": "translation", "variant": part.variant, "state": state, "depth": depth, "stack": "decoder"}
            for layer, matrix in product(range(1, depth + 1), ("W1", "W2")):
                add("expected_gradient_norm", 2.0 ** (layer - 6) * factor, layer=layer, matrix=matrix, **of)
    return rows
