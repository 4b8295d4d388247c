"""The records that come with a clone are those of the studies that come with it, so that a study goes on from them."""

from pathlib import Path

import pandas as pd
import pytest

from preln.config import load, of_results
from preln.report.catalogue import Catalogue
from preln.translation.runs import expand
from tests.conftest import committed_studies

pytestmark = pytest.mark.numbers

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "results"
COMMITTED = committed_studies()
CONFIGS = {path: ROOT / "config" / f"{path.parent.name}.yaml" for path in COMMITTED}
CONFIGS[RESULTS / "quick-record" / "study.yaml"] = ROOT / "config" / "config.yaml"
CONFIGURED = {path: config for path, config in CONFIGS.items() if config.exists()}
OF_OTHER_TEXT: dict[str, None] = {"texts": None, "description": None}
NOT_MADE = {
    "iwslt14-50k-scaled": {
        "post-adam-lr5e-4-wu1333-s3",
        "pre-adam-lr5e-4-const-drop8-s3",
        *(
            f"{run}-s{seed}"
            for run in (
                "post-adam-lr5e-4-wu0-hold1333",
                "post-radam-lr5e-4-linear5415",
                "post-radam-lr5e-4-linear5415-beta20.999",
                "pre-radam-lr5e-4-linear5415",
            )
            for seed in (1, 2, 3)
        ),
    }
}
"""The runs that a study of config/ has and its committed records do not have yet; docs/your-own-study.md says so."""


@pytest.mark.parametrize("path", CONFIGURED, ids=lambda path: path.parent.name)
def test_a_committed_study_is_the_one_in_config(path: Path) -> None:
    # How it is computed and where its text lies may differ, and in one study the text: docs/your-own-study.md says so.
    may_differ = {"execution": None} | (OF_OTHER_TEXT if path.parent.name == "bert-scaled" else {})
    committed, configured = load(path), load(CONFIGURED[path])
    not_made = NOT_MADE.get(committed.study, set())
    if not_made:
        asked, made = ({run.id: (run.identity, run.figures) for run in expand(one)} for one in (configured, committed))
        assert asked.keys() - made.keys() == not_made
        assert {name: run for name, run in asked.items() if name not in not_made} == made
        may_differ |= {"translation": None}
    # These are trained a part at a time.
    if committed.study in {"widths", "language-bench", "annealing"}:
        part, whole = ({run.id: run.identity for run in expand(study)} for study in (committed, configured))
        assert part.items() <= whole.items()
        may_differ |= {"translation": None, "language": None}
    assert committed.identity | may_differ == configured.identity | may_differ


@pytest.mark.slow
@pytest.mark.parametrize("path", COMMITTED, ids=lambda path: path.parent.name)
def test_the_committed_tables_are_those_of_the_records(path: Path, tmp_path: Path) -> None:
    study = of_results(path)
    catalogue = Catalogue(study)
    for table in catalogue.tables.values():
        # LaTeX is not committed: no page shows it.
        written = {form: tmp_path / form for form in table.files if not form.endswith(".tex")}
        for file in written.values():
            file.parent.mkdir(exist_ok=True)
        progress = catalogue.progress(catalogue.jobs(table), RESULTS)
        table.write(study, catalogue.load(table, RESULTS), [*written.values()], progress)
        for form, file in written.items():
            committed = path.parent / form
            assert committed.exists(), f"{committed} is missing; docs/how-it-is-built.md, Before you commit"
            assert file.read_bytes() == committed.read_bytes(), form
    findings = pd.read_csv(path.parent / "findings.csv")
    assert not findings.duplicated(["quantity", "of"]).any()
