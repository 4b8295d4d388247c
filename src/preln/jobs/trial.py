"""A placement that does not come along, tried in a small model before any job."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from preln.discovery import located
from preln.errors import PrelnError
from preln.placements import COME_ALONG, PLACEMENTS
from preln.placements.base import Placement, Shape, places, profiling

_SHAPE = Shape(width=8, inner=16)
_LAYERS = 2


def try_all(keys: Iterable[str]) -> None:
    """Try each placement, by its key in `PLACEMENTS`, that does not come along.

    Raises:
        PrelnError: if a connection cannot be built, fails, or changes the shape of the stream; with the line.
    """
    for key in dict.fromkeys(keys):
        if key not in COME_ALONG:
            _try(PLACEMENTS[key])


def _try(placement: Placement) -> None:
    import torch

    file, (_, line) = Path(inspect.getfile(placement.residual)), inspect.getsourcelines(placement.residual)
    try:
        for depths in ((_LAYERS, 0), (0, _LAYERS)):
            stack: list[Any] = [placement.connection(_SHAPE, place) for place in places(*depths)]
            stream = embeddings = torch.randn(3, 2, _SHAPE.width)
            with profiling(stack) if placement.profiled else torch.enable_grad():
                for residual in stack:
                    stream = residual(stream, _sublayer)
                if placement.output is not None:
                    stream = placement.stack_norm(_SHAPE)(stream)  # type: ignore[misc]
            if stream.shape != embeddings.shape:
                was, now = tuple(embeddings.shape), tuple(stream.shape)
                name = placement.residual.__name__
                raise PrelnError(f"{file}:{line}: {name}: returns a stream of shape {now} for one of shape {was}")
    except PrelnError:
        raise
    except Exception as error:
        raise PrelnError(located(error, file)) from error


def _sublayer(h: Any, inside: Any = lambda x: x) -> Any:
    return inside(h.tanh())
