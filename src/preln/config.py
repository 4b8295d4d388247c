"""The data model of a study: what a configuration file may say, its defaults and its checks.

A study is one YAML file. It is read here and nowhere else; everything behind it works with the frozen
values of this module. A wrong file raises :class:`StudyError`, whose message names the file, the key, the
value, and what is allowed.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from preln.errors import PrelnError
from preln.files import write_text

Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]*$")]
Language = Annotated[str, Field(pattern=r"^[a-z]{2,3}$")]
Placement = Literal["post", "pre"]
Optimizer = Literal["adam", "radam", "sgd"]
ScheduleName = Literal["inverse-sqrt", "constant", "drop-inverse-sqrt", "linear"]
Anchor = Literal["warmup", "hold", "shift"]
Precision = Literal["fp32", "bf16", "fp16"]
LocalPath = Annotated[Path, AfterValidator(Path.expanduser)]
"""A file or folder of this machine; `~` is the user's home."""


Number = TypeVar("Number", int, float)


def _ascending(values: tuple[Number, ...]) -> tuple[Number, ...]:
    if any(left >= right for left, right in itertools.pairwise(values)):
        raise ValueError(f"{list(values)} must ascend, each number once")
    return values


class StudyError(PrelnError):
    """A study that cannot be run; the message is written for the person who wrote the file."""


