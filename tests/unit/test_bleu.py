"""BLEU of the translations: the two scores, each with its signature."""

from __future__ import annotations

import pytest
import sacrebleu

from preln.translation.bleu import score

pytestmark = pytest.mark.numbers

REFERENCES = ["the cat &apos;s mat is red .", "it is late , she said ."]


def test_a_perfect_translation_has_100() -> None:
    result = score(REFERENCES, REFERENCES, "en")
    assert result.tokenised == pytest.approx(100)
    assert result.sacrebleu == pytest.approx(100)


def test_a_translation_without_a_word_in_common_has_0() -> None:
    assert score(["x y z", "u v w"], REFERENCES, "en").tokenised == 0


def test_tokenised_bleu_is_of_the_tokens_as_they_stand() -> None:
    hypotheses = ["the cat &apos;s mat is blue .", "it is late , he said ."]
    expected = sacrebleu.corpus_bleu(hypotheses, [REFERENCES], tokenize="none", force=True).score
    assert score(hypotheses, REFERENCES, "en").tokenised == pytest.approx(expected, abs=1e-4)


def test_sacrebleu_is_of_running_text() -> None:
    hypotheses = ["the cat &apos;s mat is blue .", "it is late , he said ."]
    running = ["the cat's mat is blue.", "it is late, he said."]
    references = ["the cat's mat is red.", "it is late, she said."]
    expected = sacrebleu.corpus_bleu(running, [references]).score
    assert score(hypotheses, REFERENCES, "en").sacrebleu == pytest.approx(expected, abs=1e-4)


def test_each_score_has_its_signature() -> None:
    result = score(REFERENCES, REFERENCES, "en")
    assert "tok:none" in result.tokenised_signature
    assert "tok:13a" in result.sacrebleu_signature


def test_the_signature_tells_whether_there_was_case_to_score() -> None:
    assert "case:lc" in score(REFERENCES, REFERENCES, "en").sacrebleu_signature
    cased = [line.capitalize() for line in REFERENCES]
    assert "case:mixed" in score(cased, cased, "en").sacrebleu_signature


def test_chinese_is_not_cut_at_spaces_it_does_not_have() -> None:
    assert "tok:zh" in score(["我 喜欢 猫"], ["我 喜欢 狗"], "zh").sacrebleu_signature


def test_a_missing_translation_is_an_error() -> None:
    with pytest.raises(ValueError, match="1 hypotheses, but 2 references"):
        score(REFERENCES[:1], REFERENCES, "en")
