"""The text, the models and the machine of a study, in a line or two each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from preln.corpora.languages import MOSES
from preln.jobs.base import Job
from preln.libraries import pd
from preln.questions.core.evidence import Recorded
from preln.report.core.forms import MISSING
from preln.report.core.labels import counted, text_name
from preln.report.core.validated import Validated

_MOST = 3
"""Values of a setting that a line names; of more it names the ends."""


def texts(records: Iterable[tuple[Job, dict[str, Any]]]) -> list[str]:
    """The texts of recorded runs, which are jobs with their run.json: languages, pairs or documents, files and
    vocabulary."""
    lines: dict[str, str] = {}
    for job, record in records:
        settings: Any = getattr(job, "settings", None)
        if corpus := record.get("corpus"):
            lines.setdefault(settings.corpus, f"{text_name(settings.corpus)}: {_pairs(corpus)}")
        elif text := record.get("text"):
            lines.setdefault(settings.text, f"{text_name(settings.text)}: {_documents(text)}")
    return list(lines.values())


def _pairs(corpus: dict[str, Any]) -> str:
    source, target = (MOSES.get(tag, tag) for tag in (corpus["languages"][side] for side in ("source", "target")))
    parts = ", ".join(f"{corpus['parts'][part]['pairs']:,} {part}" for part in ("train", "valid", "test"))
    settings = corpus["settings"]
    files = " and ".join(settings["train"].values()) if corpus["source"] == "files" else corpus["title"]
    return f"{source} to {target}, {parts} pairs ({files}), at most {settings['vocabulary']:,} BPE pieces."


def _documents(text: dict[str, Any]) -> str:
    train, settings = text["parts"]["train"], text["settings"]
    sources = [source.get("path") or source.get("folder") or source["source"] for source in settings["sources"]]
    return (
        f"{train['documents']:,} documents of {train['words']:,} words ({', '.join(map(text_name, sources))}), at most "
        f"{settings['vocabulary']:,} BPE pieces."
    )


def models(recorded: Recorded) -> list[str]:
    """The trained models of a study, a line a kind: layers, width, parameters, batch and updates."""
    lines, done = [], recorded.translation.summary
    if len(done):
        settings: list[Any] = [run.settings for run in recorded.translation.runs]
        layers = [
            _values(getattr(setting, f"{stack}_layers") for setting in settings) for stack in ("encoder", "decoder")
        ]
        tokens = _values(setting.tokens_an_update for setting in settings)
        epochs = counted(_values(setting.epochs for setting in settings), "epoch")
        lines.append(
            f"Translation: {' + '.join(layers)} layers {_shape(settings, done['parameters'])}; batches of {tokens} "
            f"tokens, {_values(done['updates'])} updates in {epochs}."
        )
    validated: dict[str, Validated[Any]] = {"BERT": recorded.bert, "Language model": recorded.language}
    for name, records in validated.items():
        settings = [run.settings for run in records.runs if run.id in records.metrics]
        if settings:
            parameters = [metrics["parameters"] for metrics in records.metrics.values()]
            sequences = _values(setting.batch_sequences * setting.accumulate for setting in settings)
            lines.append(
                f"{name}: {_values(setting.layers for setting in settings)} layers {_shape(settings, parameters)}; "
                f"batches of {sequences} sequences of "
                f"{_values(setting.sequence_length for setting in settings)} tokens, "
                f"{_values(setting.updates for setting in settings)} updates."
            )
    return lines


def _shape(settings: list[Any], parameters: Iterable[Any]) -> str:
    width, inner, heads = (
        _values(getattr(setting, key) for setting in settings) for key in ("width", "ffn_width", "heads")
    )
    return f"of width {width} (feed-forward {inner}, {heads} heads), {_values(parameters)} parameters"


def _values(values: Iterable[Any]) -> str:
    """The values of a setting, ascending. A run that diverged in its first epoch has no parameters."""
    texts = [f"{value:,}" for value in sorted({value for value in values if pd.notna(value)})]
    return (" or ".join(texts) or MISSING) if len(texts) <= _MOST else f"{texts[0]} to {texts[-1]}"
