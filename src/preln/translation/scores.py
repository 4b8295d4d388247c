"""Scores of translations: BLEU on tokenised text as in the paper, and sacreBLEU's BLEU and chrF on running text.

BLEU (Papineni et al., 2002) and chrF (Popović, 2015) are of a whole corpus and in percent, from sacrebleu; each number
comes with its signature.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.significance import PairedTest

from preln.corpora.languages import language_of
from preln.corpora.tokenisation import detokenise


@dataclass(frozen=True)
class Scores:
    """The scores of the same translations, in percent, rounded to four decimals, with their signatures.

    Attributes:
        bleu: BLEU of the tokens of the prepared text; of a language that Moses does not tokenise, equal to `sacrebleu`.
        sacrebleu: BLEU of running text, by sacreBLEU's tokeniser for the language.
        chrf: chrF of running text, which no tokeniser changes.
    """

    bleu: float
    sacrebleu: float
    chrf: float
    bleu_signature: str
    sacrebleu_signature: str
    chrf_signature: str


def score(hypotheses: Sequence[str], references: Sequence[str], language: str) -> Scores:
    """Score `hypotheses` against one reference each; both are prepared texts in `language`.

    Raises:
        ValueError: if their numbers differ.
    """
    if len(hypotheses) != len(references):
        raise ValueError(f"{len(hypotheses)} hypotheses, but {len(references)} references")
    values: dict[str, Any] = {}
    for name, (metric, is_of_tokens) in _metrics(references, language).items():
        texts = [_scored(text, language, is_of_tokens) for text in (hypotheses, references)]
        values[name] = round(metric.corpus_score(texts[0], texts[1:]).score, 4)
        values[f"{name}_signature"] = str(metric.get_signature())
    return Scores(**values)


def p_value(
    metric: str, first: Sequence[str], second: Sequence[str], references: Sequence[str], language: str
) -> float:
    """The p-value of two systems' difference in `bleu`, `sacrebleu` or `chrf`, by sacrebleu's paired bootstrap (Koehn,
    2004) with 1,000 samples and its default seed. The systems' texts, `first` and `second`, and the references are
    prepared texts in a language, which is given by its code."""
    if list(first) == list(second):
        # For identical outputs the bootstrap would return p ≈ 0.
        return 1.0
    scorer, is_of_tokens = _metrics(references, language)[metric]
    texts = [_scored(text, language, is_of_tokens) for text in (first, second, references)]
    systems: Any = [("first", texts[0]), ("second", texts[1])]
    _, results = PairedTest(systems, {metric: scorer}, texts[2:], test_type="bs", n_samples=1000)()
    result: Any = [*results.values()][-1][1]
    return float(result.p_value)


def _metrics(references: Sequence[str], language: str) -> dict[str, tuple[BLEU | CHRF, bool]]:
    """The metrics by name, each with whether it scores tokens; the others score running text."""
    known = language_of(language)
    # The signature records that a lower-case corpus was scored without case.
    lowercase = all(line == line.lower() for line in references)
    running = BLEU(lowercase=lowercase, tokenize=known.bleu_tokeniser)
    # `force` silences the warning that the text seems to be tokenised.
    tokens = BLEU(tokenize="none", force=True)
    return {
        "bleu": (tokens, True) if known.moses else (running, False),
        "sacrebleu": (running, False),
        "chrf": (CHRF(lowercase=lowercase), False),
    }


def _scored(text: Sequence[str], language: str, is_of_tokens: bool) -> list[str]:
    """A prepared text as a metric scores it."""
    return list(text) if is_of_tokens else [detokenise(line, language) for line in text]
