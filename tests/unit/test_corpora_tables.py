"""Parallel text in one file, as people have it: which columns are the text, and what its lines are."""

import bz2
import csv
import gzip
import io
import json
import lzma
from collections.abc import Callable, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

import pytest
from backports import zstd
from hypothesis import given
from hypothesis import strategies as st

from preln.corpora import CorpusError, tables
from preln.corpora.tables import Columns
from tests.refused import refused

PAIRS = [(f"De kat ziet {number} honden.", f"Le chat voit {number} chiens, et dort.") for number in range(120)]


def table(folder: Path, name: str, content: str) -> Path:
    path = folder / name
    path.write_text(content, encoding="utf-8")
    return path


def tsv(rows: Sequence[tuple[str, ...]]) -> str:
    return "".join("\t".join(row) + "\n" for row in rows)


def tmx(pairs: list[tuple[str, str]]) -> str:
    units = "".join(
        f'<tu><tuv xml:lang="nl-BE"><seg>{escape(source)}</seg></tuv><tuv xml:lang="FR"><seg>{escape(target)}</seg>'
        "</tuv></tu>"
        for source, target in pairs
    )
    return f'<?xml version="1.0"?><tmx version="1.4"><header/><body>{units}</body></tmx>'


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("A.NL-FR.TSV", tsv(PAIRS)),
        ("news-talks_nl_fr.tsv", tsv(PAIRS)),
        ("news-nl_BE-fr_FR.tsv", tsv(PAIRS)),
        ("a.nl_NL-fr_FR.tsv", tsv([("12", a, "77", b) for a, b in PAIRS])),
        ("a.tsv", tsv([("id", "fr", "nl", "score"), *((str(n), b, a, "0.9") for n, (a, b) in enumerate(PAIRS))])),
        ("a.tsv", tsv([("French", "Dutch"), *((b, a) for a, b in PAIRS)])),
        ("a.tsv", tsv([("#nl", "fr"), *PAIRS])),
        ("a.tsv", tsv([("# Dutch sentence", "text_fra"), *PAIRS])),
        ("nl-fr.tsv", tsv([("sentence", "translation"), *PAIRS])),
        ("a.tsv", tsv([(f'"{a}"', f'"{b}"') for a, b in [("nl", "fr"), *PAIRS]])),
        ("a.csv", "nl;fr\n" + "".join(f'{a};"{b}"\n' for a, b in PAIRS)),
        ("a.nl-fr.csv", tsv(PAIRS)),
        ("a.nl-fr.csv", "".join(f"{a}|{b}\n" for a, b in PAIRS)),
        ("nl_to_fr.tsv", tsv(PAIRS)),
        ("nl-fr-dev.tsv", tsv(PAIRS)),
        ("a.tsv", tsv([("French words/sentences", "Dutch Sentences"), *((b, a) for a, b in PAIRS)])),
        ("nl-fr.tsv", tsv([("sentence1", "sentence2", "label"), *((a, b, "same") for a, b in PAIRS)])),
        ("nl-fr.csv", "id,Target Text,Source Text\n" + "".join(f'{n},"{b}","{a}"\n' for n, (a, b) in enumerate(PAIRS))),
        ("a.jsonl", "".join(json.dumps({"id": "x1", "translation": {"nl": a, "fr": b}}) + "\n" for a, b in PAIRS)),
        ("a.jsonl", "\n".join(json.dumps({"nld_Latn": a, "fra_Latn": b}) for a, b in PAIRS)),
        ("a.json", "\n" + json.dumps([{"id": 7, "translation": {"nl": a, "fr": b}} for a, b in PAIRS], indent=1)),
        ("a.json", "".join(json.dumps({"nl": a, "fr": b}) + "\n" for a, b in PAIRS)),
        ("a.tmx", tmx(PAIRS)),
        # Columns and keys that are no side of the text are not taken for one.
        ("a.csv", "target_text,source_text\n" + "".join(f'"{b}","{a}"\n' for a, b in PAIRS)),
        ("a.tsv", tsv([("nl", a, "fr", b) for a, b in PAIRS])),
        ("a.tsv", tsv([(f"{n % 28 + 1} 11 2020", a, b) for n, (a, b) in enumerate(PAIRS)])),
        ("a.tsv", tsv([("law talk" if n % 2 else "news", a, b) for n, (a, b) in enumerate(PAIRS)])),
        ("a.jsonl", "\n".join(json.dumps({"src_lang": "nl", "src": a, "tgt_lang": "fr", "tgt": b}) for a, b in PAIRS)),
        ("a.jsonl", "\n".join(json.dumps({"split": "train", "tgt": b, "src": a}) for a, b in PAIRS)),
        ("a.tsv", tsv([("tgt_fr", "src_nl"), *((b, a) for a, b in PAIRS)])),
        ("a.tsv", tsv([("fr-BE", "nl-BE"), *((b, a) for a, b in PAIRS)])),
        (
            "a.tmx",
            tmx(PAIRS[:60]).replace("nl-BE", "NL").replace("FR", "fr-FR").removesuffix("</body></tmx>")
            + tmx(PAIRS[60:]).replace("nl-BE", "nl-NL").partition("<body>")[2],
        ),
    ],
)
def test_the_columns_of_the_languages_are_read(name: str, content: str, tmp_path: Path) -> None:
    path = table(tmp_path, name, content)
    assert list(tables.pairs(path, tables.columns(path, ("nl", "fr")))) == PAIRS


