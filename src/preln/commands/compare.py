"""Two studies beside each other: which settings differ, and which numbers, with how sure that is."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from preln.config import Study, of_results
from preln.config.base import listed
from preln.corpora.registry import languages
from preln.jobs.results import of_folder
from preln.jobs.runs import Run, corpus_id, expand
from preln.libraries import pd
from preln.pretraining.report import records as pretraining_records
from preln.pretraining.runs import PretrainingRun
from preln.pretraining.runs import expand as pretraining_runs
from preln.questions.core import evidence
from preln.records.files import sha256
from preln.records.freshness import checksums
from preln.records.recording import RUN, RecordError, read
from preln.report.core.records import flat, hardware_line
from preln.report.core.statistics import mean
from preln.translation.report import records
from preln.translation.training import tested

SIGNIFICANT = 0.05
"""The p-value below which several seeds differ."""
NOTICEABLE = {"valid_loss": 0.05, "test_bleu": 1.0, "accuracy": 0.02}
"""How much a number of one seed may be worse before it is called so: bits a token, percent, and a fraction."""

LOWER_IS_BETTER = {"valid_loss": True, "test_bleu": False, "accuracy": False}
"""Whether a lower value is the better one."""

Numbers = dict[tuple[str, str], dict[int, float]]
"""By the name of runs without the seed, and by quantity: the value of each seed."""


@dataclass(frozen=True)
class Difference:
    """A quantity in two studies.

    Attributes:
        what: the runs: their settings as far as they vary, and the task and update of a fine-tuning.
        quantity: `valid_loss` (bits a token), `test_bleu` (percent) or `accuracy` (a fraction).
        before, after: means over the seeds; beside a single seed, that of the same one alone.
        seeds: how many are compared, of each study.
        p: of Welch's t-test over the seeds; of one seed, that of the paired bootstrap over the test's sentences, where
            the translations are still in the runs' states; otherwise NaN.
        verdict: `worse`, `better` or `same`. On other hardware it is `undecided` in place of the first two where one
            model was trained, of a single seed or for a fine-tuning: it ends as with another seed.
    """

    what: str
    quantity: str
    before: float
    after: float
    seeds: str
    p: float
    verdict: str


@dataclass(frozen=True)
class Comparison:
    """What differs between two studies.

    Attributes:
        settings: the key, before, after.
        numbers: of the runs that both have done.
        alone: runs that only one has done, in words.
        of_other_text: runs that both have done, each on another text.
        hardware: what the runs of each were computed on.
    """

    settings: list[tuple[str, str, str]]
    numbers: list[Difference]
    alone: list[str]
    of_other_text: list[str]
    hardware: tuple[str, str]

    @property
    def is_worse(self) -> bool:
        """Whether some number is."""
        return any(difference.verdict == "worse" for difference in self.numbers)


def compare(before: Path, after: Path) -> Comparison:
    """Compare the studies whose results are in two folders. Runs correspond by their names, which hold what varies
    within a study.

    Raises:
        StudyError: if a study cannot be read.
        RecordError: if a record cannot be used, or no run is done in both.
    """
    studies = [of_results(of_folder(folder)) for folder in (before, after)]
    hardware = _hardware(studies[0], before), _hardware(studies[1], after)
    elsewhere = hardware[0] != hardware[1]
    numbers, alone = [], []
    (first, gone), (second, now_gone) = (
        _numbers(study, folder.resolve().parent) for study, folder in zip(studies, (before, after), strict=True)
    )
    runs = [{run.id: run for run in expand(study)} for study in studies]
    if not first.keys() & second.keys():
        raise RecordError(f"{before} and {after} have no run in common that is done in both; runs correspond by name")
    for key in dict.fromkeys([*first, *second]):
        if key in first and key in second:
            by_sentences = partial(_bootstrap, (before, after), runs, key[0]) if key[1] == "test_bleu" else None
            diverged = gone[key[0]], now_gone[key[0]]
            numbers.append(_difference(*key, first[key], second[key], diverged, by_sentences, elsewhere))
        else:
            alone.append(f"{', '.join(key)}: only in {before if key in first else after}")
    settings = list(_changed(*(flat(study.model_dump(mode="json")) for study in studies)))
    texts = [_texts(study, folder) for study, folder in zip(studies, (before, after), strict=True)]
    of_other_text = [name for name in texts[0] if name in texts[1] and texts[0][name] != texts[1][name]]
    return Comparison(settings, numbers, alone, of_other_text, hardware)


def text(comparison: Comparison) -> str:
    """The comparison as Markdown."""
    parts = []
    if comparison.of_other_text:
        parts.append(
            f"The text differs, by the checksums of the records: {listed(comparison.of_other_text, 3)}. So their "
            "numbers are of different trainings."
        )
    first, second = comparison.hardware
    if first != second:
        parts.append(
            f"The hardware differs: {first}, and {second}. Rounding differs with the kind of processor, and grows with "
            "every update: a run ends as with another seed. So a difference of single seeds is undecided. "
            "docs/speed.md in preln's repository says which digits are promised where."
        )
    if comparison.settings:
        rows = pd.DataFrame(comparison.settings, columns=["setting", "before", "after"])
        parts.append(rows.to_markdown(index=False, disable_numparse=True))
    else:
        parts.append("The settings are the same.")
    if comparison.numbers:
        table = pd.DataFrame([asdict(one) for one in comparison.numbers])
        for column in ("before", "after"):
            table[column] = [f"{value:.4g}" for value in table[column]]
        table["p"] = ["" if math.isnan(p) else f"{p:.2g}" for p in table["p"]]
        parts.append(table.to_markdown(index=False, disable_numparse=True))
    parts += comparison.alone
    counts = Counter(one.verdict for one in comparison.numbers)
    undecided = f", and {counts['undecided']} undecided" if counts["undecided"] else ""
    parts.append(
        f"{counts['worse']} of {len(comparison.numbers)} numbers are worse{undecided}: where a larger share of the "
        f"seeds diverged; otherwise by p < {SIGNIFICANT} of the seeds, or of BLEU's sentences where there is one seed; "
        f"where no p is known, by {NOTICEABLE['valid_loss']} bits of loss, {NOTICEABLE['test_bleu']:g} of BLEU or "
        f"{NOTICEABLE['accuracy']:.0%} of accuracy. Beside a single seed, the same one is compared."
    )
    return "\n\n".join(parts)


def _hardware(study: Study, folder: Path) -> str:
    """What the jobs of a study that are done were computed on."""
    paths = [folder / job.files[0] for job in evidence.SOURCE.jobs(study)]
    return "; ".join(sorted({_computed_on(read(path)["hardware"]) for path in paths if path.exists()}))


def _computed_on(hardware: dict[str, Any]) -> str:
    """What a job was computed on, with the instructions that its loops have: processors of one name may differ in
    them."""
    loops = hardware.get("loops")
    return hardware_line(hardware) + (f" ({loops})" if loops else "")


def _texts(study: Study, folder: Path) -> dict[str, dict[str, str]]:
    """The checksums of the text that each run was trained on that is done, by its id."""
    paths = {run.id: folder / run.folder / RUN for run in (*expand(study), *pretraining_runs(study))}
    done = {name: read(path) for name, path in paths.items() if path.exists()}
    return {name: checksums(record.get("corpus") or record.get("text", {})) for name, record in done.items()}


def _numbers(study: Study, results: Path) -> tuple[Numbers, dict[str, set[int]]]:
    """What the study's runs came to; and by the names of the runs without the seed, which seeds diverged."""
    found: Numbers = defaultdict(dict)
    gone: dict[str, set[int]] = defaultdict(set)
    runs = expand(study)
    done = records.summary(study, runs, results).set_index("run")
    bert = pretraining_records.load(study, pretraining_records.SOURCE.jobs(study), results)
    for quantity in ("valid_loss", "test_bleu"):
        for run in runs:
            if run.id in done.index:
                value: Any = done.loc[run.id, f"final_{quantity}"]
                if diverged := done.loc[run.id, "status"] == "diverged":
                    gone[_series(run)].add(run.settings.seed)
                found[_series(run), quantity][run.settings.seed] = _worst(quantity) if diverged else float(value)
    for pretrained in bert.runs:
        if pretrained.id in bert.metrics:
            ended = bert.metrics[pretrained.id]
            if ended["diverged"]:
                gone[_series(pretrained)].add(pretrained.settings.seed)
            loss = _worst("valid_loss") if ended["diverged"] else ended["final"]["valid_loss"]
            found[_series(pretrained), "valid_loss"][pretrained.settings.seed] = loss
    for job in bert.jobs:
        if best := pretraining_records.chosen(pretraining_records.scores_of(bert, job)):
            found[job.id, "accuracy"] = pretraining_records.accuracies(bert, job, best.point)
    return found, gone


