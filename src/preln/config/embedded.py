"""The text that comes with the package: how far it goes, and the version of its documents and tasks."""

from __future__ import annotations

from typing import Any

from pydantic import BeforeValidator, SerializationInfo, SerializerFunctionWrapHandler, model_serializer

from preln.config.base import IDENTITY, Settings

PAIRS = 24_000
"""German-English sentence pairs."""

DOCUMENTS = 4_000
"""English documents."""

TASK_PAIRS = 2_400
"""Sentence pairs of each task, train and dev together."""

EMBEDDED_VERSION = 2
"""Raised when the embedded documents or tasks change; a raise prepares them anew, and re-runs all that is trained on
them. The German-English pairs have no version: they do not change."""


class EmbeddedText(Settings):
    """Base of the texts whose identity has the version."""

    @model_serializer(mode="wrap")
    def _with_version(self, plain: SerializerFunctionWrapHandler, info: SerializationInfo) -> dict[str, Any]:
        version = {"version": EMBEDDED_VERSION} if info.context == IDENTITY else {}
        return {**plain(self), **version}


def at_most(available: int, instead: str) -> BeforeValidator:
    """A check that no more text is asked for than is available; the message says what to give instead."""

    def check(value: Any) -> Any:
        if isinstance(value, int) and value > available:
            raise ValueError(f"the embedded text has {available:,}; give at most as many, or {instead}")
        return value

    return BeforeValidator(check)
