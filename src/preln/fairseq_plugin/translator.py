"""Translation of sentences by a trained model, outside of a training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from fairseq import tasks
from fairseq.data import data_utils
from torch import Tensor

from preln.config import Precision
from preln.fairseq_plugin import decoding
from preln.fairseq_plugin.launch import configuration


class Translator:
    """A model with the weights of a training, built by fairseq's options for the run."""

    def __init__(self, options: list[str], precision: Precision, weights: Mapping[str, Tensor]) -> None:
        cfg = configuration(options, precision)
        task = tasks.setup_task(cfg.task)
        self._model = task.build_model(cfg.model).eval()
        self._model.load_state_dict(weights, strict=True)
        self._source, self._target = task.source_dictionary, task.target_dictionary

    def unknown(self, pieces: Sequence[str]) -> list[str]:
        return [piece for piece in pieces if self._source.index(piece) == self._source.unk()]

    def translate(
        self, sentences: Sequence[Sequence[str]], beam: int, length_penalty: float
    ) -> list[list[tuple[float, str]]]:
        """Translations by beam search of sentences in BPE pieces, best first: the score, which is the log-probability
        over length^penalty, in nats, and the tokenised text."""
        encoded = [self._source.encode_line(" ".join(pieces), add_if_not_exist=False).long() for pieces in sentences]
        translations: list[list[tuple[float, str]]] = [[] for _ in encoded]
        sizes = np.array([len(sentence) for sentence in encoded], dtype=np.int64)
        order = sizes.argsort(kind="stable")
        for batch in data_utils.batch_by_size(order, None, sizes[order], decoding.TOKENS["cpu"]):
            sources = [encoded[index] for index in batch]
            source = data_utils.collate_tokens(sources, self._source.pad(), self._source.eos(), left_pad=True)
            lengths = torch.tensor([len(sentence) for sentence in sources])
            outputs = decoding.search(self._model, source, lengths, beam, length_penalty)
            for index, hypotheses in zip(batch, outputs, strict=True):
                translations[index] = [(h.score, decoding.words(self._target, h.pieces)) for h in hypotheses]
        return translations
