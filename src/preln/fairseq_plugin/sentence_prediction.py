"""Fine-tuning for the studies: from kept weights, scored once after the last update."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fairseq.tasks import register_task
from fairseq.tasks.sentence_prediction import SentencePredictionConfig, SentencePredictionTask
from sklearn.metrics import accuracy_score, f1_score

from preln.fairseq_plugin.checkpoints import load_weights
from preln.fairseq_plugin.recorded_task import GuardedTask
from preln.records.files import write_sealed

SCORES = "scores.json"
"""The file with a fine-tuning's scores, in its state."""


@dataclass
class ScoredSentencePredictionConfig(SentencePredictionConfig):
    """fairseq's options for sentence prediction, the initial weights, and the folder of the scores."""

    state: str = field(default="", metadata={"help": "folder of the scores"})
    weights: str = field(default="", metadata={"help": "file of the pre-trained weights"})


@register_task("preln_sentence_prediction", dataclass=ScoredSentencePredictionConfig)
class ScoredSentencePrediction(GuardedTask, SentencePredictionTask):
    """fairseq's task for pairs of sentences with one of two labels; dev is the subset valid."""

    def __init__(self, cfg: ScoredSentencePredictionConfig, data_dictionary: Any, label_dictionary: Any) -> None:
        super().__init__(cfg, data_dictionary, label_dictionary)
        self._labels: list[int] = []
        self._predictions: list[int] = []

    def build_model(self, cfg: Any, from_checkpoint: bool = False) -> Any:
        """The pre-trained model under a new head."""
        model = super().build_model(cfg, from_checkpoint)
        # The classification head, which is not among the weights, keeps fairseq's initialisation.
        load_weights(model, Path(self.cfg.weights))
        return model

    def begin_valid_epoch(self, epoch: int, model: Any) -> None:
        self._labels, self._predictions = [], []

    def valid_step(self, sample: Any, model: Any, criterion: Any) -> Any:
        loss, size, log = super().valid_step(sample, model, criterion)
        self._labels += log["targ"]
        self._predictions += log["pred"]
        return loss, size, log

    def post_validate(self, model: Any, stats: dict[str, Any], agg: Any) -> None:
        """Write accuracy and F1 of label 1, as fractions."""
        write_sealed(
            Path(self.cfg.state) / SCORES,
            {
                "accuracy": float(accuracy_score(self._labels, self._predictions)),
                "f1": float(f1_score(self._labels, self._predictions, zero_division=0.0)),
                "pairs": len(self._labels),
            },
        )
