"""The jobs of a study: a run, a fine-tuning, a measurement of the theory, a trace of first updates."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from preln.jobs.prepared import Prepared


class Job(ABC):
    """A job of a study, which leaves records.

    Attributes:
        kind: the folder in a study's results in which jobs of its kind have a folder each.
        records: the names of its records in this folder. The first says what it is.
        id: its name, which no other job of its kind has in the study.
        identity: all that can change its numbers, as plain JSON values.
        execution: on what it is computed, which is not part of what it is (an `Execution`).
    """

    kind: ClassVar[str]
    records: ClassVar[tuple[str, ...]]
    id: Any
    execution: Any

    @property
    @abstractmethod
    def identity(self) -> dict[str, Any]: ...

    @property
    def prepared(self) -> tuple[Prepared, ...]:
        """The prepared texts that it reads."""
        return ()

    @property
    def weights_of(self) -> tuple[Job, ...]:
        """The runs whose weights it reads."""
        return ()

    @property
    def folder(self) -> str:
        """The folder of its records, in the folder of the study's results."""
        return f"{self.kind}/{self.id}"

    @property
    def files(self) -> list[str]:
        """Its records, in the folder of the study's results."""
        return [f"{self.folder}/{name}" for name in self.records]


def digest(value: dict[str, Any]) -> str:
    """SHA-256 of a value's canonical JSON, in hexadecimal."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
