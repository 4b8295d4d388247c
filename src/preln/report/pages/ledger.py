"""The blocks of claims and questions."""

from __future__ import annotations

from collections import Counter

from preln.questions import CLAIMS, QUESTIONS, named
from preln.questions.base import Answer, Outcome, Question, Verdict, over_studies
from preln.questions.core.markdown import grid, interval
from preln.report.core.statistics import plus_minus
from preln.report.pages.committed import Committed
from preln.report.reference import errata

NOT_YET = "not tested yet"
_FOR = {str(Outcome.HOLDS), str(Outcome.POINTS)}


def verdict(committed: Committed, label: str, study: str) -> str:
    """A claim's verdict in a study, with how many comparisons hold or point that way where not all do."""
    word = str(committed.claims(study)["verdict"][label])
    found = committed.findings(study)
    mine = found[(found["question"] == label) & (found["counts"] == "yes")]
    held = mine["holds"].isin(_FOR).sum()
    return word if held == len(mine) or not len(mine) else f"{word} ({held} of {len(mine)})"


def overall(committed: Committed, label: str) -> Verdict:
    """What the committed studies say of a claim together."""
    return over_studies(Verdict(committed.claims(study)["verdict"][label]) for study in committed.studies)


def _sentence(committed: Committed, question: Question) -> str:
    """In which studies a claim has which verdict, and under which settings it was found to hold."""
    by_verdict: dict[str, list[str]] = {}
    for study in committed.studies:
        by_verdict.setdefault(str(committed.claims(study)["verdict"][question.label]), []).append(f"`{study}`")
    order = [str(one) for one in Verdict if one is not Verdict.NOT_TESTED and str(one) in by_verdict]
    where = "; ".join(f"{one}: {', '.join(by_verdict[one])}" for one in order)
    sentence = f"{where[0].upper()}{where[1:]}." if where else "No committed study has its runs."
    return f"{sentence} {question.conditions}".strip()


def claims(committed: Committed) -> str:
    """A row and a sentence for each claim."""
    rows = [
        (
            *(one.label if one.counts else f"{one.label} (a check of our code)", one.statement),
            *(f"{one.published} ({one.how_known})", f"**{overall(committed, one.label)}**"),
            _sentence(committed, one),
        )
        for one in CLAIMS
    ]
    return grid(["claim", "what the paper says", "its number", "over the committed studies", "where, and when"], rows)


def claims_counts(committed: Committed) -> str:
    """How many of the claims that are counted have which verdict over the committed studies."""
    found: dict[str, list[str]] = {}
    for one in CLAIMS:
        if one.counts:
            found.setdefault(str(overall(committed, one.label)), []).append(one.label)
    rows = [(str(one), str(len(found[str(one)])), ", ".join(found[str(one)])) for one in Verdict if str(one) in found]
    return grid(["over the committed studies", "claims", "which"], rows)


def claims_by_study(committed: Committed) -> str:
    """The verdict on each claim in each committed study that tests one."""
    tests = {study: {one.label: verdict(committed, one.label, study) for one in CLAIMS} for study in committed.studies}
    shown = [study for study, found in tests.items() if set(found.values()) != {NOT_YET}]
    rows = [[one.label, *(tests[study][one.label].replace(NOT_YET, "") for study in shown)] for one in CLAIMS]
    return grid(["claim", *shown], rows)


def claims_reasons(committed: Committed) -> str:
    """Why each verdict is what it is, study by study."""
    rows = [
        (one.label, study, str(committed.claims(study)["reason"][one.label]))
        for one in CLAIMS
        for study in committed.studies
        if committed.claims(study)["verdict"][one.label] != NOT_YET
    ]
    return grid(["claim", "study", "reason"], rows)


def claims_rules(committed: Committed) -> str:
    """The rule of each claim, with its date."""
    rows = [(one.label, one.source, one.rule, str(one.written)) for one in CLAIMS]
    return grid(["claim", "where in the paper", "rule", "first written on"], rows)


def claims_changes(committed: Committed) -> str:
    """Which rules were changed after results were known, with the verdicts before and after."""
    rows = [
        (one.label, str(change.date), change.rule, change.why, change.verdicts)
        for one in QUESTIONS.values()
        for change in one.changes
    ]
    return grid(["question", "date", "the rule before", "why", "verdicts before → after"], rows)


def paper_errata(committed: Committed) -> str:
    """The paper's errors and ambiguities."""
    rows = [(str(number), *vars(one).values()) for number, one in enumerate(errata.load(), start=1)]
    return grid(["", "the paper", "where", "correction", "why"], rows)