def _worst(quantity: str) -> float:
    """The value of a run that diverged before it had one."""
    return math.inf if LOWER_IS_BETTER[quantity] else 0.0


def _series(run: Run | PretrainingRun) -> str:
    """The name of a run without its seed."""
    return run.id.removesuffix(f"-s{run.settings.seed}")


def _difference(
    name: str,
    quantity: str,
    before: dict[int, float],
    after: dict[int, float],
    diverged: tuple[set[int], set[int]],
    by_sentences: Callable[[int], float] | None,
    elsewhere: bool,
) -> Difference:
    """The difference of two series by their seeds, some of which diverged; `by_sentences` gives the p-value of one
    seed's, and `elsewhere` says that the hardware of the studies differs, whether or not that of these runs does."""
    common = before.keys() & after.keys()
    if common and min(len(before), len(after)) == 1:
        # Beside a single seed, the same one says most.
        before, after = ({seed: one[seed] for seed in common} for one in (before, after))
    was, is_now = mean(before.values()), mean(after.values())
    ended = [[seed for seed in one if seed not in gone] for one, gone in zip((before, after), diverged, strict=True)]
    first, second = ([one[seed] for seed in of_one] for one, of_one in zip((before, after), ended, strict=True))
    first_share, second_share = len(first) / len(before), len(second) / len(after)
    p, differs = math.nan, False
    worse = is_now > was if LOWER_IS_BETTER[quantity] else is_now < was
    if first_share != second_share:
        # More seeds of one have diverged.
        differs, worse = True, second_share < first_share
    elif min(len(first), len(second)) > 1:
        from scipy import stats  # It takes longer to import than all else, and one seed has no need of it.

        p = float(stats.ttest_ind(first, second, equal_var=False).pvalue) if first != second else 1.0
        differs, worse = p < SIGNIFICANT, (mean(second) > mean(first)) == LOWER_IS_BETTER[quantity]
    elif first and second:
        if by_sentences and ended[0] == ended[1]:
            p = by_sentences(*ended[0])
        by = mean(second) - mean(first)
        worse = (by > 0) == LOWER_IS_BETTER[quantity]
        differs = abs(by) > NOTICEABLE[quantity] if math.isnan(p) else p < SIGNIFICANT
    # The seeds of a fine-tuning share one pre-trained model, so they are one training.
    of_one_seed = quantity == "accuracy" or 1 in (len(before), len(after), len(first), len(second))
    verdict = ("undecided" if elsewhere and of_one_seed else "worse" if worse else "better") if differs else "same"
    return Difference(name, quantity, was, is_now, f"{len(before)}, {len(after)}", p, verdict)


