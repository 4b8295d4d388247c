"""What tests ask of a refusal: that a line of it names what it is about, in whatever words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest


def names(said: str, *parts: str) -> bool:
    """Whether one line of a message names all of these: the file, the key or the line, the value, what is allowed."""
    return any(all(part in line for part in parts) for line in said.splitlines())


@contextmanager
def refused(kind: type[Exception], *parts: str) -> Iterator[pytest.ExceptionInfo[Exception]]:
    """Expect a refusal that names all of these in one line, as `names` has it."""
    with pytest.raises(kind) as caught:
        yield caught
    assert names(str(caught.value), *parts), f"no line names all of {parts}: {caught.value}"
