"""The events of a workflow for `preln run`, which reads them from a pipe: a JSON object a line.

Snakemake finds this package by the beginning of its name. `--logger preln` writes the events beside its own log.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import dataclass, field
from logging import LogRecord

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent
from snakemake_interface_logger_plugins.settings import LogHandlerSettingsBase

_FIELDS: dict[LogEvent, tuple[str, ...]] = {
    LogEvent.WORKFLOW_STARTED: (),
    LogEvent.RUN_INFO: ("stats",),
    LogEvent.JOB_INFO: ("jobid", "rule_name", "rule_msg"),
    LogEvent.JOB_FINISHED: ("job_id",),
    LogEvent.JOB_ERROR: ("jobid",),
}
"""The fields that are written of each event, by Snakemake's names."""

_PLACES: tuple[str, ...] = ("study", "results", "replaced")
"""The fields of the record that says where the results of a study are (`workflow/rules/common.smk`)."""


@dataclass
class LogHandlerSettings(LogHandlerSettingsBase):
    """Where the events go."""

    events: int | None = field(
        default=None,
        metadata={"help": "File descriptor of the pipe that takes the events.", "type": int, "required": True},
    )


class LogHandler(LogHandlerBase):
    """Writes the events of the jobs, and where the results of each study are. A dry run has no events."""

    writes_to_stream = False
    writes_to_file = False
    has_filter = True
    has_formatter = True
    needs_rulegraph = False

    def __post_init__(self) -> None:
        assert isinstance(self.settings, LogHandlerSettings) and self.settings.events is not None
        self._pipe = self.settings.events

    def emit(self, record: LogRecord) -> None:
        """Write a record that is an event."""
        event = getattr(record, "event", None)
        if hasattr(record, "results"):
            event, fields = "results", _PLACES
        elif event in _FIELDS and not self.common_settings.dryrun:
            fields = _FIELDS[event]
        else:
            return
        content = {"event": event, "time": record.created} | {name: getattr(record, name) for name in fields}
        # `preln run` may have ended; the jobs end all the same.
        with suppress(BrokenPipeError):
            os.write(self._pipe, f"{json.dumps(content)}\n".encode())
