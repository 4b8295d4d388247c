"""BLEU: on tokenised text as in the paper, and sacreBLEU's on detokenised text.

Both are corpus BLEU (Papineni et al., 2002) in percent, from sacrebleu; each number comes with its signature.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.significance import PairedTest

from preln.corpora.tokenisation import detokenise

UNSPACED = {"zh": "zh", "ja": "char", "ko": "char"}
"""sacreBLEU's tokenizers for target languages that are written without spaces."""


@dataclass(frozen=True)
class Bleu:
    """Two scores for the same translations, in percent, rounded to four decimals, with their signatures."""

    tokenised: float
    sacrebleu: float
    tokenised_signature: str
    sacrebleu_signature: str


def p_value(first: Sequence[str], second: Sequence[str], references: Sequence[str]) -> float:
    """The p-value of two systems' difference in tokenised BLEU, by sacrebleu's paired bootstrap (Koehn, 2004) with
    1,000 samples and its default seed."""
    if list(first) == list(second):
        # For identical outputs the bootstrap would return p ≈ 0.
        return 1.0
    metrics = {"BLEU": BLEU(tokenize="none", force=True)}
    systems = [("first", first), ("second", second)]
    _, scores = PairedTest(systems, metrics, [references], test_type="bs", n_samples=1000)()
    result: Any = scores["BLEU"][1]
    return float(result.p_value)


def score(hypotheses: Sequence[str], references: Sequence[str], language: str) -> Bleu:
    """Score `hypotheses` against one reference each; both are Moses-tokenised texts in `language`.

    Raises:
        ValueError: if their numbers differ.
    """
    if len(hypotheses) != len(references):
        raise ValueError(f"{len(hypotheses)} hypotheses, but {len(references)} references")
    # `force` silences the warning that the text seems to be tokenised.
    tokenised = BLEU(tokenize="none", force=True)
    # The signature records that a lower-case corpus was scored without case.
    lowercase = all(line == line.lower() for line in references)
    detokenised = BLEU(lowercase=lowercase, tokenize=UNSPACED.get(language))
    tokenised_score = tokenised.corpus_score(hypotheses, [references]).score
    sacrebleu_score = detokenised.corpus_score(
        [detokenise(line, language) for line in hypotheses],
        [[detokenise(line, language) for line in references]],
    ).score
    return Bleu(
        round(tokenised_score, 4),
        round(sacrebleu_score, 4),
        str(tokenised.get_signature()),
        str(detokenised.get_signature()),
    )
