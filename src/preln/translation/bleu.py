"""BLEU, the one definition: of tokenised text as in the paper, and sacreBLEU's of detokenised text.

Both are corpus BLEU (Papineni et al., 2002) in percent, from sacrebleu; each number travels with its signature.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.significance import PairedTest

from preln.corpora.tokenisation import detokenise

UNSPACED = {"zh": "zh", "ja": "char", "ko": "char"}
"""sacreBLEU's tokenizers for target languages that its default is not made for."""


@dataclass(frozen=True)
class Bleu:
    """Two scores of the same translations, in percent, rounded to four decimals, with their signatures."""

    tokenised: float
    sacrebleu: float
    tokenised_signature: str
    sacrebleu_signature: str


def p_value(hypotheses: Sequence[str], others: Sequence[str], references: Sequence[str]) -> float:
    """How likely it is that two systems differ so much in tokenised BLEU by the choice of sentences alone: the paired
    bootstrap (Koehn, 2004) of sacrebleu, with its 1,000 samples and its seed."""
    if list(hypotheses) == list(others):
        # Of no difference at all, the bootstrap says that it is sure.
        return 1.0
    metrics = {"BLEU": BLEU(tokenize="none", force=True)}
    test = PairedTest([("one", hypotheses), ("other", others)], metrics, [references], test_type="bs", n_samples=1000)
    _, scores = test()
    found: Any = scores["BLEU"][1]
    return float(found.p_value)


def score(hypotheses: Sequence[str], references: Sequence[str], language: str) -> Bleu:
    """Score `hypotheses` against one reference each; both are Moses-tokenised text in `language`.

    Raises:
        ValueError: if their numbers differ.
    """
    if len(hypotheses) != len(references):
        raise ValueError(f"{len(hypotheses)} hypotheses, but {len(references)} references")
    # The scorer warns that tokenised text seems to be tokenised; here it is meant to be.
    tokenised = BLEU(tokenize="none", force=True)
    # The signature says so where case was not there to be scored.
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
