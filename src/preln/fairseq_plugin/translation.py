"""Translation for the studies: a record of each epoch, its translations and BLEU, and a guard against divergence.

fairseq calls the task before and after it validates. The task then translates valid and test by beam search and appends
the measurements to the run's record, before the epoch's checkpoint is written: an epoch with a checkpoint has its
record, and an epoch that is repeated after a failure writes the same record again.
"""

import copy
import hashlib
import logging
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from fairseq import utils
from fairseq.distributed import utils as distributed
from fairseq.logging import metrics
from fairseq.tasks import register_task
from fairseq.tasks.translation import TranslationConfig, TranslationTask
from torch import Tensor

from preln.config import RunSettings
from preln.errors import PrelnError
from preln.fairseq_plugin import decoding
from preln.fairseq_plugin.packing import Capacity, capacities, fitting
from preln.fairseq_plugin.recorded_task import RecordedTask, position, require_finite
from preln.records.files import write_text
from preln.training.state import RunState
from preln.translation import scores

logger = logging.getLogger(__name__)

SUBSETS = ("valid", "test")
AFTER_WARMUP_WEIGHTS = "after-warm-up.pt"
"""The file in a run's state with the weights after the last update of the warm-up."""


@dataclass
class RecordedTranslationConfig(TranslationConfig):
    """fairseq's options for translation, and the folders of the record and the references."""

    run_settings: str = field(default="", metadata={"help": "the run's settings, as JSON"})
    state: str = field(default="", metadata={"help": "folder of the run's record and translations"})
    references: str = field(default="", metadata={"help": "folder of the tokenised references"})
    graphs: bool = field(default=False, metadata={"help": "record the passes of packed batches as CUDA graphs"})
    # fairseq otherwise builds the batches once, seeded by the epoch at which the process started: an interrupted
    # training would continue with different batches.
    rebuild_batches: bool = field(default=True, metadata={"help": "build the batches again for each epoch"})


