"""The table of runs says what the records say, in every form."""

import csv
import json
import math
import unicodedata
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from preln.errors import PrelnError
from preln.report.core import forms
from preln.report.core.forms import MISSING, Content
from preln.translation.report.records import load
from preln.translation.report.runs import TABLE
from tests.made_up.translation import POST, recorded_study, small_study
from tests.reading import tabled


def written(form: str, results: Path, *ends: list[float], **changes: Any) -> str:
    """The table of a study of which the first runs ended so, in a form."""
    study, runs = recorded_study(results, *ends, **changes)
    TABLE.write(study, load(study, runs, results), [results / f"runs.{form}"])
    return (results / f"runs.{form}").read_text()


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
    grid = [{**POST, "dropout": [0.1, 0.3]}]
    text = written("csv", tmp_path, *[[6.0, 5.123456789012345]] * 2, grid=grid)
    rows = list(csv.DictReader(text.splitlines()))
    assert [row["dropout"] for row in rows] == ["0.1", "0.3"]
    assert "width" not in rows[0]
    assert rows[0]["final_valid_loss"] == "5.123456789012345"
    assert (rows[0]["sentences_valid"], rows[0]["sentences_test"]) == ("50", "40")
    assert rows[0]["tokens_per_second"] == "2000.5"


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
    study, (first, second) = recorded_study(tmp_path, [6.0], [6.0])
    without_chrf(tmp_path / study.study / first.folder)
    content = tabled("runs", study, tmp_path)
    assert content.text["Test chrF"].tolist() == [MISSING, "1.00"]
    assert "chrF: nrefs:1|nc:6." in content.notes
    assert content.full["final_test_chrf"].isna().tolist() == [True, False]
    without_chrf(tmp_path / study.study / second.folder)
    content = tabled("runs", study, tmp_path)
    assert not [name for name in (*content.full, *content.text, *content.notes) if "chrf" in name.lower()]


def test_latex_is_escaped_and_uses_booktabs(tmp_path: Path) -> None:
    text = written("tex", tmp_path, [6.0], description="100% of R&D, a_b #1 {x} ~ ^ \\ $, β, Δ and ‖")
    assert "100\\% of R\\&D, a\\_b \\#1 \\{x\\} \\textasciitilde{} \\^{}" in text
    assert "\\textbackslash{} \\$, $\\beta$, $\\Delta$ and $\\Vert$" in text
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
    content = tabled("runs", small_study(description=description)[0], Path("nowhere"))
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(forms.markdown(content))
    assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"]
    bold, *words, end = (child for child in tokens[1].children or [] if child.type != "text" or child.content)
    assert (bold.type, end.type) == ("strong_open", "strong_close")
    assert {word.type for word in words} <= {"text", "text_special"}
    assert "".join(word.content for word in words) == content.title


@pytest.mark.parametrize("is_papers", [True, False], ids=["the paper's setting", "another"])
def test_the_papers_value_stands_beside_the_run_that_it_is_of(is_papers: bool, tmp_path: Path) -> None:
    grid = [{**POST, "learning_rate": [5e-4, 1e-3], "warmup": 500, "width": 512, "epochs": 15}]
    papers: dict[str, Any] = {"corpora": {"embedded": {"source": "iwslt14"}}, "paper_settings": True}
    study, _ = recorded_study(tmp_path, [6.0], [6.0], grid=grid, **(papers if is_papers else {}))
    text = forms.plain(tabled("runs", study, tmp_path))
    lines = {line.split()[2]: line.rstrip() for line in text.splitlines() if "LN " in line}
    assert lines["5e-4"].endswith("31.16 (BLEU)") == is_papers
    assert lines["1e-3"].endswith("2.77 (BLEU)") == is_papers
    assert ("Paper" in text) == is_papers


def test_a_form_that_there_is_not_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PrelnError, match=r"runs.xls: no form of a table; allowed: .csv, .md, .tex"):
        written("xls", tmp_path)


@given(st.text(max_size=20))
def test_a_description_commands_a_terminal_nothing(description: str) -> None:
    content = Content(pd.DataFrame(), pd.DataFrame(), f"Study ({description})", ["Note."])
    written = forms.plain(content)
    assert all(unicodedata.category(sign) != "Cc" for sign in written if sign != "\n")
    assert written.startswith("Study (") and written.endswith("Note.\n")
