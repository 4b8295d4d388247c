"""Each schedule against its closed form, and as fairseq is given it."""

from __future__ import annotations

import math
from math import sqrt
from typing import Any

import pytest

from preln import schedules
from preln.config import RunSettings
from preln.errors import PrelnError
from preln.fairseq_plugin.schedule import LinearConfig, LinearScheduler, Schedule, ScheduleConfig
from tests.conftest import settings

pytestmark = pytest.mark.numbers

PEAK = 5e-4
UPDATES = (1, 500, 4000, 8000)


def rates(*updates: int, drop_update: int | None = None, **changes: Any) -> list[float]:
    schedule = schedules.of(settings(**{"learning_rate": PEAK, **changes}))
    return [schedule.rate(update, drop_update) for update in updates]


def test_vaswanis_schedule_warms_up_linearly_and_decays_with_the_inverse_square_root() -> None:
    expected = [PEAK / 4000, PEAK * 500 / 4000, PEAK, PEAK / sqrt(2)]
    assert rates(*UPDATES, warmup=4000) == pytest.approx(expected)


def test_reading_a_decays_from_the_first_update() -> None:
    expected = [PEAK, PEAK / sqrt(500), PEAK / sqrt(4000), PEAK / sqrt(8000)]
    assert rates(*UPDATES, warmup=0, anchor="warmup") == pytest.approx(expected)


def test_a_warm_up_of_one_update_is_none() -> None:
    assert rates(*UPDATES, warmup=1) == rates(*UPDATES, warmup=0)


def test_reading_b_holds_the_peak() -> None:
    held: dict[str, Any] = {"warmup": 0, "anchor": "hold", "decay_period": 4000}
    assert rates(*UPDATES, 4001, **held) == pytest.approx([PEAK, PEAK, PEAK, PEAK / sqrt(2), PEAK * sqrt(4000 / 4001)])


def test_reading_c_is_shifted() -> None:
    expected = [PEAK * sqrt(4000 / (4000 + t)) for t in UPDATES]
    assert rates(*UPDATES, warmup=0, anchor="shift", decay_period=4000) == pytest.approx(expected)


def test_constant_drops_once_after_its_epoch() -> None:
    drop: dict[str, Any] = {"schedule": "constant", "drop_epoch": 8, "epochs": 15, "warmup": 0}
    assert rates(1, 8800, **drop) == [PEAK, PEAK]
    assert rates(8800, 8801, 16000, drop_update=8800, **drop) == pytest.approx([PEAK, PEAK / 10, PEAK / 10])


def test_wmts_schedule_is_constant_until_its_epoch_and_then_inverse_square_root() -> None:
    drop: dict[str, Any] = {
        "schedule": "drop-inverse-sqrt",
        "drop_epoch": 6,
        "epochs": 15,
        "drop_factor": 1.0,
        "warmup": 0,
    }
    assert rates(1, 6000, **drop) == [PEAK, PEAK]
    assert rates(6000, 24000, drop_update=6000, **drop) == pytest.approx([PEAK, PEAK / 2])


def test_linear_reaches_zero_at_its_last_update_and_stays_there() -> None:
    linear: dict[str, Any] = {"schedule": "linear", "decay_updates": 8000, "warmup": 0}
    assert rates(*UPDATES, 9000, **linear) == pytest.approx(
        [PEAK * 7999 / 8000, PEAK * 7500 / 8000, PEAK / 2, 0.0, 0.0]
    )


def test_linear_after_a_warm_up_starts_from_the_peak() -> None:
    linear: dict[str, Any] = {"schedule": "linear", "decay_updates": 8000, "warmup": 4000}
    assert rates(*UPDATES, **linear) == pytest.approx([PEAK / 4000, PEAK / 8, PEAK, 0.0])


def test_half_a_cosine_leads_from_the_peak_to_zero() -> None:
    cosine: dict[str, Any] = {"schedule": "cosine", "warmup": 100, "decay_updates": 500}
    assert rates(50, 100, 300, 400, 500, 600, **cosine) == pytest.approx(
        [PEAK / 2, PEAK, PEAK / 2, PEAK * (1 - math.sqrt(0.5)) / 2, 0.0, 0.0]
    )


