"""Where training a language model fails, over learning rates and lengths of warm-up."""

from __future__ import annotations

from dataclasses import replace

from preln.language.report.failure_map import endings
from preln.questions import failure_map
from preln.questions.base import Evidence, Question
from preln.report.core.failure_map import Map


def _maps(evidence: Evidence) -> list[Map]:
    """The maps at a rate that is constant after the warm-up, so that only the warm-up can keep a run from failing."""
    every = failure_map.maps_of(endings(study.language) for study in evidence.studies)
    return [a_map for a_map in every if a_map.settings.schedule == "constant"]


QUESTION: Question = replace(
    failure_map.QUESTION,
    name="language-map",
    statement="At which learning rates and lengths of warm-up does training a language model fail?",
    rule="Width 64, 600 updates of the embedded English as bytes, seven rates, five warm-ups. A run learns if it "
    "ends at least 0.3 bits a token below the unigram baseline. A seed's limit is the highest rate at which it "
    "learns, where it learns at a lower one too. Post-LN needs the warm-up if the longest one raises its limit at "
    "least fourfold. Pre-LN does not if that raises its limit by at most a step of the grid. Noise sets Post-LN's "
    "limit if four times the tokens an update raise it by a step.",
    written="2026-11-28",
    findings=lambda evidence: failure_map.judged(QUESTION, _maps(evidence)),
    table=lambda evidence: failure_map.tables(_maps(evidence)),
    reads=("language-map",),
)
