"""Every command that shows a study says what its preparation noted, once and with numbers."""

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from preln.commands.cli import app
from preln.config import Study, load
from preln.config.base import recorded
from preln.corpora import data, prepare
from preln.jobs import notes
from preln.jobs.kinds import jobs_of
from preln.report.html import page
from preln.training import prepared_text
from preln.translation.runs import expand
from tests.conftest import study_content
from tests.made_up.translation import changed, records_of

pytestmark = pytest.mark.slow

PAIRS = data.pairs()[:1000]


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Study:
    """A study whose text is prepared: a third of test has no translation, and valid has letters that train lacks."""
    monkeypatch.chdir(tmp_path)
    parts = {
        "train": PAIRS[200:],
        "valid": [(source.replace("e", "ɘ"), target) for source, target in PAIRS[:100]],
        "test": [(source, "" if number % 3 == 0 else target) for number, (source, target) in enumerate(PAIRS[100:190])],
    }
    corpus: dict[str, Any] = {"source": "files", "source_language": "de", "target_language": "en", "vocabulary": 400}
    for name, pairs in parts.items():
        corpus[name] = {"source": f"{name}.de", "target": f"{name}.en"}
        for side, path in enumerate(corpus[name].values()):
            Path(path).write_text("".join(f"{pair[side]}\n" for pair in pairs), encoding="utf-8")
    results = Path("results/own")
    results.mkdir(parents=True)
    content = {**study_content({"seed": [1, 2]}), "study": "own", "corpora": {"tiny": corpus}}
    (results / "study.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
    result = load(results / "study.yaml")
    run = expand(result)[0]
    folder = Path(run.prepared[0].folder)
    prepare.prepare_text(recorded(run.corpus), Path("downloads"), folder / "text", 1)
    prepare.prepare_bpe(folder / "text", 400, folder / "bpe", 1)
    records_of(result, run, Path("results"), [5.0, 4.0])
    path = results / run.folder / "run.json"
    changed(path, corpus=prepared_text.record(folder), commit_changed=False, versions={})
    return result


def test_notes_are_said_once_by_each_command_while_they_hold(study: Study, capsys: pytest.CaptureFixture[str]) -> None:
    noted = notes.of_study(jobs_of(study), Path("results/own"))
    unknown, left_out = noted
    assert unknown.startswith("valid.de: ") and "characters are not in train" in unknown
    assert left_out == "test.de, test.en: of 90 pairs for test, left out: 30 with an empty side"
    for command in (["plan"], ["status"], ["status", "--json"], ["summary"]):
        app([*command, "results/own"], standalone_mode=False)
        assert capsys.readouterr().out.count(left_out) == 1, command
    page.write(study, Path("results"), Path("report.html"))
    assert Path("report.html").read_text(encoding="utf-8").count(left_out) == 1
    shutil.rmtree("resources")
    assert notes.of_study(jobs_of(study), Path("results/own")) == noted
    Path("test.en").write_text("".join(f"{target}\n" for _, target in PAIRS[100:190]), encoding="utf-8")
    assert notes.of_study(jobs_of(load(Path("results/own/study.yaml"))), Path("results/own")) == []


def test_what_is_left_out_of_a_users_english_text_is_said() -> None:
    parts = {"train": {"documents": 90, "sentences": 900}, "valid": {"documents": 1, "sentences": 9}}
    parts["dropped"] = {"empty_documents": 8, "copies": 1, "sentences": 1}
    settings = {"sources": [{"source": "files", "path": "talks.txt"}]}
    expected = "talks.txt: of 100 documents, left out: 8 without a sentence that a model reads"
    assert notes.of_text({"settings": settings, "parts": parts}) == [expected]


def test_a_text_that_comes_with_a_source_has_no_note_of_what_its_preparation_leaves_out() -> None:
    train = {"pairs": 500, "drops": {"unequal_lengths": 500}}
    assert notes.of_text({"source": "iwslt14", "settings": {}, "parts": {"train": train}}) == []