class Settings(BaseModel):
    """Base of all sections: frozen, and unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class _Corpus(Settings):
    vocabulary: int = Field(10000, ge=100, le=64000, description="Size of the joint SentencePiece BPE vocabulary.")

    @property
    def local_paths(self) -> list[Path]:
        """What the study names on this machine."""
        return []


class EmbeddedCorpus(_Corpus):
    """German-English sentences from the grammar that comes with the package; nothing is downloaded."""

    source: Literal["embedded"]
    pairs: int = Field(24000, ge=1000, le=100000, description="Sentence pairs in train, valid and test together.")
    held_out: int = Field(500, ge=10, description="Sentence pairs of valid, and again as many of test.")
    seed: int = Field(1, description="Seed of the generator and of the split.")


class Iwslt14Corpus(_Corpus):
    """IWSLT14 German-English, prepared as the field does (fairseq's split)."""

    source: Literal["iwslt14"]
    folder: LocalPath | None = Field(
        None,
        description="A local folder in place of the download: it holds de-en.tgz, or text that is tokenised "
        "already as train.de, train.en, valid.de, ...",
    )
    subset: Literal["50k"] | None = Field(
        None,
        description="Train on a subset, chosen of the official text by the hashes of its pairs, since text that may "
        "not be passed on can be named by them: `50k` are 50,428 pairs, a third of all.",
        # Studies that were made before there were subsets are still the same.
        exclude_if=lambda subset: subset is None,
    )
    pairs: int | None = Field(None, ge=1000, description="Train on the first so many pairs; on all where not given.")

    @property
    def local_paths(self) -> list[Path]:
        """The folder, if one takes the place of the download."""
        return [self.folder] if self.folder else []


class Wmt14Corpus(_Corpus):
    """WMT14 English-German, 4.5 million pairs; newstest2013 is valid and newstest2014 test."""

    source: Literal["wmt14"]
    folder: LocalPath | None = Field(
        None,
        description="A local folder in place of the downloads: it holds the releases' archives, or raw text as "
        "train.en, train.de, valid.en, ...",
    )

    @property
    def local_paths(self) -> list[Path]:
        """The folder, if one takes the place of the downloads."""
        return [self.folder] if self.folder else []


class TextPaths(Settings):
    """The two sides of one part of a parallel text: one sentence a line, line by line translations."""

    source: LocalPath
    target: LocalPath


class FilesCorpus(_Corpus):
    """Parallel text of the user's own, in any two languages."""

    source: Literal["files"]
    source_language: Language
    target_language: Language
    train: TextPaths
    valid: TextPaths | None = Field(None, description="Without it, `held_out` pairs of train.")
    test: TextPaths | None = Field(None, description="Without it, `held_out` pairs of train.")
    held_out: int = Field(1000, ge=1, description="Pairs taken from train for a part that is not given.")
    seed: int = Field(1, description="Seed of the held-out choice.")
    tokenise: bool = Field(True, description="Moses tokenisation; false where the text is tokenised.")
    lowercase: bool = Field(True, description="Lower-case both sides.")

    @property
    def local_paths(self) -> list[Path]:
        """The files of each part that is given."""
        parts = [part for part in (self.train, self.valid, self.test) if part]
        return [path for part in parts for path in (part.source, part.target)]

    @model_validator(mode="after")
    def _two_languages(self) -> FilesCorpus:
        if self.source_language == self.target_language:
            raise ValueError(f"target_language: {self.target_language} is the source language too")
        return self


Corpus = Annotated[EmbeddedCorpus | Iwslt14Corpus | Wmt14Corpus | FilesCorpus, Field(discriminator="source")]


class _TextSource(Settings):
    @property
    def local_paths(self) -> list[Path]:
        """What the study names on this machine."""
        return []


class _ArchiveSource(_TextSource):
    folder: LocalPath | None = Field(
        None, description="A local archive, or a folder of its files, in place of the download."
    )

    @property
    def local_paths(self) -> list[Path]:
        """The folder, if one takes the place of the download."""
        return [self.folder] if self.folder else []


class EmbeddedSource(_TextSource):
    """English documents from the grammar that comes with the package, and the prose of Python's own help."""

    source: Literal["embedded"]
    documents: int = Field(4000, ge=200, description="Documents of the grammar.")
    seed: int = Field(1, description="Seed of the generator.")


class WikitextSource(_ArchiveSource):
    """WikiText-103 or WikiText-2, raw: articles of the English Wikipedia."""

    source: Literal["wikitext"]
    size: Literal[2, 103] = Field(103, description="Million words: 103 or 2.")


class WikipediaSource(_TextSource):
    """A dump of the English Wikipedia."""

    source: Literal["wikipedia"]
    date: str | None = Field(None, pattern=r"^\d{8}$", description="The dump's date, such as 20260101.")
    file: LocalPath | None = Field(None, description="A local `pages-articles` dump in place of the download.")

    @model_validator(mode="after")
    def _one(self) -> WikipediaSource:
        if (self.date is None) == (self.file is None):
            raise ValueError("date, file: give one of them")
        return self

    @property
    def local_paths(self) -> list[Path]:
        """The dump, if one takes the place of the download."""
        return [self.file] if self.file else []


class BookcorpusSource(_ArchiveSource):
    """BookCorpus: sentences of novels, whose books are not divided."""

    source: Literal["bookcorpus"]
    lines: int = Field(1000, ge=10, description="Lines (sentences) that are taken for a document.")


class TextFilesSource(_TextSource):
    """English text of the user's own."""

    source: Literal["files"]
    path: LocalPath = Field(description="A text file, an archive, or a folder of both.")
    documents: Literal["file", "blank-line"] | Annotated[int, Field(ge=10)] = Field(
        "file",
        description="`file`: each file is one; `blank-line`: blank lines divide them; a number: so many paragraphs are "
        "one, for few long files.",
    )

    @property
    def local_paths(self) -> list[Path]:
        """The file, archive or folder."""
        return [self.path]


TextSource = Annotated[
    EmbeddedSource | WikitextSource | WikipediaSource | BookcorpusSource | TextFilesSource,
    Field(discriminator="source"),
]


class EnglishText(Settings):
    """English documents to pre-train on."""

    sources: tuple[TextSource, ...] = Field(min_length=1, description="Where they come from, one after the other.")
    vocabulary: int = Field(32000, ge=100, le=64000, description="Size of the SentencePiece BPE vocabulary.")
    seed: int = Field(1, description="Seed of the documents that are held out: one of each 200 (appendix A.2).")

    @property
    def local_paths(self) -> list[Path]:
        """What its sources name on this machine."""
        return [path for source in self.sources for path in source.local_paths]


class _Task(Settings):
    @property
    def local_paths(self) -> list[Path]:
        """What the study names on this machine."""
        return []


class _GlueTask(_Task):
    folder: LocalPath | None = Field(None, description="A local folder of the official files in place of the download.")

    @property
    def local_paths(self) -> list[Path]:
        """The folder, if one takes the place of the download."""
        return [self.folder] if self.folder else []


class EmbeddedTask(_Task):
    """Pairs of sentences from the grammar that comes with the package, of which one half is positive."""

    source: Literal["embedded"]
    relation: Literal["paraphrase", "entailment"] = Field(
        "paraphrase", description="What is asked of a pair: does the second say the same, or does it follow?"
    )
    pairs: int = Field(2000, ge=40, le=100000, description="Pairs of train.")
    dev: int = Field(400, ge=20, le=100000, description="Pairs of dev.")
    seed: int = Field(1, description="Seed of the generator.")


class MrpcTask(_GlueTask):
    """MRPC: is the second sentence a paraphrase of the first? 3,668 pairs of train, 408 of dev."""

    source: Literal["mrpc"]


class RteTask(_GlueTask):
    """RTE: does the second sentence follow from the first? 2,490 pairs of train, 277 of dev."""

    source: Literal["rte"]


Task = Annotated[EmbeddedTask | MrpcTask | RteTask, Field(discriminator="source")]


class RunSettings(Settings):
    """Everything that can change a run's numbers: the run's identity."""

    corpus: Name = Field(description="A name under `corpora`.")
    placement: Placement = Field(description="Where LayerNorm stands: `post` or `pre` (Table 1).")
    encoder_layers: int = Field(6, ge=1, le=100, description="Encoder layers.")
    decoder_layers: int = Field(6, ge=1, le=100, description="Decoder layers.")
    width: int = Field(512, ge=8, description="Width of embeddings and hidden states (d).")
    ffn_width: int = Field(1024, ge=8, description="Width of the feed-forward sub-layer.")
    heads: int = Field(4, ge=1, description="Attention heads; they divide the width.")
    dropout: float = Field(0.1, ge=0, lt=1, description="Dropout of embeddings and sub-layer outputs.")
    label_smoothing: float = Field(0.1, ge=0, lt=1, description="Label smoothing of the training loss.")
    optimizer: Optimizer = Field(description="`adam`, `radam`, or `sgd` (without momentum).")
    beta1: float = Field(0.9, ge=0, lt=1, description="Adam's and RAdam's first decay rate.")
    beta2: float = Field(0.98, ge=0, lt=1, description="Adam's and RAdam's second decay rate.")
    epsilon: float = Field(1e-9, gt=0, description="Adam's and RAdam's epsilon.")
    weight_decay: float = Field(0.0, ge=0, description="Weight decay: decoupled with Adam and RAdam, L2 with SGD.")
    clip_norm: float = Field(0.0, ge=0, description="Gradient norm is clipped to this; 0 does not clip.")
    learning_rate: float = Field(gt=0, le=10, description="The peak rate (lr_max).")
    schedule: ScheduleName = Field(
        description="`inverse-sqrt`, `constant`, `drop-inverse-sqrt` (constant until an epoch, then inverse "
        "square root) or `linear`; each after an optional warm-up."
    )
    warmup: int = Field(0, ge=0, description="Updates of linear warm-up (Eq. 1); 0 is none.")
    anchor: Anchor = Field(
        "warmup",
        description="Where the inverse-square-root decay is anchored (readings A, B, C of the paper's "
        "`T_warmup = 1`): `warmup` decays from the end of warm-up, `hold` keeps the peak until update "
        "`decay_period`, `shift` decays as if `decay_period` updates had gone before.",
    )
    decay_period: int = Field(4000, ge=1, description="Updates; of the anchors `hold` and `shift`.")
    drop_epoch: int | None = Field(
        None, ge=1, description="The last epoch at the peak rate (`constant`, `drop-inverse-sqrt`)."
    )
    drop_factor: float = Field(0.1, gt=0, le=1, description="The rate is multiplied by this at the drop.")
    decay_updates: int | None = Field(None, ge=1, description="The update at which a `linear` schedule reaches zero.")
    epochs: int = Field(15, ge=1, description="Passes over the training text.")
    batch_tokens: int = Field(4096, ge=32, description="Tokens of a batch (the longer side, with padding).")
    accumulate: int = Field(1, ge=1, description="Batches whose gradients make one update.")
    precision: Precision = Field("fp32", description="`fp32`, `bf16` or `fp16`.")
    beam: int = Field(5, ge=1, le=100, description="Beam width of the translations that BLEU scores.")
    length_penalty: float = Field(1.2, ge=0, description="Exponent of the length in the beam's score.")
    bleu_sentences: int | None = Field(
        None, ge=1, description="BLEU on the first so many sentences of valid and test; all where not given."
    )
    seed: int = Field(1, ge=0, description="Seed of initialisation, dropout and batch order.")

    @model_validator(mode="after")
    def _possible(self) -> RunSettings:
        problems: list[str] = []
        if self.width % self.heads:
            problems.append(f"heads: {self.heads} does not divide width {self.width}")
        drops = self.schedule in ("constant", "drop-inverse-sqrt")
        if self.drop_epoch is not None and not drops:
            problems.append(f"drop_epoch: only for constant and drop-inverse-sqrt, not {self.schedule}")
        if self.drop_epoch is not None and self.drop_epoch >= self.epochs:
            problems.append(f"drop_epoch: {self.drop_epoch} is not before the last of {self.epochs} epochs")
        if self.schedule == "drop-inverse-sqrt" and self.drop_epoch is None:
            problems.append("drop_epoch: needed by the schedule drop-inverse-sqrt")
        if self.schedule == "linear" and self.decay_updates is None:
            problems.append("decay_updates: needed by the schedule linear")
        if self.schedule != "linear" and self.decay_updates is not None:
            problems.append(f"decay_updates: only for linear, not {self.schedule}")
        if self.decay_updates is not None and self.decay_updates <= self.warmup:
            problems.append(f"decay_updates: {self.decay_updates} does not exceed warmup {self.warmup}")
        if self.anchor != "warmup" and self.schedule != "inverse-sqrt":
            problems.append(f"anchor: only for inverse-sqrt, not {self.schedule}")
        if self.anchor == "hold" and self.warmup > self.decay_period:
            problems.append(f"warmup: {self.warmup} exceeds decay_period {self.decay_period} (anchor hold)")
        if problems:
            raise ValueError("; ".join(problems))
        return self


VARIANTS = {
    "no-dropout": "gradients without dropout",
    "no-label-smoothing": "the loss without label smoothing",
    "quarter-batch": "mini-batches of a quarter of the tokens",
    "separate-output": "an output projection of its own in place of the shared embeddings",
    "unpacked-projections": "W^Q, W^K and W^V drawn each by itself (Xavier with gain 1), where fairseq draws "
    "them as one packed matrix and so smaller by the square root of two",
    "xavier-feed-forward": "W^1 and W^2 Xavier with biases 0, as the theory and fairseq's older releases have "
    "them, where it now takes torch's smaller default",
}
"""What the paper leaves open about figure 3, by the name that a study uses."""


def _known_variant(value: str) -> str:
    """The variant with its parts in one order."""
    parts = value.split("+")
    if unknown := [part for part in parts if part not in VARIANTS]:
        raise ValueError(f"unknown {', '.join(unknown)}; allowed, joined by +: {', '.join(VARIANTS)}")
    if len(set(parts)) < len(parts):
        raise ValueError("names a part twice")
    return "+".join(sorted(parts, key=list(VARIANTS).index))


def _distinct(values: tuple[str, ...]) -> tuple[str, ...]:
    if repeated := [value for value in dict.fromkeys(values) if values.count(value) > 1]:
        raise ValueError(f"given twice: {', '.join(repeated)}")
    return values


Variant = Annotated[str, AfterValidator(_known_variant)]
Depth = Annotated[int, Field(ge=1, le=100)]
Width = Annotated[int, Field(ge=8, le=4096)]


class ExactTheory(Settings):
    """The model of the paper's proofs (section 3.3): one head, W^Q = W^K = 0, all matrices d x d."""

    width: int = Field(512, ge=8, description="Width d of the profile by layer and of the sweep of depths.")
    depth: Depth = Field(12, description="Layers L of the profile by layer and of the sweep of widths.")
    depths: Annotated[tuple[Depth, ...], Field(min_length=3), AfterValidator(_ascending)] = Field(
        (2, 4, 8, 16, 32, 64), description="Depths of theorem 1's law: three or more, ascending."
    )
    widths: Annotated[tuple[Width, ...], Field(min_length=3), AfterValidator(_ascending)] = Field(
        (64, 128, 256, 512, 1024), description="Widths of theorem 1's law: three or more, ascending."
    )
    length: int = Field(64, ge=2, description="Positions n of a sequence.")


class Gradients(Settings):
    """The gradients of figure 3, of the translation model as it is trained."""

    runs: Annotated[tuple[str, ...], AfterValidator(_distinct)] = Field(
        min_length=1,
        description="Ids of Post-LN runs of the study that have a warm-up and differ in nothing but their seed. They "
        "are measured at its end; the models at initialisation have their settings.",
    )
    depths: Annotated[tuple[Depth, ...], Field(min_length=1), AfterValidator(_ascending)] = Field(
        (6, 8, 10, 12, 14),
        description="Layers of encoder and decoder, ascending; all matrices are recorded at the first.",
    )
    batches: int = Field(10, ge=1, description="Mini-batches of the expected gradient.")
    variants: Annotated[tuple[Variant, ...], AfterValidator(_distinct)] = Field(
        (),
        description="The model at initialisation measured once more, at the first depth, with "
        + "; ".join(f"`{name}`: {text}" for name, text in VARIANTS.items())
        + ". Names joined by `+` are taken together.",
    )


class Theory(Settings):
    """Lemmas 1 to 3, theorem 1, boundedness and figure 3, at initialisation."""

    seeds: int = Field(10, ge=2, description="Initialisations of each model: the seeds 1, 2, 3, ...")
    exact: ExactTheory = Field(default_factory=lambda: ExactTheory())
    gradients: Gradients | None = Field(None, description="Figure 3; left out where not given.")


Grid = TypeVar("Grid", "Translation", "Pretraining")


def _with_known_keys(grid: Grid, run: type[BaseModel]) -> Grid:
    """The grid, whose settings and entries have keys of a run alone."""
    for place, keys in [
        ("settings", grid.settings.keys()),
        *((f"runs.{i}", (entry.model_extra or {}).keys()) for i, entry in enumerate(grid.runs)),
    ]:
        unknown = sorted(set(keys) - run.model_fields.keys())
        if unknown:
            allowed = ", ".join(run.model_fields)
            raise ValueError(f"{place}: unknown key {', '.join(unknown)}; allowed: {allowed}")
    return grid


class _Entry(Settings):
    """One line of a grid: settings of its own, lists where the grid takes each value."""

    model_config = ConfigDict(extra="allow", frozen=True)
    execution: dict[str, Any] = Field(
        default_factory=dict, description="Keys of `execution`, for these runs in place of the study's."
    )


class RunEntry(_Entry):
    """One line of the translation grid."""

    figures: tuple[Literal[2, 4, 6], ...] = Field((), description="The paper's figures in which these runs are drawn.")


class Translation(Settings):
    """The translation grid."""

    settings: dict[str, Any] = Field(
        default_factory=dict, description="Settings of every run, unless the run says otherwise."
    )
    runs: tuple[RunEntry, ...] = Field(
        min_length=1,
        description="The grid. Each entry has keys of a run; a list makes a run of each of its values.",
    )

    @model_validator(mode="after")
    def _known_keys(self) -> Translation:
        return _with_known_keys(self, RunSettings)


class PretrainingSettings(Settings):
    """Everything that can change the numbers of a pre-training: the run's identity."""

    text: Name = Field(description="A name under `texts`.")
    placement: Placement = Field(description="Where LayerNorm stands: `post` or `pre` (Table 1).")
    layers: int = Field(12, ge=1, le=100, description="Layers.")
    width: int = Field(768, ge=8, description="Width of embeddings and hidden states.")
    ffn_width: int = Field(3072, ge=8, description="Width of the feed-forward sub-layer.")
    heads: int = Field(12, ge=1, description="Attention heads; they divide the width.")
    embedding_norm: bool = Field(
        True, description="LayerNorm on the embeddings, as in BERT; fairseq's own Pre-LN model has none."
    )
    dropout: float = Field(
        0.1, ge=0, lt=1, description="Dropout of embeddings, sub-layer outputs and attention weights."
    )
    beta1: float = Field(0.9, ge=0, lt=1, description="Adam's first decay rate.")
    beta2: float = Field(0.999, ge=0, lt=1, description="Adam's second decay rate.")
    epsilon: float = Field(1e-6, gt=0, description="Adam's epsilon.")
    weight_decay: float = Field(0.01, ge=0, description="Decoupled weight decay, of all parameters.")
    clip_norm: float = Field(0.0, ge=0, description="Gradient norm is clipped to this; 0 does not clip.")
    learning_rate: float = Field(gt=0, le=10, description="The peak rate, from which it decays linearly to zero.")
    warmup: int = Field(0, ge=0, description="Updates of linear warm-up; 0 is none.")
    updates: int = Field(ge=1, description="Updates of the run; the rate reaches zero at the last.")
    sequence_length: int = Field(512, ge=8, le=4096, description="Tokens of a sequence, `<s>` included.")
    batch_sequences: int = Field(256, ge=1, description="Sequences of a batch.")
    accumulate: int = Field(1, ge=1, description="Batches whose gradients make one update.")
    validate_every: int = Field(ge=1, description="Updates between two validations; they divide `updates`.")
    precision: Precision = Field("fp32", description="`fp32`, `bf16` or `fp16`.")
    seed: int = Field(1, ge=0, description="Seed of initialisation, masks of train, dropout and batch order.")

    @model_validator(mode="after")
    def _possible(self) -> PretrainingSettings:
        problems: list[str] = []
        if self.width % self.heads:
            problems.append(f"heads: {self.heads} does not divide width {self.width}")
        if self.warmup >= self.updates:
            problems.append(f"warmup: {self.warmup} is not below updates {self.updates}")
        if self.updates % self.validate_every:
            problems.append(f"validate_every: {self.validate_every} does not divide updates {self.updates}")
        if problems:
            raise ValueError("; ".join(problems))
        return self


class PretrainingEntry(_Entry):
    """One line of the pre-training grid."""

    finetune: bool = Field(True, description="Whether its checkpoints are fine-tuned.")


class Pretraining(Settings):
    """BERT: masked language models (section 4.2)."""

    settings: dict[str, Any] = Field(
        default_factory=dict, description="Settings of every run, unless the run says otherwise."
    )
    runs: tuple[PretrainingEntry, ...] = Field(
        min_length=1,
        description="The grid. Each entry has keys of a run; a list makes a run of each of its values. The first run "
        "is the one that the others are compared with.",
    )
    checkpoints: Annotated[tuple[Annotated[int, Field(ge=0)], ...], AfterValidator(_ascending)] = Field(
        (),
        description="Updates, ascending, at which the weights are kept and fine-tuned; 0 is the model at "
        "initialisation.",
    )
    loss: float | None = Field(
        None,
        gt=0,
        description="The validation loss, in bits a token, that the runs are timed to; where not given, that of the "
        "first run after half of its updates.",
    )

    @model_validator(mode="after")
    def _known_keys(self) -> Pretraining:
        return _with_known_keys(self, PretrainingSettings)


class GridPoint(Settings):
    """One way to fine-tune."""

    batch_size: int = Field(ge=1, description="Pairs of a batch.")
    learning_rate: float = Field(gt=0, le=1, description="The peak rate.")
    epochs: int = Field(ge=1, description="Passes over the task's train.")


class Finetuning(Settings):
    """Fine-tuning of each checkpoint on each task (appendix A.3)."""

    tasks: Annotated[tuple[Name, ...], Field(min_length=1), AfterValidator(_distinct)] = Field(
        description="Names under `tasks`."
    )
    batch_sizes: Annotated[tuple[Annotated[int, Field(ge=1)], ...], Field(min_length=1), AfterValidator(_ascending)] = (
        Field((16, 32), description="The grid's batch sizes, pairs of sentences, ascending.")
    )
    learning_rates: Annotated[
        tuple[Annotated[float, Field(gt=0, le=1)], ...], Field(min_length=1), AfterValidator(_ascending)
    ] = Field((1e-5, 2e-5, 3e-5, 5e-5, 1e-4), description="The grid's peak rates, ascending.")
    epochs: Annotated[tuple[Annotated[int, Field(ge=1)], ...], Field(min_length=1), AfterValidator(_ascending)] = Field(
        (3, 4, 5, 6, 7, 8), description="The grid's passes over train, ascending."
    )
    seeds: int = Field(6, ge=2, description="Fine-tunings of each grid point: the seeds 1, 2, 3, ...")
    fixed: GridPoint = Field(
        description="The point of the grid whose scores are reported beside those of the point chosen on dev: "
        "`batch_size`, `learning_rate`, `epochs`."
    )

    @model_validator(mode="after")
    def _in_the_grid(self) -> Finetuning:
        if self.fixed not in self.points:
            raise ValueError("fixed: no point of the grid of batch_sizes, learning_rates and epochs")
        return self

    @property
    def points(self) -> list[GridPoint]:
        """The grid, in the order of the file."""
        return [
            GridPoint(batch_size=batch_size, learning_rate=learning_rate, epochs=epochs)
            for batch_size, learning_rate, epochs in itertools.product(
                self.batch_sizes, self.learning_rates, self.epochs
            )
        ]


class Execution(Settings):
    """How the study is computed; nothing here changes a number, but for rounding and the draws of dropout, which differ
    between a CPU and a GPU."""

    cpus: int = Field(1, ge=1, description="Cores of one training.")
    gpus: int = Field(0, ge=0, description="GPUs of one training; 0 trains on the CPU.")
    processes: int = Field(1, ge=1, description="Processes of one training on CPUs, `cpus` cores each.")
    nodes: int = Field(
        1, ge=1, description="Nodes that share the GPUs or processes of one training; more than one are Slurm's."
    )
    memory_mb: int = Field(3000, ge=500, description="Memory of one training, on each of its nodes.")
    runtime_minutes: int = Field(2880, ge=1, description="Time limit of one training on a cluster.")
    log_interval: int = Field(10, ge=1, description="Updates between two lines of the training log.")
    checkpoints: int = Field(2, ge=1, description="Epoch checkpoints kept in a run's state.")

    @property
    def workers(self) -> int:
        """Processes of one training, each with a GPU or with cores of its own."""
        return self.gpus or self.processes

    @property
    def cores(self) -> int:
        """Cores of one training: those of all its processes."""
        return self.cpus * self.workers

    @property
    def on_each_node(self) -> int:
        """Those of them that a node has."""
        return self.workers // self.nodes

    @property
    def alone(self) -> Execution:
        """For what several processes do not share: one GPU at most, one process, one node."""
        return self.model_copy(update={"gpus": min(self.gpus, 1), "processes": 1, "nodes": 1})

    @model_validator(mode="after")
    def _can_be_had(self) -> Execution:
        if self.gpus and self.processes > 1:
            raise ValueError(f"processes: {self.processes} are for CPUs; with GPUs each has its own")
        if self.workers % self.nodes:
            raise ValueError(f"nodes: {self.nodes} cannot share {self.workers} GPUs or processes evenly")
        return self


class Study(Settings):
    """One configuration file."""

    study: Name = Field(description="The study's name: its results are in results/<study>/.")
    description: str = Field("", description="One line for tables and the report.")
    paper_settings: bool = Field(
        False,
        description="True where the runs are the paper's: its curves are drawn behind ours, its numbers compared.",
    )
    paper_curves: bool = Field(
        False,
        description="True where the runs are the paper's but for what the description says: its curves are drawn "
        "behind ours, and no numbers compared.",
        # Studies that were made before there was this key are still the same.
        exclude_if=lambda drawn: not drawn,
    )
    corpora: dict[Name, Corpus] = Field(default_factory=dict, description="The parallel corpora, by name.")
    translation: Translation | None = Field(None, description="The translation runs; none where not given.")
    theory: Theory | None = Field(None, description="Checks of the theory; none where not given.")
    texts: dict[Name, EnglishText] = Field(
        default_factory=dict, description="The texts to pre-train on, by name: `sources`, `vocabulary` and `seed`."
    )
    pretraining: Pretraining | None = Field(None, description="The pre-training runs; none where not given.")
    tasks: dict[Name, Task] = Field(
        default_factory=dict, description="The tasks of pairs of sentences to fine-tune on, by name."
    )
    finetuning: Finetuning | None = Field(None, description="Fine-tuning; none where not given.")
    execution: Execution = Field(default_factory=lambda: Execution())

    @model_validator(mode="after")
    def _complete(self) -> Study:
        problems: list[str] = []
        if self.paper_settings and self.paper_curves:
            problems.append("paper_curves: paper_settings draws the paper's curves already; give one of them")
        if not (self.translation or self.theory or self.pretraining):
            problems.append("needs one of translation, theory and pretraining")
        if self.theory and self.theory.gradients and not self.translation:
            problems.append("theory.gradients: needs the runs of a section translation")
        if self.finetuning and not (self.pretraining and self.pretraining.checkpoints):
            problems.append("finetuning: needs a section pretraining with checkpoints")
        if self.finetuning and (unknown := [task for task in self.finetuning.tasks if task not in self.tasks]):
            problems.append(f"finetuning.tasks: {', '.join(unknown)} not defined; defined: {', '.join(self.tasks)}")
        if problems:
            raise ValueError("; ".join(problems))
        return self


def _where(location: Iterable[int | str]) -> str:
    """The dotted key of a pydantic location, without the tag of the union's branch."""
    parts = [str(part) for part in location]
    tagged = {"corpora": 2, "tasks": 2, "texts": 4}.get(parts[0]) if parts else None
    if tagged is not None and len(parts) > tagged:
        del parts[tagged]
    return ".".join(parts)


def describe(error: ValidationError) -> list[str]:
    """One readable line for each problem: the key, the value, what is allowed."""
    lines = []
    for problem in error.errors():
        where = _where(problem["loc"])
        message = problem["msg"].removeprefix("Value error, ")
        if problem["type"] == "extra_forbidden":
            message = "unknown key (config/README.md lists every key)"
        elif problem["type"] == "missing":
            message = "missing"
        elif problem["type"] == "tuple_type":
            message = f"{problem['input']!r}: must be a list"
        elif problem["type"] == "too_short":
            message = f"needs {problem['ctx']['min_length']} or more"
        elif problem["type"] == "int_type":
            message = f"{problem['input']!r}: must be a whole number"
        elif not isinstance(problem["input"], dict | list | tuple | BaseModel):
            message = f"{problem['input']!r}: {message}"
        lines.append(f"{where}: {message}" if where else message)
    return lines


def validate(content: Any, origin: str) -> Study:
    """The study in `content`, the parsed file `origin`.

    Raises:
        StudyError: with one line for each wrong key.
    """
    try:
        return Study.model_validate(content)
    except ValidationError as error:
        raise StudyError("\n".join(f"{origin}: {line}" for line in describe(error))) from None


def of_results(path: Path) -> Study:
    """The study of a results folder's study.yaml, named as that folder, which may be a copy of another.

    Raises:
        StudyError: if it cannot be read.
    """
    return load(path).model_copy(update={"study": path.resolve().parent.name})


def require_local_paths(study: Study, origin: str) -> None:
    """See that the files and folders which the study names are there.

    Raises:
        StudyError: with a line for each that is not.
    """
    sections: dict[str, Mapping[str, Corpus | EnglishText | Task]]
    sections = {"corpora": study.corpora, "texts": study.texts, "tasks": study.tasks}
    missing = [
        f"{origin}: {section}.{name}: {path} does not exist"
        for section, named in sections.items()
        for name, one in named.items()
        for path in one.local_paths
        if not path.exists()
    ]
    if missing:
        raise StudyError("\n".join(missing))


def load(path: Path) -> Study:
    """Read and check the study file at `path`.

    Raises:
        StudyError: if the file is missing, is not YAML, or is not a study.
    """
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise StudyError(f"{path}: cannot be read ({error.strerror})") from None
    except yaml.YAMLError as error:
        raise StudyError(f"{path}: not YAML: {error}") from None
    return validate(content, str(path))


def write(study: Study, path: Path) -> None:
    """Write the study with every default filled in; `load` reads it back."""
    content = yaml.safe_dump(study.model_dump(mode="json"), sort_keys=False, allow_unicode=True)
    write_text(path, content)