def _bootstrap(results: tuple[Path, Path], runs: Sequence[Mapping[str, Run]], name: str, seed: int) -> float:
    """The p-value of the paired bootstrap over the last epochs' translations of a run, by the results and the runs of
    both studies; NaN where they are gone, or are not of the same text."""
    mine = [of_study[f"{name}-s{seed}"] for of_study in runs]
    folders = [folder / run.folder for folder, run in zip(results, mine, strict=True)]
    run = mine[1]
    corpora = results[1].resolve().parent.parent / "resources" / "corpora"
    test = f"test.{languages(run.corpus)[1]}"
    text = corpora / corpus_id(run.settings.corpus, run.corpus) / "text" / test
    tests = {checksums(read(folder / RUN).get("corpus", {})).get(test) for folder in folders}
    first, second = (tested(folder, run.settings.epochs) for folder, run in zip(folders, mine, strict=True))
    if not first or not second or not text.exists() or tests != {sha256(text)}:
        return math.nan
    references = text.read_text(encoding="utf-8").splitlines()
    if len(first) != len(second):
        return math.nan
    from preln.translation.bleu import p_value

    return p_value(first, second, references[: len(first)])


def _changed(before: dict[str, str], after: dict[str, str]) -> Iterator[tuple[str, str, str]]:
    for key in dict.fromkeys([*before, *after]):
        if before.get(key) != after.get(key) and key != "study":
            yield key, before.get(key, ""), after.get(key, "")
