"""Translation of sentences by a trained model, outside of a training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from fairseq import tasks
from fairseq.data import data_utils
from torch import Tensor

from preln.config import Precision
from preln.fairseq_plugin import decoding
from preln.fairseq_plugin.launch import configuration


class Translator:
    """A model with the weights of a training."""

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
        """Each sentence's translations by beam search, best first.

        Args:
            sentences: each sentence's BPE pieces.
            beam: hypotheses kept.
            length_penalty: the exponent.

        Returns:
            For each sentence, tokenised text with its score: the log-probability over length^penalty, in nats.
        """
        encoded = [self._source.encode_line(" ".join(pieces), add_if_not_exist=False).long() for pieces in sentences]
        translations: list[list[tuple[float, str]]] = [[] for _ in encoded]
        for batch in _batches([len(sentence) for sentence in encoded]):
            sources = [encoded[index] for index in batch]
            source = data_utils.collate_tokens(sources, self._source.pad(), self._source.eos(), left_pad=True)
            lengths = torch.tensor([len(sentence) for sentence in sources])
            outputs = decoding.search(self._model, source, lengths, beam, length_penalty)
            for index, hypotheses in zip(batch, outputs, strict=True):
                translations[index] = [(h.score, decoding.words(self._target, h.pieces)) for h in hypotheses]
        return translations


def _batches(lengths: Sequence[int]) -> list[list[int]]:
    batches: list[list[int]] = []
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batches and (len(batches[-1]) + 1) * lengths[index] <= decoding.TOKENS["cpu"]:
            batches[-1].append(index)
        else:
            batches.append([index])
    return batches