@register_task("preln_translation", dataclass=RecordedTranslationConfig)
class RecordedTranslation(RecordedTask, TranslationTask):
    """fairseq's translation task, recorded and guarded."""

    def __init__(self, cfg: RecordedTranslationConfig, src_dict: Any, tgt_dict: Any) -> None:
        super().__init__(cfg, src_dict, tgt_dict)
        self.loss_keys = ("nll_loss", "ntokens")
        self.settings = RunSettings.model_validate_json(cfg.run_settings)
        self.run_state = RunState(Path(cfg.state))
        self._epoch = 0
        self._subsets: Iterator[str] = iter(())

    def get_batch_iterator(self, dataset: Any, *args: Any, **kwargs: Any) -> Any:
        """A dataset's batches, with all sentences; fairseq would skip those longer than a batch.

        Raises:
            PrelnError: if a sentence has more tokens than a batch.
        """
        longest = int(max(dataset.src_sizes.max(), dataset.tgt_sizes.max()))
        if longest > self.settings.batch_tokens:
            raise PrelnError(
                f"batch_tokens: {self.settings.batch_tokens} cannot hold the text's longest sentence, of {longest} "
                f"tokens; give {longest} or more"
            )
        batches = super().get_batch_iterator(dataset, *args, **kwargs)
        if self.cfg.graphs and dataset is self.datasets["train"] and not batches.collate_fn.capacities:
            sizes = capacities(batches.frozen_batches, (dataset.src_sizes, dataset.tgt_sizes))
            logger.info("batches are packed in these sizes: %s", ", ".join(map(str, sizes)))
            batches.collate_fn = replace(batches.collate_fn, capacities=sizes)
        return batches

    def examples(self) -> list[list[dict[str, Any]]]:
        """The first and the last packed batch of each capacity."""
        pairs, collate = self._batches.dataset, self._batches.collate_fn
        chosen: dict[Capacity, list[Any]] = {}
        for batch in self._batches.frozen_batches:
            held = fitting(collate.capacities, (pairs.src_sizes[batch].tolist(), pairs.tgt_sizes[batch].tolist()))
            if held is not None:
                chosen.setdefault(held[0], [batch, batch])[1] = batch
        samples = [[collate([pairs[number] for number in batch]) for batch in ends] for ends in chosen.values()]
        return utils.move_to_cuda(samples) if torch.cuda.is_available() else samples

    def kept_as(self, update: int) -> str | None:
        """The file for the weights at the end of the warm-up, for the gradients of section 3.4."""
        return AFTER_WARMUP_WEIGHTS if update == self.settings.warmup > 0 else None

    def begin_valid_epoch(self, epoch: int, model: Any) -> None:
        """Record the epoch's training, then translate and score valid and test."""
        super().begin_valid_epoch(epoch, model)
        self._epoch, self._subsets = epoch, iter(SUBSETS)
        training = metrics.get_smoothed_values("train")
        self._record(
            "train",
            updates=position.update,
            # An epoch in which every update overflowed has no loss.
            loss=training.get("loss"),
            nll_loss=training.get("nll_loss"),
            learning_rate=training["lr"],
            gradient_norm=training.get("gnorm"),
            tokens_per_second=training.get("wps"),
            seconds=training["train_wall"],
            parameters=sum(p.numel() for p in model.parameters()),
        )
        # In fp32 on every machine, so that BLEU depends on the run alone; on a CPU, single steps in bf16 are no faster.
        # In half precision, the rounded weights are translated with, not the fp32 masters.
        translator = copy.deepcopy(model).float().eval()
        for subset in SUBSETS:
            self._translate(subset, epoch, translator)

    def post_validate(self, model: Any, stats: dict[str, Any], agg: Any) -> None:
        """Record the losses on the subset that was just validated, which must be finite."""
        require_finite(float(stats["loss"]))
        self._record(next(self._subsets), loss=stats["loss"], nll_loss=stats["nll_loss"])

    def _searched(self, model: Any, source: Tensor, lengths: Tensor) -> list[list[int]]:
        """Each sentence's best translation; the batch is halved where the GPU's memory does not suffice, which changes
        no translation."""
        try:
            return decoding.translate(model, source, lengths, self.settings.beam, self.settings.length_penalty)
        except torch.OutOfMemoryError:
            half = len(source) // 2
            if not half:
                raise
        # Outside the handler, which keeps the failed tensors alive.
        torch.cuda.empty_cache()
        return [
            *self._searched(model, source[:half], lengths[:half]),
            *self._searched(model, source[half:], lengths[half:]),
        ]

    def _translate(self, subset: str, epoch: int, model: Any) -> None:
        """Translate the subset by beam search, write the translations, and record their scores and the time."""
        started = time.perf_counter()
        dataset = self.dataset(subset)
        sentences = min(len(dataset), self.settings.bleu_sentences or len(dataset))
        # Sentences of similar length share a batch; the order is deterministic.
        indices = np.argsort(dataset.src_sizes[:sentences], kind="stable")
        device = next(model.parameters()).device
        kind = device.type
        batches = dataset.batch_by_size(
            indices, max_tokens=decoding.TOKENS[kind], max_sentences=decoding.SENTENCES[kind]
        )
        rank, world = distributed.get_global_rank(), distributed.get_global_world_size()
        translations: dict[int, str] = {}
        for batch in batches[rank::world]:
            sample = dataset.collater([dataset[i] for i in batch])
            source, lengths = sample["net_input"]["src_tokens"].to(device), sample["net_input"]["src_lengths"]
            outputs = self._searched(model, source, lengths)
            for identity, pieces in zip(sample["id"].tolist(), outputs, strict=True):
                translations[identity] = decoding.words(self.target_dictionary, pieces)
        if world > 1:
            parts: list[dict[int, str]] = [{} for _ in range(world)]
            torch.distributed.all_gather_object(parts, translations)
            translations = {identity: text for part in parts for identity, text in part.items()}
        hypotheses = [translations[i] for i in range(sentences)]
        language = self.cfg.target_lang
        with open(Path(self.cfg.references) / f"{subset}.{language}", encoding="utf-8", newline="\n") as lines:
            references = [line.rstrip("\n") for line, _ in zip(lines, range(sentences), strict=False)]
        score = scores.score(hypotheses, references, language)
        text = "\n".join(hypotheses) + "\n"
        if rank == 0:
            write_text(self.run_state.translations(subset, epoch), text)
        self._record(
            subset,
            bleu=score.bleu,
            sacrebleu=score.sacrebleu,
            chrf=score.chrf,
            sentences=sentences,
            translations=hashlib.sha256(text.encode()).hexdigest(),
            tokenised_signature=score.bleu_signature,
            sacrebleu_signature=score.sacrebleu_signature,
            chrf_signature=score.chrf_signature,
            seconds=time.perf_counter() - started,
        )

    def _record(self, part: str, **values: Any) -> None:
        self.record({"epoch": self._epoch, "part": part, **values})
