"""The blocks of claims and questions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from preln.questions import CLAIMS, QUESTIONS, named
from preln.questions.base import FOR, IN_A_LINE, Outcome, Question, Verdict, over_studies
from preln.questions.core.markdown import grid, interval
from preln.report.core.records import having
from preln.report.pages.committed import Committed
from preln.report.reference import errata

OTHERS = [question for question in QUESTIONS.values() if question.kind == "others"]
OWN = {name: question for name, question in QUESTIONS.items() if question.kind == "own"}


def verdict(committed: Committed, label: str, study: str) -> str:
    """A claim's verdict in a study, with how many comparisons hold or point that way where not all do."""
    word = str(committed.claims(study)["verdict"][label])
    outcomes = having(committed.findings(study), question=label, counts="yes")["holds"]
    held = sum(Outcome(outcome) in FOR for outcome in outcomes)
    return word if held == len(outcomes) else f"{word} ({held} of {len(outcomes)})"


def overall(committed: Committed, label: str) -> Verdict:
    """The verdict of the committed studies on a claim together."""
    return over_studies(Verdict(committed.claims(study)["verdict"][label]) for study in committed.studies)


def _by_verdict(verdicts: Iterable[tuple[str, str]]) -> dict[Verdict, list[str]]:
    names = defaultdict(list)
    for name, word in verdicts:
        names[Verdict(word)].append(name)
    return {word: names[word] for word in Verdict if word in names}


def _sentence(committed: Committed, question: Question) -> str:
    """In which studies a claim has which verdict, and under which settings it was found to hold."""
    studies = _by_verdict(
        (f"`{study}`", committed.claims(study)["verdict"][question.label]) for study in committed.studies
    )
    studies.pop(Verdict.NOT_TESTED, None)
    where = "; ".join(f"{word}: {', '.join(names)}" for word, names in studies.items())
    sentence = f"{where[0].upper()}{where[1:]}." if where else "No committed study has its runs."
    return f"{sentence} {question.conditions}".strip()


def _published(question: Question) -> str:
    return f"{question.published} ({question.how_known})"


def claims(committed: Committed) -> str:
    """A row and a sentence for each claim."""
    rows = [
        (
            *(claim.label if claim.counts else f"{claim.label} (a check of our code)", claim.statement),
            *(_published(claim), f"**{overall(committed, claim.label)}**", _sentence(committed, claim)),
        )
        for claim in CLAIMS
    ]
    return grid(["claim", "what the paper says", "its number", "over the committed studies", "where, and when"], rows)


def claims_counts(committed: Committed) -> str:
    """How many of the claims that are counted have which verdict over the committed studies."""
    counted = _by_verdict((claim.label, overall(committed, claim.label)) for claim in CLAIMS if claim.counts)
    rows = [(str(word), str(len(labels)), ", ".join(labels)) for word, labels in counted.items()]
    return grid(["over the committed studies", "claims", "which"], rows)


def claims_by_study(committed: Committed) -> str:
    """The verdict on each claim in each committed study that tests one."""
    shown = [study for study in committed.studies if {*committed.claims(study)["verdict"]} != {Verdict.NOT_TESTED}]
    rows = [
        (claim.label, *(verdict(committed, claim.label, study).replace(Verdict.NOT_TESTED, "") for study in shown))
        for claim in CLAIMS
    ]
    return grid(["claim", *shown], rows)


def claims_reasons(committed: Committed) -> str:
    """Why each verdict is what it is, study by study."""
    rows = [
        (claim.label, study, str(committed.claims(study)["reason"][claim.label]))
        for claim in CLAIMS
        for study in committed.studies
        if committed.claims(study)["verdict"][claim.label] != Verdict.NOT_TESTED
    ]
    return grid(["claim", "study", "reason"], rows)


def claims_rules(committed: Committed) -> str:
    """The rule of each claim, with its date."""
    rows = [(claim.label, claim.source, claim.rule, claim.written) for claim in CLAIMS]
    return grid(["claim", "where in the paper", "rule", "first written on"], rows)


def claims_changes(committed: Committed) -> str:
    """Which rules were changed after results were known, with the verdicts before and after."""
    rows = [(question.label, *vars(change).values()) for question in QUESTIONS.values() for change in question.changes]
    return grid(["question", "date", "the rule before", "why", "verdicts before → after"], rows)


def paper_errata(committed: Committed) -> str:
    """The paper's errors and ambiguities."""
    rows = [
        (str(number), erratum.statement, erratum.source, erratum.correction, erratum.evidence)
        for number, erratum in enumerate(errata.load(), start=1)
    ]
    return grid(["", "the paper", "where", "correction", "why"], rows)


def claims_of_others(committed: Committed) -> str:
    """The claims of the papers behind the placements, with their rules and the bench's verdicts."""
    judged = committed.table("placements", "claims-of-others").set_index("claim")
    rows = [
        (
            *(claim.label, claim.statement, claim.source, _published(claim), claim.rule, claim.written),
            f"**{judged['verdict'][claim.label]}**: {judged['reason'][claim.label]}",
        )
        for claim in OTHERS
    ]
    return grid(["claim", "what its paper says", "paper", "its number", "rule", "written on", "on the bench"], rows)


def questions(committed: Committed) -> str:
    """Our own questions, with the dates of their rules."""
    rows = [(f"`{own.name}`", own.statement, own.written) for own in OWN.values()]
    return grid(["name", "question", "rule of"], rows)


def rule(committed: Committed, name: str) -> str:
    """A question, who asks it, and its rule."""
    asked = named(name)
    parts = [
        f"- **Asked**: {asked.statement}",
        f"- **By**: {asked.source}. Published: {_published(asked)}.",
        f"- **Rule** (written on {asked.written}): {asked.rule}",
        *(f"- **Changed** on {change.date}: {change.why}" for change in asked.changes),
    ]
    return "\n".join(parts) + "\n"


def question(committed: Committed, name: str) -> str:
    """The table of one of our own questions, and the answer by its rule."""
    own = OWN[name]
    answer = committed.answer(own)
    table = ""
    if answer.findings and own.table:
        table = own.table(committed.evidence(*own.reads))
    elif answer.findings:
        rows = [
            (finding.what, finding.of, interval(mean := finding.estimate), str(mean.n), finding.bound, finding.outcome)
            for finding in answer.findings
        ]
        table = grid(["quantity", "of", "mean", "seeds", "asked", ""], rows)
    words = answer.words or [Verdict.NOT_TESTED]
    if len(words) > IN_A_LINE:
        return "\n".join([table, "**By the rule:**\n", *(f"- {word}" for word in words)]) + "\n"
    return f"{table}\n**By the rule: {'; '.join(words)}.**\n".lstrip()
