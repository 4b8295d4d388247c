"""The table of runs says what the records say, in every form."""

from __future__ import annotations

import csv
import json
import math
import unicodedata
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from preln.config import Study
from preln.errors import PrelnError
from preln.report.core import forms
from preln.report.core.forms import MISSING, Content
from preln.translation.report import tables
from preln.translation.report.records import load
from preln.translation.runs import Run
from tests.made_up.translation import POST, records_of, small_study


def made(study: Study, runs: list[Run], results: Path) -> Content:
    return tables.make(study, load(study, runs, results))


def write(study: Study, runs: list[Run], results: Path, out: list[Path]) -> None:
    tables.RUNS.write(study, load(study, runs, results), out)


def plain(study: Study, runs: list[Run], results: Path) -> str:
    return forms.plain(made(study, runs, results))


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (-0.5330889608192494, "-0.533089"),
        (1234567.8, "1234570.0"),
        (0.000012345678, "1.23457e-05"),
        (math.inf, "inf"),
        (math.nan, ""),
        (None, ""),
    ],
)
def test_what_is_computed_has_six_digits_and_what_is_recorded_all_of_its_own(value: float | None, written: str) -> None:
    table = pd.DataFrame({"recorded": [0.12345678901234566], "computed": [value]})
    assert forms.in_csv(table, ["computed"]) == f"recorded,computed\n0.12345678901234566,{written}\n"


def test_the_csv_has_the_values_of_the_records_and_the_settings_that_vary(tmp_path: Path) -> None:
    study, runs = small_study({**POST, "dropout": [0.1, 0.3]})
    for run in runs:
        records_of(study, run, tmp_path, [6.0, 5.123456789012345])

    write(study, runs, tmp_path, [tmp_path / "runs.csv"])
    with open(tmp_path / "runs.csv", newline="") as file:
        rows = list(csv.DictReader(file))

    assert [row["dropout"] for row in rows] == ["0.1", "0.3"]
    assert "width" not in rows[0]
    assert rows[0]["final_valid_loss"] == "5.123456789012345"
    assert (rows[0]["sentences_valid"], rows[0]["sentences_test"]) == ("50", "40")
    assert rows[0]["tokens_per_second"] == "2000.5"


def test_the_readable_forms_are_rounded_and_carry_the_signatures(tmp_path: Path) -> None:
    study, runs = small_study()
    records_of(study, runs[0], tmp_path, [5.98765])

    text = plain(study, runs, tmp_path)

    assert "1 of 2 runs" in text
    assert "5.988" in text and "5.98765" not in text
    assert "12.35" in text
    assert "1e-3" in text
    assert "nrefs:1|tok:none" in text and "nrefs:1|tok:13a" in text
    assert "50 sentences of valid and 40 of test" in text


def without_chrf(folder: Path) -> None:
    """Make a run's record one that was made before chrF was recorded."""
    curve = pd.read_csv(folder / "curve.csv")
    curve.drop(columns=["valid_chrf", "test_chrf"]).to_csv(folder / "curve.csv", index=False)
    metrics = json.loads((folder / "metrics.json").read_text())
    for epoch in ("final", "best"):
        del metrics[epoch]["valid_chrf"], metrics[epoch]["test_chrf"]
    del metrics["bleu"]["chrf"]
    (folder / "metrics.json").write_text(json.dumps(metrics))


def test_chrf_stands_beside_bleu_where_it_is_recorded(tmp_path: Path) -> None:
    study, runs = small_study()
    for run in runs:
        records_of(study, run, tmp_path, [6.0])
    without_chrf(tmp_path / study.study / runs[0].folder)

    content = made(study, runs, tmp_path)

    assert content.text["Test chrF"].tolist() == [MISSING, "1.00"]
    assert "chrF: nrefs:1|nc:6." in content.notes
    assert content.full["final_test_chrf"].isna().tolist() == [True, False]


def test_records_from_before_chrf_have_none(tmp_path: Path) -> None:
    study, runs = small_study()
    for run in runs:
        records_of(study, run, tmp_path, [6.0])
        without_chrf(tmp_path / study.study / run.folder)

    content = made(study, runs, tmp_path)

    assert not [name for name in (*content.full, *content.text, *content.notes) if "chrf" in name.lower()]


