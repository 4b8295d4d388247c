"""The data model of a study: what a configuration file may say, its defaults and its checks.

A study is one YAML file. It is read here and nowhere else; everything behind it works with the frozen
values of this package. A wrong file raises :class:`StudyError`, whose message names the file, the key, the
value, and what is allowed.
"""

from preln.config.base import StudyError
from preln.config.corpora import Corpus, EmbeddedCorpus, FilesCorpus, Iwslt14Corpus, TextPaths, Wmt14Corpus
from preln.config.execution import Execution
from preln.config.finetuning import Finetuning, GridPoint
from preln.config.grid import Placement, Precision
from preln.config.pretraining import Pretraining, PretrainingEntry, PretrainingSettings
from preln.config.reading import describe, load, of_results, require_local_paths, validate, write
from preln.config.study import Study
from preln.config.tasks import EmbeddedTask, MrpcTask, RteTask, Task
from preln.config.texts import (
    BookcorpusSource,
    EmbeddedSource,
    EnglishText,
    TextFilesSource,
    TextSource,
    WikipediaSource,
    WikitextSource,
)
from preln.config.theory import VARIANTS, ExactTheory, Gradients, Theory
from preln.config.translation import Optimizer, RunEntry, RunSettings, ScheduleName, Translation

__all__ = [
    "VARIANTS",
    "BookcorpusSource",
    "Corpus",
    "EmbeddedCorpus",
    "EmbeddedSource",
    "EmbeddedTask",
    "EnglishText",
    "ExactTheory",
    "Execution",
    "FilesCorpus",
    "Finetuning",
    "Gradients",
    "GridPoint",
    "Iwslt14Corpus",
    "MrpcTask",
    "Optimizer",
    "Placement",
    "Precision",
    "Pretraining",
    "PretrainingEntry",
    "PretrainingSettings",
    "RteTask",
    "RunEntry",
    "RunSettings",
    "ScheduleName",
    "Study",
    "StudyError",
    "Task",
    "TextFilesSource",
    "TextPaths",
    "TextSource",
    "Theory",
    "Translation",
    "WikipediaSource",
    "WikitextSource",
    "Wmt14Corpus",
    "describe",
    "load",
    "of_results",
    "require_local_paths",
    "validate",
    "write",
]
