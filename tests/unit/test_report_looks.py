"""A run has one look, whether it is trained or traced; of a placement's runs, one looks as the placement does."""

from __future__ import annotations

from typing import Any

from preln.config import validate
from preln.jobs.grid import series
from preln.placements import PLACEMENTS
from preln.report.core.looks import of_placement
from preln.theory import trace_jobs
from preln.translation import runs
from preln.translation.report.curves import looks_of
from tests.conftest import RUN, study_content
from tests.made_up.translation import POST, small_study


def test_a_placements_first_run_without_a_warm_up_looks_as_the_placement() -> None:
    study, grid = small_study(*({**POST, "placement": name, "warmup": [400, 0]} for name in ("post", "pre", "admin")))

    looks = looks_of(study)

    same = {
        run.settings.placement for run in grid if looks[series(run.settings)] == of_placement(run.settings.placement)
    }
    assert same == {"post", "pre", "admin"}
    own = {PLACEMENTS[name].colour for name in same}
    assert all((looks[series(run.settings)]["color"] in own) == (run.settings.warmup == 0) for run in grid)


def test_a_trace_looks_as_the_training_of_its_run_whatever_it_does_not_depend_on() -> None:
    grid: list[dict[str, Any]] = [{"placement": ["pre", "post"], "warmup": [10, 0], "seed": [1, 2]}]
    traced = {"settings": {**RUN, "epochs": 7, "beam": 1}, "runs": grid}
    study = validate(study_content(*grid, first_updates=traced), "my.yaml")

    looks = looks_of(study)

    trained = [looks[series(run.settings)] for run in runs.expand(study)]
    assert [looks[series(job.run.settings)] for job in trace_jobs.expand(study)] == trained
    assert len({(look["color"], look["marker"]) for look in trained}) == 4
