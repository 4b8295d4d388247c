"""Comparison of two studies: differences in settings and numbers, with their significance."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from preln.config import Study, of_results
from preln.config.base import listed
from preln.jobs.kinds import KINDS, jobs_of
from preln.jobs.results import of_folder
from preln.libraries import pd
from preln.records import packed
from preln.records.files import sha256
from preln.records.provenance import THREADS
from preln.records.recording import RUN, RecordError, checksums, flat, read
from preln.report.core.records import hardware_line
from preln.report.core.statistics import mean
from preln.translation.runs import Run, expand
from preln.translation.training import tested

SIGNIFICANT = 0.05
"""The p-value below which a difference is significant."""
NOTICEABLE = {"valid_loss": 0.05, "test_bleu": 1.0, "test_chrf": 1.0, "accuracy": 0.02}
"""The smallest difference that counts if no p-value is known: bits a token, percent, and a fraction."""

LOWER_IS_BETTER = {"valid_loss": True, "test_bleu": False, "test_chrf": False, "accuracy": False}
"""A lower value is the better one."""

_SCORES = {"test_bleu": "bleu", "test_chrf": "chrf"}
"""The metrics of the translations by quantity."""

Numbers = dict[tuple[str, str], dict[int, float]]
"""Each seed's value, by the runs' name without the seed, and by quantity."""


@dataclass(frozen=True)
class Difference:
    """A quantity in two studies.

    Attributes:
        what: the runs: their varying settings, and the task and update of a fine-tuning.
        quantity: `valid_loss` (bits a token), `test_bleu` or `test_chrf` (percent), or `accuracy` (a fraction).
        before, after: means over the seeds; if one side has a single seed, only that seed's values.
        seeds: the number of seeds of each study.
        p: from Welch's t-test over seeds; for a single seed, from the paired bootstrap over the test sentences, if the
            translations are still in the runs' states; otherwise NaN.
        verdict: `worse`, `better` or `same`. If the hardware differs and a single model was trained (one seed, or a
            fine-tuning), `undecided` replaces the first two, as rounding acts like another seed.
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
    """The differences between two studies: settings as key, value before and value after; numbers of runs that both
    have finished; a sentence for each run that only one has; runs that both have, on different texts; and the hardware
    of each."""

    settings: list[tuple[str, str, str]]
    numbers: list[Difference]
    alone: list[str]
    of_other_text: list[str]
    hardware: tuple[str, str]

    @property
    def is_worse(self) -> bool:
        """Any number is worse."""
        return any(difference.verdict == "worse" for difference in self.numbers)


def compare(before: Path, after: Path) -> Comparison:
    """Compare the studies whose results are in two folders. Runs are matched by name, which contains the varying
    settings of a study.

    Raises:
        StudyError: if a study cannot be read.
        RecordError: if a record cannot be used, or no run is finished in both.
    """
    studies = [of_results(of_folder(folder)) for folder in (before, after)]
    hardware = _hardware(studies[0], before), _hardware(studies[1], after)
    hardware_differs = hardware[0] != hardware[1]
    numbers, alone = [], []
    (first, first_diverged), (second, second_diverged) = (
        _numbers(study, folder.resolve().parent) for study, folder in zip(studies, (before, after), strict=True)
    )
    runs = [{run.id: run for run in expand(study)} for study in studies]
    if not first.keys() & second.keys():
        raise RecordError(f"{before} and {after}: no run is finished in both; runs are matched by name")
    for key in dict.fromkeys([*first, *second]):
        if key in first and key in second:
            name, quantity = key
            bootstrap = partial(_bootstrap, (before, after), runs, name, quantity) if quantity in _SCORES else None
            diverged = first_diverged[key[0]], second_diverged[key[0]]
            numbers.append(_difference(*key, first[key], second[key], diverged, bootstrap, hardware_differs))
        elif key[1] != "test_chrf":
            # Only one of the studies may have chrF, and what is alone has BLEU too.
            alone.append(f"{', '.join(key)}: only in {before if key in first else after}")
    old, new = (flat(study.model_dump(mode="json")) for study in studies)
    changed = [key for key in dict.fromkeys([*old, *new]) if old.get(key) != new.get(key) and key != "study"]
    settings = [(key, old.get(key, ""), new.get(key, "")) for key in changed]
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
            "docs/method.md in preln's repository says which digits are promised where."
        )
    if comparison.settings:
        rows = pd.DataFrame(comparison.settings, columns=["setting", "before", "after"])
        parts.append(rows.to_markdown(index=False, disable_numparse=True))
    else:
        parts.append("The settings are the same.")
    if comparison.numbers:
        table = pd.DataFrame([asdict(difference) for difference in comparison.numbers])
        for column in ("before", "after"):
            table[column] = [f"{value:.4g}" for value in table[column]]
        table["p"] = ["" if math.isnan(p) else f"{p:.2g}" for p in table["p"]]
        parts.append(table.to_markdown(index=False, disable_numparse=True))
    parts += comparison.alone
    counts = Counter(difference.verdict for difference in comparison.numbers)
    undecided = f", and {counts['undecided']} undecided" if counts["undecided"] else ""
    parts.append(
        f"{counts['worse']} of {len(comparison.numbers)} numbers are worse{undecided}: a larger share of the seeds "
        f"diverged; or else p < {SIGNIFICANT} over seeds, or over test's sentences for a single seed; or, without a p, "
        f"by {NOTICEABLE['valid_loss']} bits of loss, {NOTICEABLE['test_bleu']:g} of BLEU or chrF, or "
        f"{NOTICEABLE['accuracy']:.0%} of accuracy. If one side has a single seed, only that seed is compared."
    )
    return "\n\n".join(parts)


