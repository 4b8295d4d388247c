"""The scores of translations, each with its signature, in every kind of script."""

import pytest
import sacrebleu

from preln.translation.scores import score

pytestmark = pytest.mark.numbers

REFERENCES = ["the cat &apos;s mat is red .", "it is late , she said ."]


def test_tokenised_bleu_is_of_the_tokens_as_they_stand_and_the_others_are_of_running_text() -> None:
    hypotheses = ["the cat &apos;s mat is blue .", "it is late , he said ."]
    running = ["the cat's mat is blue.", "it is late, he said."]
    references = ["the cat's mat is red.", "it is late, she said."]
    result = score(hypotheses, REFERENCES, "en")
    tokenised = sacrebleu.corpus_bleu(hypotheses, [REFERENCES], tokenize="none", force=True).score
    assert result.bleu == pytest.approx(tokenised, abs=1e-4)
    assert result.sacrebleu == pytest.approx(sacrebleu.corpus_bleu(running, [references]).score, abs=1e-4)
    assert result.chrf == pytest.approx(sacrebleu.corpus_chrf(running, [references]).score, abs=1e-4)


def test_each_score_has_its_signature_which_tells_whether_there_was_case_to_score() -> None:
    result = score(REFERENCES, REFERENCES, "en")
    assert "tok:none" in result.bleu_signature
    assert "tok:13a" in result.sacrebleu_signature and "case:lc" in result.sacrebleu_signature
    assert "nc:6|nw:0" in result.chrf_signature
    cased = [line.capitalize() for line in REFERENCES]
    assert "case:mixed" in score(cased, cased, "en").sacrebleu_signature


@pytest.mark.parametrize(
    ("codes", "reference", "almost", "tokeniser"),
    [
        ("zh zho zh-CN cmn_Hans", "我喜欢那只黑色的猫。", "我喜欢那只白色的猫。", "zh"),
        ("ja jpn jpn_Jpan", "私はその黒い猫が好きです。", "私はその白い猫が好きです。", "char"),
    ],
)
def test_text_without_spaces_has_one_score_by_any_code(codes: str, reference: str, almost: str, tokeniser: str) -> None:
    (result,) = {score([almost], [reference], code) for code in codes.split()}
    assert 30 < result.bleu < 90
    assert result.bleu == result.sacrebleu
    assert result.bleu_signature == result.sacrebleu_signature
    assert f"tok:{tokeniser}" in result.bleu_signature


def test_words_between_spaces_that_moses_does_not_know_are_scored_by_sacrebleu() -> None:
    result = score(["a b c d e."], ["a b c d e ."], "hi")
    assert result.bleu == result.sacrebleu == pytest.approx(100)


def test_a_missing_translation_is_an_error() -> None:
    with pytest.raises(ValueError, match="1 hypotheses, but 2 references"):
        score(REFERENCES[:1], REFERENCES, "en")
