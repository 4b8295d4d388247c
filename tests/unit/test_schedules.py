"""Each schedule against its closed form, and as fairseq is given it."""

import json
from argparse import Namespace
from dataclasses import asdict
from math import sqrt
from typing import Any

import pytest
import torch
from fairseq.optim.sgd import SGD

from preln import schedules
from preln.config import RunSettings
from preln.errors import PrelnError
from preln.fairseq_plugin.schedule import Schedule, ScheduleConfig
from tests.conftest import settings

pytestmark = pytest.mark.numbers

PEAK = 5e-4
UPDATES = (1, 500, 4000, 8000)


def rates(*updates: int, drop_update: int | None = None, **changes: Any) -> list[float]:
    schedule = schedules.of(settings(**{"learning_rate": PEAK, **changes}))
    return [schedule.rate(update, drop_update) for update in updates]


# The settings of each schedule, and its rate at each update as a share of the peak.
CLOSED_FORMS: dict[str, tuple[dict[str, Any], dict[int, float]]] = {
    "Vaswani's": ({"warmup": 4000}, {1: 1 / 4000, 500: 1 / 8, 4000: 1, 8000: 1 / sqrt(2)}),
    "reading A": ({"warmup": 0, "anchor": "warmup"}, {update: 1 / sqrt(update) for update in UPDATES}),
    "reading B": (
        {"warmup": 0, "anchor": "hold", "decay_period": 4000},
        {1: 1, 500: 1, 4000: 1, 4001: sqrt(4000 / 4001), 8000: 1 / sqrt(2)},
    ),
    "reading C": (
        {"warmup": 0, "anchor": "shift", "decay_period": 4000},
        {update: sqrt(4000 / (4000 + update)) for update in UPDATES},
    ),
    "linear": (
        {"schedule": "linear", "decay_updates": 8000, "warmup": 0},
        {1: 7999 / 8000, 500: 7500 / 8000, 4000: 0.5, 8000: 0, 9000: 0},
    ),
    "linear after a warm-up": (
        {"schedule": "linear", "decay_updates": 8000, "warmup": 4000},
        {1: 1 / 4000, 500: 1 / 8, 4000: 1, 8000: 0},
    ),
    "half a cosine": (
        {"schedule": "cosine", "warmup": 100, "decay_updates": 500},
        {50: 0.5, 100: 1, 300: 0.5, 400: (1 - sqrt(0.5)) / 2, 500: 0, 600: 0},
    ),
    "warm-up, stable, decay": (
        {"schedule": "stable-decay", "warmup": 100, "decay_start": 400, "decay_updates": 500},
        {50: 0.5, 100: 1, 400: 1, 450: 0.5, 500: 0, 600: 0},
    ),
}


@pytest.mark.parametrize(("changes", "expected"), CLOSED_FORMS.values(), ids=CLOSED_FORMS)
def test_a_schedule_is_its_closed_form(changes: dict[str, Any], expected: dict[int, float]) -> None:
    assert rates(*expected, **changes) == pytest.approx([PEAK * share for share in expected.values()])


def test_a_warm_up_of_one_update_is_none() -> None:
    assert rates(*UPDATES, warmup=1) == rates(*UPDATES, warmup=0)


def test_constant_drops_once_after_its_epoch() -> None:
    drop: dict[str, Any] = {"schedule": "constant", "drop_epoch": 8, "epochs": 15, "warmup": 0}
    assert rates(1, 8800, **drop) == [PEAK, PEAK]
    assert rates(8800, 8801, 16000, drop_update=8800, **drop) == pytest.approx([PEAK, PEAK / 10, PEAK / 10])


def test_wmts_schedule_is_constant_until_its_epoch_and_then_inverse_square_root() -> None:
    drop: dict[str, Any] = {"schedule": "drop-inverse-sqrt", "drop_epoch": 6, "drop_factor": 1.0}
    drop |= {"epochs": 15, "warmup": 0}
    assert rates(1, 6000, **drop) == [PEAK, PEAK]
    assert rates(6000, 24000, drop_update=6000, **drop) == pytest.approx([PEAK, PEAK / 2])


@pytest.mark.parametrize("name", schedules.SCHEDULES)
def test_every_schedule_warms_up_to_its_peak_and_says_what_it_is(name: str) -> None:
    missing = [key for key in schedules.SCHEDULES[name].needs() if getattr(settings(), key) is None]
    needs = {key: 100 * number for number, key in enumerate(missing, start=1)}
    run = settings(learning_rate=PEAK, schedule=name, warmup=10, epochs=200, **needs)
    schedule = schedules.of(run)
    assert [schedule.rate(update) for update in (1, 5, 10)] == pytest.approx([PEAK / 10, PEAK / 2, PEAK])
    assert schedule.label()
    assert name in schedule.about


def scheduler(**changes: Any) -> Schedule:
    """As fairseq calls it, with an optimizer."""
    schedule = schedules.of(settings(**{"learning_rate": PEAK, **changes}))
    optimizer = SGD(Namespace(lr=[1.0], momentum=0.0, weight_decay=0.0), [torch.zeros(1, requires_grad=True)])
    return Schedule(ScheduleConfig(schedule=json.dumps({"name": schedule.name, **asdict(schedule)})), optimizer)


def test_fairseq_gets_the_first_updates_rate_before_it_and_the_nexts_after_each() -> None:
    assert scheduler(warmup=0).optimizer.get_lr() == pytest.approx(PEAK)
    warmed_up = scheduler(warmup=4000)
    assert warmed_up.optimizer.get_lr() == pytest.approx(PEAK / 4000)
    assert warmed_up.step_update(499) == pytest.approx(PEAK * 500 / 4000)


def test_a_schedule_that_reads_what_no_run_has_is_refused() -> None:
    without = RunSettings.model_fields.keys() - {"decay_period"}
    with pytest.raises(PrelnError, match=r"inverse-sqrt reads decay_period, which no run has; add it to RunSettings"):
        schedules.require(without)


def test_the_drop_is_noted_at_its_epoch_and_survives_a_checkpoint() -> None:
    drop = {"schedule": "drop-inverse-sqrt", "drop_epoch": 1, "drop_factor": 1.0, "warmup": 0}
    first = scheduler(**drop)
    first.step_begin_epoch(1)
    first.step_update(100)
    assert first.optimizer.get_lr() == PEAK
    assert first.step_begin_epoch(2) == pytest.approx(PEAK * sqrt(100 / 101))
    resumed = scheduler(**drop)
    first.step_update(150)
    resumed.load_state_dict(first.state_dict())
    resumed.step_update(150)
    resumed.step_begin_epoch(2)
    assert resumed.step_update(399) == pytest.approx(PEAK / 2)