def _hardware(study: Study, folder: Path) -> str:
    """The hardware of a study's finished jobs."""
    paths = [folder / job.files[0] for job in jobs_of(study)]
    return "; ".join(sorted({_computed_on(read(path)["hardware"]) for path in paths if packed.exists(path)}))


def _computed_on(hardware: dict[str, Any]) -> str:
    """A job's hardware, with its loops' instructions, in which processors of one name may differ, and the settings of
    its libraries."""
    libraries = hardware.get("libraries", {}).items()
    # Older records have the numbers of threads that Snakemake sets.
    settings = [f"{name}={value}" for name, value in libraries if not name.endswith(THREADS)]
    details = [*filter(None, [hardware.get("loops")]), *settings]
    return hardware_line(hardware) + (f" ({', '.join(details)})" if details else "")


def _texts(study: Study, folder: Path) -> dict[str, dict[str, str]]:
    """The checksums of the text of each finished run, by the run's id."""
    jobs = (job for kind in KINDS.values() if kind.numbers for job in kind.expand(study, "study"))
    done = {job.id: read(path) for job in jobs if packed.exists(path := folder / job.folder / RUN)}
    return {name: checksums(record.get("corpus") or record.get("text", {})) for name, record in done.items()}


def _numbers(study: Study, results: Path) -> tuple[Numbers, dict[str, set[int]]]:
    """The results of a study's runs; and the seeds that diverged, by the runs' names without the seed."""
    numbers: Numbers = defaultdict(dict)
    diverged_seeds: dict[str, set[int]] = defaultdict(set)
    for kind in KINDS.values():
        for number in kind.numbers(study, kind.expand(study, "study"), results) if kind.numbers else ():
            # A run that diverged before it had a value has the worst.
            worst = math.inf if LOWER_IS_BETTER[number.quantity] else 0.0
            value = worst if number.value is None else number.value
            numbers[number.name, number.quantity][number.seed] = value
            if number.diverged:
                diverged_seeds[number.name].add(number.seed)
    return numbers, diverged_seeds


def _difference(
    name: str,
    quantity: str,
    before: dict[int, float],
    after: dict[int, float],
    diverged: tuple[set[int], set[int]],
    bootstrap: Callable[[int], float] | None,
    hardware_differs: bool,
) -> Difference:
    """The difference between two series by their seeds, some of which diverged; `bootstrap` computes the p-value for
    one seed, and `hardware_differs` is about the studies as a whole."""
    common = before.keys() & after.keys()
    if common and min(len(before), len(after)) == 1:
        # If one side has a single seed, compare that seed only.
        before, after = ({seed: values[seed] for seed in common} for values in (before, after))
    mean_before, mean_after = mean(before.values()), mean(after.values())
    finished = [
        [seed for seed in values if seed not in excluded]
        for values, excluded in zip((before, after), diverged, strict=True)
    ]
    first, second = ([values[seed] for seed in seeds] for values, seeds in zip((before, after), finished, strict=True))
    first_share, second_share = len(first) / len(before), len(second) / len(after)
    p, differs = math.nan, False
    worse = mean_after > mean_before if LOWER_IS_BETTER[quantity] else mean_after < mean_before
    if first_share != second_share:
        # A larger share of one side's seeds diverged.
        differs, worse = True, second_share < first_share
    elif min(len(first), len(second)) > 1:
        from scipy import stats  # Slow to import, and not needed for a single seed.

        p = float(stats.ttest_ind(first, second, equal_var=False).pvalue) if first != second else 1.0
        differs, worse = p < SIGNIFICANT, (mean(second) > mean(first)) == LOWER_IS_BETTER[quantity]
    elif first and second:
        if bootstrap and finished[0] == finished[1]:
            p = bootstrap(*finished[0])
        difference = mean(second) - mean(first)
        worse = (difference > 0) == LOWER_IS_BETTER[quantity]
        differs = abs(difference) > NOTICEABLE[quantity] if math.isnan(p) else p < SIGNIFICANT
    # The seeds of a fine-tuning share one pre-trained model, so they count as one training.
    is_single = quantity == "accuracy" or 1 in (len(before), len(after), len(first), len(second))
    if not differs:
        verdict = "same"
    elif hardware_differs and is_single:
        verdict = "undecided"
    else:
        verdict = "worse" if worse else "better"
    return Difference(name, quantity, mean_before, mean_after, f"{len(before)}, {len(after)}", p, verdict)


def _bootstrap(
    results: tuple[Path, Path], runs: Sequence[Mapping[str, Run]], name: str, quantity: str, seed: int
) -> float:
    """The p-value of the paired bootstrap over a run's last translations in both studies; NaN if these are missing, or
    not of the same text."""
    pair = [study_runs[f"{name}-s{seed}"] for study_runs in runs]
    folders = [folder / run.folder for folder, run in zip(results, pair, strict=True)]
    run = pair[1]
    (corpus,) = run.prepared
    language = run.corpus.languages[1]
    test = f"test.{language}"
    text = results[1].resolve().parent.parent / corpus.folder / "text" / test
    tests = {checksums(read(folder / RUN).get("corpus", {})).get(test) for folder in folders}
    first, second = (tested(folder, run.settings.epochs) for folder, run in zip(folders, pair, strict=True))
    if not first or not second or not text.exists() or tests != {sha256(text)}:
        return math.nan
    references = text.read_text(encoding="utf-8").splitlines()
    if len(first) != len(second):
        return math.nan
    from preln.translation.scores import p_value

    return p_value(_SCORES[quantity], first, second, references[: len(first)], language)
