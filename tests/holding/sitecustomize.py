"""Holds one process of a training at a moment. Python imports this file as it starts where tests/moments.py says so.

The process is held at a line that it logs, or before a file takes its place. It goes on when it is told something by a
signal, or when it is let go.
"""

import logging
import os
import re
import select
import signal
import sys
from pathlib import Path
from typing import Any

FOLDER = Path(os.environ["PRELN_TESTS_HOLD"])
MOMENT = re.compile(os.environ["PRELN_TESTS_MOMENT"])
LOOK_SECONDS = 0.1


def hold(moment: str) -> None:
    """Hold this process if `found` is its moment, and none was held before."""
    if not MOMENT.search(moment) or (FOLDER / "held").exists():
        return
    told, tell = os.pipe()
    os.set_blocking(tell, False)
    # From here on, a signal with a handler leaves a byte in the pipe.
    before = signal.set_wakeup_fd(tell)
    try:
        (FOLDER / "held").touch(exist_ok=False)
        while not (FOLDER / "let go").exists() and not select.select([told], [], [], LOOK_SECONDS)[0]:
            pass
    except FileExistsError:
        # Another process came here at the same time.
        pass
    finally:
        signal.set_wakeup_fd(before)
        os.close(told)
        os.close(tell)


def look_at_line(line: logging.LogRecord) -> bool:
    """Hold at a line of progress."""
    hold(line.getMessage())
    return True


def look_at_file(event: str, arguments: tuple[Any, ...]) -> None:
    """Hold before a file takes its place."""
    if event == "os.rename":
        hold(str(arguments[1]))


logging.getLogger("fairseq.logging.progress_bar").addFilter(look_at_line)
sys.addaudithook(look_at_file)
