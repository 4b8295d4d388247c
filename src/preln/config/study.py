"""One configuration file, whole."""

from __future__ import annotations

from pydantic import Field, model_validator

from preln.config.base import Name, Settings, later, listed, meant
from preln.config.corpora import Corpus
from preln.config.execution import Execution
from preln.config.finetuning import Finetuning
from preln.config.first_updates import AnyFirstUpdates
from preln.config.language import Language
from preln.config.pretraining import Pretraining
from preln.config.pretraining_texts import EnglishText
from preln.config.tasks import Task
from preln.config.theory import Theory
from preln.config.translation import Translation


class Study(Settings):
    """The top level of the file."""

    study: Name = Field(description="The study's name: its results are in results/<study>/.")
    description: str = Field("", description="One line for tables and the report.")
    paper_settings: bool = Field(
        False,
        description="True if the runs are the paper's. Then its curves are drawn behind ours, and numbers compared.",
    )
    paper_curves: bool = later(
        False,
        "True to draw the paper's curves behind ours though the settings are not the paper's. No numbers are compared.",
    )
    corpora: dict[Name, Corpus] = Field(default_factory=dict, description="The parallel corpora, by name.")
    translation: Translation | None = Field(None, description="The translation runs. Without it, there are none.")
    theory: Theory | None = Field(None, description="The checks of the theory. Without it, there are none.")
    first_updates: AnyFirstUpdates | None = later(
        None,
        "The runs whose first updates are traced, as below: translation runs, or language models. Without it, none.",
    )
    texts: dict[Name, EnglishText] = Field(
        default_factory=dict,
        description="The texts of BERT and of language models, by name: `sources`, `vocabulary` and `seed`.",
    )
    pretraining: Pretraining | None = Field(None, description="The pre-training runs. Without it, there are none.")
    language: Language | None = later(None, "The language models. Without it, there are none.")
    tasks: dict[Name, Task] = Field(
        default_factory=dict, description="The tasks (pairs of sentences) to fine-tune on, by name."
    )
    finetuning: Finetuning | None = Field(None, description="Fine-tuning. Without it, there is none.")
    execution: Execution = Field(default_factory=lambda: Execution(), description="How jobs are run, as below.")

    @model_validator(mode="after")
    def _complete(self) -> Study:
        problems: list[str] = []
        if self.paper_settings and self.paper_curves:
            problems.append("paper_curves: paper_settings draws the paper's curves already; give one of them")
        if not (self.translation or self.theory or self.first_updates or self.pretraining or self.language):
            problems.append("needs one of translation, theory, first_updates, pretraining and language")
        if self.theory and self.theory.gradients and not (self.translation or self.language):
            problems.append("theory.gradients: needs the runs of a section translation or language")
        if self.finetuning and not (self.pretraining and self.pretraining.checkpoints):
            problems.append("finetuning: needs a section pretraining with checkpoints")
        if self.finetuning and (unknown := [task for task in self.finetuning.tasks if task not in self.tasks]):
            named = listed(f"{task}{meant(task, self.tasks)}" for task in unknown)
            problems.append(f"finetuning.tasks: {named} not defined; defined: {listed(self.tasks)}")
        if problems:
            raise ValueError("\n".join(problems))
        return self
