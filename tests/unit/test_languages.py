"""A language is the same by each of its codes, and says how its text is tokenised, lower-cased and scored."""

import pytest
from pydantic import TypeAdapter, ValidationError
from sacremoses.corpus import NonbreakingPrefixes

from preln.config import FilesCorpus
from preln.corpora.languages import MOSES, language_of
from preln.jobs.base import text_id


@pytest.mark.parametrize(
    ("codes", "tag"),
    [
        ("de deu de-DE de_DE DE deu_Latn", "de"),
        ("zh zho zh-CN zh_Hans cmn cmn_Hans zho_Hans", "zh"),
        ("zh-TW zho_Hant zh-Hant cmn-Hant-TW", "zh-TW"),
        ("ar arb_Arab ara", "ar"),
        ("et est ekk_Latn", "et"),
        ("nb no nor nob no-NO nor_Latn nob_Latn", "nb"),
        ("ps pus pbu pbu_Arab", "ps"),
        ("pbt pbt_Arab", "pbt"),
        ("acm acm_Arab", "acm"),
        ("cdo cdo_Hans", "cdo"),
    ],
)
def test_the_codes_of_a_language_name_one_language(codes: str, tag: str) -> None:
    assert {language_of(code) for code in codes.split()} == {language_of(tag)}
    assert language_of(tag).tag == tag


@pytest.mark.parametrize("code", ["jp", "xyz", "French", "", "de ", "../de", "und", "und_Hant", "MUL", "zxx"])
def test_a_code_of_no_language_is_refused(code: str) -> None:
    with pytest.raises(ValueError, match="names no language; give a code of ISO 639"):
        language_of(code)


def test_moses_has_the_abbreviations_of_its_languages() -> None:
    assert {*NonbreakingPrefixes().available_langs.values()} >= MOSES.keys()


@pytest.mark.parametrize(
    ("codes", "tokeniser"),
    [
        ("en fi ar hi ko-Latn pbt acm cdo-Latn", "13a"),
        ("zh yue zh-TW cdo cpx", "zh"),
        ("ja ko th lo km my bo ja-Hrkt nod khb jv_Java ii", "char"),
    ],
)
def test_bleu_is_by_characters_where_spaces_do_not_separate_words(codes: str, tokeniser: str) -> None:
    assert {language_of(code).bleu_tokeniser for code in codes.split()} == {tokeniser}


@pytest.mark.parametrize(
    ("code", "lower"),
    [("tr", "ılık istanbul"), ("az", "ılık istanbul"), ("crh_Latn", "ılık istanbul"), ("de", "ilik i̇stanbul")],
)
def test_turkish_has_an_i_without_a_dot(code: str, lower: str) -> None:
    assert language_of(code).lower("ILIK İstanbul") == lower


def corpus(source: str, target: str, **changes: object) -> FilesCorpus:
    content = {"source": "files", "source_language": source, "target_language": target, "vocabulary": 100}
    return TypeAdapter(FilesCorpus).validate_python(content | {"train": {"source": "a", "target": "b"}} | changes)


def test_a_corpus_has_one_identity_by_each_code() -> None:
    assert corpus("zho", "eng_Latn") == corpus("zh-CN", "en")


def test_one_language_on_both_sides_is_refused_by_any_code() -> None:
    with pytest.raises(ValidationError, match="target_language: zh is the source language too"):
        corpus("zh-CN", "zho")


def test_text_that_moses_tore_is_another_corpus() -> None:
    assert "untokenised" not in corpus("nl", "fr").identity
    assert text_id("mine", corpus("th", "en")) != text_id("mine", corpus("th", "en", tokenise=False))
    assert corpus("th", "en").identity["untokenised"] == ["th"]