def test_a_run_that_diverged_at_once_is_a_row_with_its_update(tmp_path: Path) -> None:
    study, runs = small_study()
    records_of(study, runs[0], tmp_path, [], diverged={"update": 81, "epoch": 1, "reason": "nan"})

    write(study, runs, tmp_path, [tmp_path / "runs.csv"])

    assert "diverged at 81" in plain(study, runs, tmp_path)
    assert ",diverged,81,1,0," in (tmp_path / "runs.csv").read_text()


def test_a_study_with_nothing_done_has_a_table_that_says_so(tmp_path: Path) -> None:
    study, runs = small_study()
    forms = {suffix: tmp_path / f"runs.{suffix}" for suffix in ("csv", "md", "tex")}

    write(study, runs, tmp_path, list(forms.values()))

    assert forms["csv"].read_text().startswith("run,placement,")
    assert "no finished runs" in forms["md"].read_text()
    assert "no finished runs" in forms["tex"].read_text()
    assert "no finished runs" in plain(study, runs, tmp_path)


def test_latex_is_escaped_and_uses_booktabs(tmp_path: Path) -> None:
    study, runs = small_study(description="100% of R&D, a_b #1 {x} ~ ^ \\ $, β and Δ")
    records_of(study, runs[0], tmp_path, [6.0])

    write(study, runs, tmp_path, [tmp_path / "runs.tex"])
    text = (tmp_path / "runs.tex").read_text()

    assert "100\\% of R\\&D, a\\_b \\#1 \\{x\\} \\textasciitilde{} \\^{}" in text
    assert "\\textbackslash{} \\$, $\\beta$ and $\\Delta$" in text
    assert "Hardware: A \\& B" in text and "abc\\_123" in text
    for rule in ("\\toprule", "\\midrule", "\\bottomrule"):
        assert text.count(rule) == 1
    body = text[text.index("\\midrule") : text.index("\\bottomrule")]
    head = next(line for line in text.splitlines() if line.strip().startswith("Model"))
    assert all(line.count("&") == head.count("&") for line in body.splitlines() if line.endswith("\\\\"))


@pytest.mark.slow
@given(st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=60))
@example("![](http://example.org/a.png) <script>x</script> [a](b) **c** `d` &lt; ~~e~~ \\*f* <g@example.org>")
@example("one\n\n# two\n| three |")
@settings(max_examples=40)
def test_the_description_is_text_in_markdown(description: str) -> None:
    study, runs = small_study(description=description)
    content = made(study, runs, Path("nowhere"))

    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(forms.markdown(content))

    assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"]
    bold, *words, end = (child for child in tokens[1].children or [] if child.type != "text" or child.content)
    assert (bold.type, end.type) == ("strong_open", "strong_close")
    assert {word.type for word in words} <= {"text", "text_special"}
    assert "".join(word.content for word in words) == content.title


def test_the_papers_value_stands_beside_the_run_that_it_is_of(tmp_path: Path) -> None:
    entry = {**POST, "learning_rate": [5e-4, 1e-3], "warmup": 500, "width": 512, "epochs": 15}
    corpora = {"embedded": {"source": "iwslt14"}}
    study, runs = small_study(entry, corpora=corpora, paper_settings=True)
    for run in runs:
        records_of(study, run, tmp_path, [6.0])

    text = plain(study, runs, tmp_path)
    lines = {line.split()[2]: line for line in text.splitlines() if "LN " in line}

    assert lines["5e-4"].rstrip().endswith("31.16 (BLEU)")
    assert lines["1e-3"].rstrip().endswith("2.77 (BLEU)")


def test_a_study_that_is_not_the_papers_has_no_such_column(tmp_path: Path) -> None:
    study, runs = small_study({**POST, "warmup": 500, "width": 512, "epochs": 15})
    records_of(study, runs[0], tmp_path, [6.0])

    assert "Paper" not in plain(study, runs, tmp_path)


def test_a_form_that_there_is_not_is_refused(tmp_path: Path) -> None:
    study, runs = small_study()

    with pytest.raises(PrelnError, match=r"runs.xls: no form of a table; allowed: .csv, .md, .tex"):
        write(study, runs, tmp_path, [tmp_path / "runs.xls"])


@given(st.text(max_size=20))
def test_a_description_commands_a_terminal_nothing(description: str) -> None:
    content = Content(pd.DataFrame(), pd.DataFrame(), f"Study ({description})", ["Note."])
    written = forms.plain(content)
    assert all(unicodedata.category(sign) != "Cc" for sign in written if sign != "\n")
    assert written.startswith("Study (") and written.endswith("Note.\n")