def claims_of_others(committed: Committed) -> str:
    """The claims of the papers behind the placements, with their rules and the bench's verdicts."""
    judged = committed.table("placements", "claims-of-others").set_index("claim")
    rows = [
        (
            *(one.label, one.statement, one.source, f"{one.published} ({one.how_known})", one.rule, str(one.written)),
            f"**{judged['verdict'][one.label]}**: {judged['reason'][one.label]}",
        )
        for one in QUESTIONS.values()
        if one.kind == "others"
    ]
    return grid(["claim", "what its paper says", "paper", "its number", "rule", "written on", "on the bench"], rows)


def questions(committed: Committed) -> str:
    """Our own questions, with their answers."""
    rows = [
        (f"`{one.name}`", one.statement, str(one.written), f"**{answer(committed, one.name)}**")
        for one in QUESTIONS.values()
        if one.kind == "own"
    ]
    return grid(["name", "question", "rule of", "answer by the rule"], rows)


def explanations(committed: Committed) -> str:
    """What other papers say of why Post-LN needs the warm-up, with our answers."""
    said = {
        "first-updates": "Post-LN does not fail because its last gradients are large. It fails because its first "
        "updates change the model's function too much.",
        "amplification": "Post-LN amplifies a small change of its weights. A deeper Post-LN amplifies it more, and a "
        "deeper Pre-LN hardly. Unequal gradients are not the cause.",
    }
    rows = [
        (
            text,
            named(name).source,
            f"{named(name).published} ({named(name).how_known})",
            f"**{answer(committed, name)}**",
        )
        for name, text in said.items()
    ]
    return grid(["what they say", "who", "their number", "our answer by the rule"], rows)


def rule(committed: Committed, name: str) -> str:
    """What a question asks, who asks it, and its rule."""
    one = named(name)
    parts = [
        f"- **Asked**: {one.statement}",
        f"- **By**: {one.source}. Published: {one.published} ({one.how_known}).",
        f"- **Rule** (written on {one.written}): {one.rule}",
    ]
    parts += [f"- **Changed** on {change.date}: {change.why}" for change in one.changes]
    return "\n".join(parts) + "\n"


def question(committed: Committed, name: str) -> str:
    """The table of one of our own questions, and the answer by its rule."""
    one = named(name)
    found = committed.answer(one)
    table = ""
    if found.findings:
        table = one.table(committed.evidence(*one.reads)) if one.table else findings_table(found)
    return f"{table}\n**By the rule: {'; '.join(found.words) or NOT_YET}.**\n".lstrip()


def findings_table(found: Answer) -> str:
    """Every finding of an answer, with its mean and interval."""
    rows = [
        (one.what, one.of, interval(one.estimate), str(one.estimate.n), one.bound, str(one.outcome))
        for one in found.findings
    ]
    return grid(["quantity", "of", "mean", "seeds", "asked", ""], rows)


def answer(committed: Committed, name: str) -> str:
    """The answer of one of our own questions in words."""
    return "; ".join(committed.answer(named(name)).words) or NOT_YET


def count(committed: Committed, what: str) -> str:
    """How many claims are counted, or have a verdict over the committed studies (with hyphens for its spaces)."""
    counts = Counter(str(overall(committed, one.label)) for one in CLAIMS if one.counts)
    return str(counts.total() if what == "claims" else counts[what.replace("-", " ")])


def finding(committed: Committed, name: str, form: str = "") -> str:
    """A number of a finding, named as `QUANTITY@STUDY` or, where there are several, `QUANTITY|SETTING=VALUE@STUDY`.

    Args:
        committed: the results.
        name: of the finding.
        form: the mean with half of its interval by default; `mean`, `range` (of the seeds), `seeds` or `n`.

    Raises:
        KeyError: if there is none of this name, or there are several.
    """
    quantity, _, study = name.partition("@")
    quantity, *settings = quantity.split("|")
    found = committed.findings(study)
    found = found[found["quantity"] == quantity]
    for setting in settings:
        found = found[[setting in str(of).split(", ") for of in found["of"]]]
    if len(found) != 1:
        raise KeyError(f"{name}: {len(found)} findings; they are of {'; '.join(map(str, found['of']))}")
    row = found.iloc[0]
    values = [float(value) for value in str(row["values"]).split()]
    match form:
        case "mean":
            return _number(float(row["mean"]))
        case "range":
            return _number(values[0]) if len(values) == 1 else f"{_number(min(values))} to {_number(max(values))}"
        case "seeds":
            return ", ".join(map(_number, values))
        case "n":
            return str(len(values))
    half = (float(row["high"]) - float(row["low"])) / 2
    return plus_minus(float(row["mean"]), half, "#.3g", ".2g").replace("-", "−")


def _number(value: float) -> str:
    return f"{value:#.3g}".replace("-", "−")
