"""The answers of a study, or of the committed ones, to a question."""

from __future__ import annotations

import textwrap
from pathlib import Path

from preln.config import of_results
from preln.jobs.results import STUDY_FILE, files_made
from preln.questions import named
from preln.questions.base import IN_A_LINE, Answer, Question, Verdict, over_studies
from preln.questions.core.evidence import of_folders, of_study

WIDTH = 100


def answer(name: str, results: Path | None) -> str:
    """The question of a name such as C15, its rule, every finding with its seeds, and the verdict, as text. `results`
    is a study's folder of results; without one, the studies of the current folder are read.

    Raises:
        PrelnError: if there is no such question.
        RecordError: if a record cannot be used.
    """
    question = named(name)
    lines = [f"{question.label}: {question.statement}", f"Asked by: {question.source}"]
    lines += [f"Published: {question.published} ({question.how_known})", f"Rule ({question.written}): {question.rule}"]
    lines += [question.conditions] if question.conditions else []
    text = "\n".join(textwrap.fill(line, WIDTH, subsequent_indent="  ") for line in lines)
    return "\n\n".join([text, *_answers(question, results)])


def _answers(question: Question, results: Path | None) -> list[str]:
    if results:
        study = of_results(results / STUDY_FILE)
        return [_of_study(results.name, question.ask(of_study(study, results.resolve().parent)))]
    nearest: dict[str, Path] = {}
    for file in files_made(f"results/*/{STUDY_FILE}", Path()):
        # Another folder of the name, further down, is a copy.
        nearest.setdefault(file.parent.name, file.parent)
    folders = [*nearest.values()]
    if question.reads:
        together = [folder for folder in folders if folder.name in question.reads]
        return [_of_study(" and ".join(question.reads), question.ask(of_folders(together)))]
    answers = {folder.name: question.ask(of_folders([folder])) for folder in folders}
    parts = [_of_study(study, answer) for study, answer in answers.items() if answer.findings]
    return [*parts, f"Over these studies: {over_studies(answer.verdict for answer in answers.values())}."]


def _of_study(study: str, answer: Answer) -> str:
    words = answer.words or [str(Verdict.NOT_TESTED)]
    lines = (
        [f"{study}: {'; '.join(words)}"]
        if len(words) <= IN_A_LINE
        else [f"{study}:", *(f"  - {word}" for word in words)]
    )
    for finding in answer.findings:
        seeds = ", ".join(f"{value:.4g}" for value in finding.values)
        lines.append(f"  {finding.outcome}: {finding}; seeds: {seeds}")
    return "\n".join(lines)