@pytest.mark.parametrize("pairs", [[("Nou ja; zo is het; echt waar", "Eh bien"), *PAIRS], PAIRS[:3] * 40])
def test_marks_in_a_sentence_and_repeated_lines_change_no_table(pairs: list[tuple[str, str]], tmp_path: Path) -> None:
    path = table(tmp_path, "a.csv", "".join(f'{a},"{b}"\n' for a, b in pairs))
    assert list(tables.pairs(path, tables.columns(path, (None, None)))) == pairs


@pytest.mark.parametrize(
    ("name", "wanted", "expected"),
    [
        ("a.tsv", (None, None), Columns("2", "3", (None, None))),
        ("a.nl-fr.tsv", ("fr", "nl"), Columns("3", "2", ("fr", "nl"))),
        ("a.nl-fr.tsv", ("fr", None), Columns("3", "2", ("fr", "nl"))),
    ],
)
def test_the_first_two_columns_of_sentences_are_the_sides_in_the_wanted_direction(
    name: str, wanted: tuple[str | None, str | None], expected: Columns, tmp_path: Path
) -> None:
    path = table(tmp_path, name, tsv([(f"doc_{n}", a, b) for n, (a, b) in enumerate(PAIRS)]))
    assert tables.columns(path, wanted) == expected


def test_a_language_that_no_column_has_is_not_that_of_another_column(tmp_path: Path) -> None:
    path = table(tmp_path, "a.tsv", tsv([("nl", "fr"), *PAIRS]))
    with refused(CorpusError, str(path), "no column in de; its columns with a language are nl, fr"):
        tables.columns(path, ("nl", "de"))


def test_a_name_of_several_pairs_of_languages_names_none() -> None:
    assert tables.language_pair(Path("en-de-fr.tsv")) is None


def test_another_part_has_the_columns_of_train(tmp_path: Path) -> None:
    rows = [("law" if number % 2 else "news", a, b) for number, (a, b) in enumerate(PAIRS)]
    train, valid = table(tmp_path, "train.nl-fr.tsv", tsv(rows)), table(tmp_path, "dev.nl-fr.tsv", tsv(rows[:3]))
    chosen = tables.columns(train, (None, None))
    assert list(tables.pairs(valid, tables.columns_like(valid, chosen))) == PAIRS[:3]


def test_a_table_without_two_columns_of_sentences_is_refused(tmp_path: Path) -> None:
    path = table(tmp_path, "a.tsv", tsv([(a, str(n)) for n, (a, _) in enumerate(PAIRS)]))
    with refused(CorpusError, str(path), "no two columns of sentences", "1, 2"):
        tables.columns(path, (None, None))


def test_headings_of_sides_name_no_language(tmp_path: Path) -> None:
    path = table(tmp_path, "a.tsv", tsv([("SRC", "TGT"), *PAIRS]))
    assert tables.columns(path, (None, None)) == Columns("SRC", "TGT", (None, None))


def test_a_table_that_is_not_there_is_refused(tmp_path: Path) -> None:
    for form in tables.FORMATS:
        with refused(CorpusError, f"a{form}", "cannot be read"):
            tables.columns(tmp_path / f"a{form}", (None, None))