def test_warm_up_stable_decay_is_constant_and_then_linear_to_zero() -> None:
    stable: dict[str, Any] = {"schedule": "stable-decay", "warmup": 100, "decay_start": 400, "decay_updates": 500}
    assert rates(50, 100, 400, 450, 500, 600, **stable) == pytest.approx([PEAK / 2, PEAK, PEAK, PEAK / 2, 0.0, 0.0])


@pytest.mark.parametrize("name", schedules.SCHEDULES)
def test_every_schedule_warms_up_to_its_peak_and_says_what_it_is(name: str) -> None:
    missing = [key for key in schedules.SCHEDULES[name].needs() if getattr(settings(), key) is None]
    needs = {key: 100 * number for number, key in enumerate(missing, start=1)}
    run = settings(learning_rate=PEAK, schedule=name, warmup=10, epochs=200, **needs)
    schedule = schedules.of(run)
    assert [schedule.rate(update) for update in (1, 5, 10)] == pytest.approx([PEAK / 10, PEAK / 2, PEAK])
    assert schedule.label()
    assert name in schedule.about


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"schedule": "linear"}, "decay_updates: needed by the schedule linear"),
        (
            {"schedule": "stable-decay", "decay_start": 9, "decay_updates": 9},
            "decay_updates: 9 does not exceed decay_start 9",
        ),
        (
            {"schedule": "stable-decay", "decay_start": 9, "decay_updates": 99, "warmup": 10},
            "decay_start: 9 is before the end of the warm-up 10",
        ),
        (
            {"schedule": "constant", "decay_updates": 9},
            "decay_updates: only for .*linear.*, not constant; leave it out, or give this run decay_updates: null",
        ),
        (
            {"schedule": "linear", "decay_updates": 99, "drop_epoch": 1},
            "drop_epoch: only for constant and .*drop-inverse-sqrt, not linear; .* drop_epoch: null",
        ),
        (
            {"schedule": "constant", "anchor": "hold"},
            "anchor: only for .*inverse-sqrt.*, not constant; .* anchor: warmup",
        ),
    ],
    ids=str,
)
def test_a_run_has_the_settings_of_its_schedule_alone(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        settings(**changes)


class Optimizer:
    """Remembers the rate it is set to."""

    rate = -1.0

    def set_lr(self, rate: float) -> None:
        self.rate = rate

    def get_lr(self) -> float:
        return self.rate


def scheduler(**changes: Any) -> Schedule:
    run = settings(**{"learning_rate": PEAK, **changes})
    schedule = Schedule(ScheduleConfig(run_settings=run.model_dump_json()), None)
    return schedule


@pytest.fixture(autouse=True)
def _fake_optimizer(monkeypatch: pytest.MonkeyPatch) -> None:
    base = Schedule.__mro__[1]

    def init(self: Any, cfg: Any, optimizer: Any) -> None:
        self.cfg, self.optimizer, self.best = cfg, Optimizer(), None

    monkeypatch.setattr(base, "__init__", init)


def test_fairseq_gets_the_first_updates_rate_before_it_and_the_nexts_after_each() -> None:
    assert scheduler(warmup=0).optimizer.get_lr() == pytest.approx(PEAK)
    warmed_up = scheduler(warmup=4000)
    assert warmed_up.optimizer.get_lr() == pytest.approx(PEAK / 4000)
    assert warmed_up.step_update(499) == pytest.approx(PEAK * 500 / 4000)


def test_berts_linear_decay_is_the_schedule_of_that_name() -> None:
    bert = LinearScheduler(LinearConfig(warmup=10, total_updates=100, lr=[PEAK]), None)
    expected = rates(1, 10, 55, 100, schedule="linear", warmup=10, decay_updates=100)
    assert [bert.step_update(update - 1) for update in (1, 10, 55, 100)] == expected


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
