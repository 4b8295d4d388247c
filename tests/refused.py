"""Calls of `preln`, and checks of a refusal: one of its lines must name the essential facts, in any words."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from preln.commands.cli import app, main


def call(*arguments: object) -> None:
    """Call `preln` in this process; an error stays as it is."""
    app(list(map(str, arguments)), standalone_mode=False)


def refusal(*arguments: str) -> str:
    """The message with which `preln` refuses its input."""
    with pytest.MonkeyPatch.context() as patch, pytest.raises(SystemExit) as ended:
        patch.setattr(sys, "argv", ["preln", *arguments])
        main()
    return str(ended.value)


def names(message: str, *parts: str) -> bool:
    """True if a line of a message names all parts: the file, the key or the line, the value, and what is allowed."""
    return any(all(part in line for part in parts) for line in message.splitlines())


@contextmanager
def refused(kind: type[Exception], *parts: str) -> Iterator[pytest.ExceptionInfo[Exception]]:
    """Expect a refusal that names all of these in one line, as `names` has it."""
    with pytest.raises(kind) as caught:
        yield caught
    assert names(str(caught.value), *parts), f"no line names all of {parts}: {caught.value}"
