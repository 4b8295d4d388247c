"""Holding a training at a moment until a test has acted, so that no test depends on the machine's speed."""

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

PATIENCE = 1200
"""Timeout in seconds, beyond what a slow machine needs."""
LOOK_SECONDS = 0.05
HOLDING = Path(__file__).parent / "holding"
"""The folder of the code that a process imports as it starts, to obey a hold."""


def wait(condition: Callable[[], bool]) -> None:
    """Wait for a state, at most for `PATIENCE`."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"waited {PATIENCE} seconds in vain")
        time.sleep(LOOK_SECONDS)


def is_running(process: int) -> bool:
    """True if a process is running: one that has ended, a zombie too, has no command line."""
    command = Path(f"/proc/{process}/cmdline")
    return command.exists() and bool(command.read_text(errors="replace"))


def in_epoch(number: int) -> str:
    """Inside an epoch, at the first update that is logged."""
    return rf'"epoch": {number}, "update"'


def after_update(number: int) -> str:
    """After an update that is logged."""
    return rf'"num_updates": "{number}"'


def before_file(name: str) -> str:
    """Before a file of this name, a regular expression, takes its place."""
    return rf"/{name}$"


class Started(Protocol):
    """A process that was started, with the methods of a subprocess."""

    @property
    def pid(self) -> int | None: ...
    def poll(self) -> int | None: ...
    def wait(self, timeout: float | None = None) -> int | None: ...
    def send_signal(self, number: int, /) -> None: ...
    def terminate(self) -> None: ...
    def kill(self) -> None: ...


@dataclass(frozen=True)
class Hold:
    """Holds the first process of a training that reaches a moment, until it gets a signal to stop or is let go."""

    folder: Path  # The folder in which the hold is noted, initially empty.
    moment: str  # A regular expression for a line of the log, or for the path of a written file.

    def environment(self, environment: Mapping[str, str]) -> dict[str, str]:
        """An environment in which processes obey this hold."""
        paths = [str(HOLDING), environment.get("PYTHONPATH", "")]
        return {
            **environment,
            "PYTHONPATH": os.pathsep.join(filter(None, paths)),
            "PRELN_TESTS_HOLD": str(self.folder),
            "PRELN_TESTS_MOMENT": self.moment,
        }

    def wait(self, process: Started) -> None:
        """Wait until a process is held; `process` began the training."""

        def came() -> bool:
            held = (self.folder / "held").exists()
            assert held or process.poll() is None, "the moment never came"
            return held

        wait(came)

    def let_go(self) -> None:
        (self.folder / "let go").touch()


NewHold = Callable[[str], Hold]
"""The type of the fixture `hold`, which makes a hold for a moment."""
