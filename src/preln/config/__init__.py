"""The data model of a study: what a configuration file may say, its defaults and its checks.

A study is one YAML file. It is read here and nowhere else; everything behind it works with the frozen
values of this package. A wrong file raises :class:`StudyError`, whose message names the file, the key, the
value, and what is allowed.
"""

from preln.config.base import Settings
from preln.config.corpora import Corpus, EmbeddedCorpus, FilesCorpus, Iwslt14Corpus, TextPaths, Wmt14Corpus
from preln.config.execution import Execution
from preln.config.finetuning import GridPoint
from preln.config.grid import Entry, Grid, Placement, Precision
from preln.config.language import LanguageSettings
from preln.config.pretraining import PretrainingSettings
from preln.config.pretraining_texts import (
    BookcorpusSource,
    EmbeddedSource,
    EnglishText,
    TextFilesSource,
    TextSource,
    WikipediaSource,
    WikitextSource,
)
from preln.config.reading import (
    Mistake,
    NoResults,
    Origin,
    StudyError,
    describe,
    is_written,
    load,
    of_results,
    placed,
    read,
    refuse,
    validate,
    write,
)
from preln.config.study import Study
from preln.config.tasks import EmbeddedTask, MrpcTask, RteTask, Task
from preln.config.theory import ExactTheory, Gradients
from preln.config.translation import Optimizer, RunSettings, ScheduleName

ModelSettings = RunSettings | PretrainingSettings | LanguageSettings
"""The settings of a run of any kind of training."""
