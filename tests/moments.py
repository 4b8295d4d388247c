"""How tests come in time for a moment of a training: it is held there until they are done. None depends on how fast the
machine is."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

PATIENCE = 1200
"""Seconds after which what should come is taken never to come; a machine that is merely slow has it before."""
LOOK_SECONDS = 0.05


def wait(condition: Callable[[], bool]) -> None:
    """Wait for a state.

    Raises:
        TimeoutError: if it does not come.
    """
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"waited {PATIENCE} seconds in vain")
        time.sleep(LOOK_SECONDS)


def in_epoch(number: int) -> str:
    """Inside an epoch, at the first update that is logged."""
    return rf'"epoch": {number}, "update"'


def after_update(number: int) -> str:
    """After an update that is logged."""
    return rf'"num_updates": "{number}"'


def before_file(name: str) -> str:
    """Before a file of this name, a regular expression, takes its place."""
    return rf"/{name}$"


@dataclass(frozen=True)
class Hold:
    """Where the first process of a training that comes to a moment is held, until it is told to stop, or let go.

    Attributes:
        folder: where it is noted, empty before.
        moment: a regular expression of what the training then logs, or of the path of a file that it then has written.
    """

    folder: Path
    moment: str

    def environment(self, environment: Mapping[str, str]) -> dict[str, str]:
        """An environment in which processes heed this."""
        found = [str(Path(__file__).parent / "holding"), environment.get("PYTHONPATH", "")]
        return {
            **environment,
            "PYTHONPATH": os.pathsep.join(filter(None, found)),
            "PRELN_TESTS_HOLD": str(self.folder),
            "PRELN_TESTS_MOMENT": self.moment,
        }

    def wait(self, process: subprocess.Popen[bytes] | subprocess.Popen[str]) -> None:
        """Wait until a process is held; `process` began the training."""

        def came() -> bool:
            held = (self.folder / "held").exists()
            assert held or process.poll() is None, "the moment never came"
            return held

        wait(came)

    def let_go(self) -> None:
        """Have the process go on."""
        (self.folder / "let go").touch()


NewHold = Callable[[str], Hold]
"""What the fixture `hold` is: it makes one for a moment."""
