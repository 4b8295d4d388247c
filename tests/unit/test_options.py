"""Settings enter fairseq in one place: as options of its own parts, and as the run for ours."""

from __future__ import annotations

from argparse import ArgumentParser
from dataclasses import fields
from typing import Any

import pytest
from fairseq.dataclass import FairseqDataclass
from fairseq.models.roberta import RobertaModel
from fairseq.models.transformer import TransformerModelBase
from fairseq.tasks.masked_lm import MaskedLMConfig
from fairseq.tasks.sentence_prediction import SentencePredictionConfig
from fairseq.tasks.translation import TranslationConfig

from preln.config import PretrainingSettings, RunSettings
from preln.fairseq_plugin.bert import PlacedBert
from preln.fairseq_plugin.masked_lm import RecordedMaskedLMConfig
from preln.fairseq_plugin.schedule import ScheduleConfig
from preln.fairseq_plugin.sentence_prediction import ScoredSentencePredictionConfig
from preln.fairseq_plugin.transformer import PlacedTransformer
from preln.fairseq_plugin.translation import RecordedTranslationConfig

SETTINGS = RunSettings.model_fields.keys() | PretrainingSettings.model_fields.keys()


@pytest.mark.parametrize(
    ("ours", "fairseqs"),
    [
        (RecordedTranslationConfig, TranslationConfig),
        (RecordedMaskedLMConfig, MaskedLMConfig),
        (ScoredSentencePredictionConfig, SentencePredictionConfig),
        (ScheduleConfig, FairseqDataclass),
    ],
)
def test_a_task_or_a_schedule_of_ours_has_no_option_for_a_setting(ours: Any, fairseqs: Any) -> None:
    added = {field.name for field in fields(ours)} - {field.name for field in fields(fairseqs)}
    assert not added & SETTINGS


def options(model: Any) -> set[str]:
    parser = ArgumentParser()
    model.add_args(parser)
    return set(vars(parser.parse_known_args(["--run-settings", "{}"])[0]))


@pytest.mark.parametrize(("ours", "fairseqs"), [(PlacedTransformer, TransformerModelBase), (PlacedBert, RobertaModel)])
def test_a_model_of_ours_has_the_run_as_its_only_option_beside_fairseqs(ours: Any, fairseqs: Any) -> None:
    assert options(ours) - options(fairseqs) == {"run_settings"}