def test_half_of_a_character_is_marked(tmp_path: Path) -> None:
    (row,) = tables.rows(table(tmp_path, "a.jsonl", '{"nl": "Leuk \\ud83d", "fr": "\\ud83d\\ude00"}'))
    assert row == {"nl": "Leuk \ufffd", "fr": "\U0001f600"}


def test_codes_of_markup_are_none_of_the_text(tmp_path: Path) -> None:
    marked = tmx([("KEY", "VALUE")]).replace("KEY", "een <bpt i='1'>&lt;b></bpt><hi>dikke</hi><ept i='1'/> kat")
    path = table(tmp_path, "a.tmx", marked)
    assert list(tables.pairs(path, Columns("nl-BE", "fr", ("nl", "fr")))) == [("een dikke kat", "VALUE")]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.jsonl", '{"nl": "x"}\n{"nl": \n', "line 2: not JSON"),
        ("a.jsonl", '["x"]\n', "line 1: must be an object"),
        ("a.json", '[{"nl": "x"},\n"y"]', "a.json, element 2: must be an object"),
        ("a.json", '[{"nl": "x"},\n', "a.json: not JSON"),
        ("a.tmx", "<tmx><body><tu>", "not TMX"),
        ("a.tmx", '<?xml version="1.0" encoding="GB2312"?><tmx/>', "not TMX"),
        ("a.csv", "nl,fr\neen\rman,un homme\n", "a.csv: not CSV: about line 2"),
    ],
)
def test_content_of_another_format_is_refused(name: str, content: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=message):
        list(tables.rows(table(tmp_path, name, content)))


@pytest.mark.parametrize(
    ("ending", "compress"),
    [("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress), ("zst", zstd.compress)],
)
def test_a_compressed_table_is_the_same_table(ending: str, compress: Callable[[bytes], bytes], tmp_path: Path) -> None:
    path, packed = tmp_path / f"a.nl-fr.tsv.{ending}", compress(tsv(PAIRS).encode())
    path.write_bytes(packed)
    assert list(tables.pairs(path, tables.columns(path, (None, None)))) == PAIRS
    path.write_bytes(packed[: len(packed) // 2])
    with refused(CorpusError, "a.nl-fr.tsv", "is it whole"):
        list(tables.rows(path))


@given(
    st.lists(st.tuples(*[st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), min_size=1)] * 2), min_size=1)
)
def test_a_quoted_cell_is_its_text(tmp_path_factory: pytest.TempPathFactory, cells: list[tuple[str, str]]) -> None:
    written = io.StringIO()
    csv.writer(written, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows([("nl", "fr"), *cells])
    path = table(tmp_path_factory.mktemp("quoted"), "a.csv", written.getvalue())
    assert [(row["nl"], row["fr"]) for row in tables.rows(path)] == cells


@pytest.mark.parametrize(("name", "delimiter"), [("nl-fr.csv", ","), ("nl-fr.tsv", "\t")])
def test_a_line_end_in_a_quoted_cell_is_a_space(name: str, delimiter: str, tmp_path: Path) -> None:
    content = io.StringIO()
    csv.writer(content, delimiter=delimiter).writerows([("De kat\nslaapt.", "Le chat\ndort."), *PAIRS])
    path = table(tmp_path, name, content.getvalue())
    pairs = list(tables.pairs(path, tables.columns(path, (None, None))))
    assert pairs == [("De kat slaapt.", "Le chat dort."), *PAIRS]


@pytest.mark.parametrize("name", ["a.csv", "a.tsv"])
def test_quotation_marks_that_are_doubled_in_a_cell_are_single(name: str, tmp_path: Path) -> None:
    lines = ["nl;fr", '"Hij zei ""ja"".";"Il dit ""oui"" et ""non""."', '""Ja"";""Oui"", dit-il.', '"Nee.";"""Non."""']
    if name == "a.tsv":
        # As it stands, ""Ja"" is what the file says.
        lines = [lines[0].replace(";", "\t"), lines[1].replace(";", "\t")]
    read = [(row["nl"], row["fr"]) for row in tables.rows(table(tmp_path, name, "\n".join(lines)))]
    expected = [('Hij zei "ja".', 'Il dit "oui" et "non".'), ('"Ja"', '"Oui", dit-il.'), ("Nee.", '"Non."')]
    assert read == expected[: len(read)]
