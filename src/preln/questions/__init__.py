"""The questions that are asked of the records: a module for each question, with its record `QUESTION`.

To ask one more is to add a module. The ledger of a study, its findings, `preln answer` and the pages take the questions
from here.
"""

from __future__ import annotations

import sys

from preln.config.base import meant
from preln.discovery import defined
from preln.errors import PrelnError
from preln.questions.base import Question

_DEFINED: dict[str, Question] = defined(sys.modules[__name__], "QUESTION")
_KINDS = ("paper", "others", "own")

QUESTIONS = dict(sorted(_DEFINED.items(), key=lambda item: (_KINDS.index(item[1].kind), item[0])))
"""Every question by its name: the paper's claims, those of other papers, and our own."""
CLAIMS = [question for question in QUESTIONS.values() if question.kind == "paper"]
"""The paper's claims, in their order."""


def named(name: str) -> Question:
    """The question of a name or a label, such as C9 or c09, or an error that names all."""
    for question in QUESTIONS.values():
        if name.lower() in (question.name, question.label.lower()):
            return question
    labels = [question.label for question in QUESTIONS.values()]
    raise PrelnError(f"no question {name}{meant(name, labels)}; there are {', '.join(labels)}")
