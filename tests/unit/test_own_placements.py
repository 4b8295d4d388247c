"""A placement of one's own: a Python file, or an entry point of another package, in place of a name."""

from pathlib import Path
from typing import Any

import pytest

from preln.config import RunSettings, StudyError, validate
from preln.config.base import RECORDED
from preln.errors import PrelnError
from preln.jobs.checking import check
from preln.language.runs import LanguageRun, expand
from preln.language.trainer import Trainer
from preln.placements import PLACEMENTS, identified, resolve
from preln.report.core.labels import setting
from preln.theory.measurement_jobs import ExactJob
from preln.theory.measurements import Measurement, write
from preln.theory.report.records import read
from tests.conftest import PRE_LN_AGAIN, bert_content, language_content, language_settings, settings, study_content
from tests.made_up.language import small_text
from tests.refused import refused


def run_of(placement: str) -> LanguageRun:
    (run,) = expand(validate(language_content({"placement": placement}), "my.yaml"))
    return run


@pytest.mark.parametrize("content", [language_content, study_content, bert_content])
def test_every_kind_of_training_takes_a_file(content: Any, placement_file: Path) -> None:
    jobs = check(content({"placement": str(placement_file)}), "my.yaml").every
    assert any(str(job.id).startswith("again-") for job in jobs)


def test_the_theory_measures_it_under_its_name(placement_file: Path) -> None:
    content = study_content({"placement": ["post", str(placement_file)]}, theory={})
    exact = [job for job in check(content, "my.yaml").every if isinstance(job, ExactJob)]
    assert {job.id for job in exact} >= {"exact-depths", "exact-depths-again"}
    assert str(placement_file) not in str([job.identity for job in exact])


def test_a_moved_file_is_the_same_run_and_an_edited_one_another(placement_file: Path, tmp_path: Path) -> None:
    run = run_of(str(placement_file))
    moved = placement_file.rename(tmp_path / "moved.py")
    assert run_of(str(moved)).identity == run.identity
    moved.write_text(PRE_LN_AGAIN.replace("x + dropout", "x plus dropout"), encoding="utf-8")
    assert run_of(str(moved)).id == run.id
    assert run_of(str(moved)).identity != run.identity


def test_measurements_from_before_a_file_was_moved_are_of_its_placement(placement_file: Path, tmp_path: Path) -> None:
    table = tmp_path / "measurements.csv"
    about = Measurement(
        "exact", "", "initial", resolve(str(placement_file)), "encoder", 1, 8, 1, "W1", 1, "gradient_norm", 1.0
    )
    write([about], table)
    recorded = table.read_text(encoding="utf-8")
    assert str(placement_file) not in recorded
    # Older tables have the path.
    older = tmp_path / "older.csv"
    older.write_text(recorded.replace("again@", f"{placement_file}@"), encoding="utf-8")
    PLACEMENTS.pop(about.placement)
    key = resolve(str(placement_file.rename(tmp_path / "moved.py")))
    for path in (table, older):
        assert read(path)["placement"].tolist() == [key]


def test_a_label_has_its_name_for_what_is_recorded(placement_file: Path) -> None:
    key = resolve(str(placement_file))
    assert {setting("placement", name) for name in (key, identified(key))} == {"Pre-LN again"}


def test_a_training_reads_the_file_as_it_was_when_the_study_was_read(placement_file: Path) -> None:
    run = settings(placement=str(placement_file))
    recorded = run.model_dump_json(context=RECORDED)
    assert RunSettings.model_validate_json(recorded) == run
    placement_file.write_text(PRE_LN_AGAIN + "\n", encoding="utf-8")
    del PLACEMENTS[run.placement]
    with pytest.raises(ValueError, match=r"mine\.py: has changed"):
        RunSettings.model_validate_json(recorded)


@pytest.mark.numbers
def test_pre_ln_in_a_file_trains_to_the_digit_as_pre_ln(placement_file: Path) -> None:
    trainers = [Trainer(language_settings(placement=name), small_text()) for name in ("pre", str(placement_file))]
    first, second = ([trainer.update()[0] for _ in range(3)] for trainer in trainers)
    assert first == second


def test_another_package_offers_one_by_an_entry_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "hybrids.py").write_text(PRE_LN_AGAIN.replace("PLACEMENT", "AGAIN"), encoding="utf-8")
    info = tmp_path / "hybrids-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: hybrids\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text("[preln.placements]\npre-again = hybrids:AGAIN\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    run = run_of("pre-again")
    assert run.id.startswith("again-")
    assert run.identity["placement"].startswith("again@")


def test_a_file_that_imports_from_its_own_package_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "hybrids").mkdir()
    (tmp_path / "hybrids" / "__init__.py").touch()
    path = tmp_path / "hybrids" / "again.py"
    path.write_text(f"import math, hybrids.base\n{PRE_LN_AGAIN}", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with refused(PrelnError, "again.py:1: imports from the package that it is in"):
        resolve(str(path))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda text: "import nothing_there\n", "mine.py:1: ModuleNotFoundError"),
        (lambda text: "raise SystemExit(3)\n", "mine.py:1: SystemExit: 3"),
        (lambda text: f"from .base import X\n{text}", "mine.py:1: imports from the package that it is in"),
        (lambda text: text + "def f(:\n", "mine.py:12: invalid syntax"),
        (lambda text: text.replace("PLACEMENT =", "placement ="), "mine.py: defines no PLACEMENT"),
        (lambda text: text.replace('"again"', '"pre"'), "mine.py:11: PLACEMENT: another module has the name 'pre'"),
        (lambda text: text.replace('"again"', '"A g"') + "PLACEMENTS = 3\n", "mine.py:11: PLACEMENT: 'A g' is no name"),
        (lambda text: text.replace("normalises_sum = False", ""), "mine.py:3: Again: has no normalises_sum"),
        (lambda text: text.replace("self.sum(", "self.sums("), "mine.py:9: AttributeError: 'Again' object has no"),
        (lambda text: text.replace("self.norm(x)))", "self.norm(x)))[:1]"), "mine.py:3: Again: returns a stream"),
    ],
)
def test_what_is_wrong_is_told_before_any_job_with_file_and_line(
    change: Any, told: str, placement_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    placement_file.write_text(change(PRE_LN_AGAIN), encoding="utf-8")
    monkeypatch.chdir(placement_file.parent)
    with refused(PrelnError, told):
        check(language_content({"placement": placement_file.name}), "my.yaml")


def test_a_file_that_is_not_there_is_told() -> None:
    with refused(StudyError, "language.runs.0.placement: 'nowhere.py': nowhere.py: cannot be read"):
        run_of("nowhere.py")
