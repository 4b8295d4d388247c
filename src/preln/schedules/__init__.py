"""The learning rate of each update: a module for each schedule, with its class as `SCHEDULE`.

To add a schedule is to add a module. Studies, trainings, ids, figures and tables take the schedules from here.
"""

from __future__ import annotations

import sys
from collections.abc import Collection

from preln.discovery import defined
from preln.errors import PrelnError
from preln.schedules.base import Schedule, ScheduledRun

SCHEDULES: dict[str, type[Schedule]] = defined(sys.modules[__name__], "SCHEDULE")
"""Every schedule by the name that a study uses for it."""

SETTINGS = frozenset().union(*(schedule.reads() for schedule in SCHEDULES.values()))
"""The settings of a run that are a schedule's."""


def of(settings: ScheduledRun) -> Schedule:
    """The schedule of a run."""
    return SCHEDULES[settings.schedule].of(settings)


def require(settings: Collection[str]) -> None:
    """See that the settings of a run have all that the schedules read.

    Raises:
        PrelnError: if one is missing.
    """
    for name, schedule in SCHEDULES.items():
        if unknown := sorted(schedule.reads().difference(settings)):
            raise PrelnError(
                f"the schedule {name} reads {', '.join(unknown)}, which no run has; add it to RunSettings in "
                "src/preln/config/translation.py (docs/how-it-is-built.md, A setting)"
            )


def unread(settings: ScheduledRun) -> frozenset[str]:
    """The schedules' settings that the schedule of a run does not read."""
    return SETTINGS - SCHEDULES[settings.schedule].reads()


def unused(settings: ScheduledRun) -> frozenset[str]:
    """The schedules' settings that do not change the rates of a run."""
    return unread(settings) | of(settings).idle()


def not_for(settings: ScheduledRun) -> frozenset[str]:
    """The schedules' settings that a run with its schedule must leave as they are: those that it does not read. Numbers
    are exempt: a study may set them for all runs, read or not."""
    return frozenset(key for key in unread(settings) if not isinstance(settings.default_of(key), int | float))


def problems(settings: ScheduledRun) -> list[str]:
    """The mistakes in the settings of a run's schedule: a line each, which begins with the key."""
    chosen = SCHEDULES[settings.schedule]
    wrong = [f"{key}: needed by the schedule {chosen.name}" for key in chosen.needs() if getattr(settings, key) is None]
    for key in sorted(not_for(settings)):
        default = settings.default_of(key)
        if getattr(settings, key) != default:
            readers = " and ".join(name for name, schedule in SCHEDULES.items() if key in schedule.reads())
            usual = f"{key}: {'null' if default is None else default}"
            wrong.append(f"{key}: only for {readers}, not {chosen.name}; leave it out, or give this run {usual}")
    return wrong or list(of(settings).problems())
