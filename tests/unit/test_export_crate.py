"""A study's results as an RO-Crate, read back with the library: its files, and where each record comes from."""

import json
import shutil
from pathlib import Path

import pytest

from preln.commands.cli import app
from preln.config import of_results
from preln.errors import PrelnError
from preln.export import crate
from preln.records.files import sha256
from preln.records.recording import RecordError
from preln.report.catalogue import REPORT, Catalogue
from preln.report.core.records import hardware_line
from tests.conftest import ROOT, laid_out
from tests.made_up.translation import changed
from tests.refused import refused

pytest.importorskip("rocrate", reason="rocrate is not installed (requirements-crate.txt)")

from rocrate.model import Entity
from rocrate.rocrate import ROCrate

RESULTS = ROOT / "results" / "quick-record"
CATALOGUE = Catalogue(of_results(RESULTS / "study.yaml"))
RUN = "translation/post-adam-lr3e-3-wu0-hold400-s1"


def export(results: Path, out: Path, licence: str = "CC-BY-4.0") -> ROCrate:
    app(["export", str(results), "--to", "ro-crate", "--licence", licence, "--out", str(out)], standalone_mode=False)
    return ROCrate(out)


def copied(folder: Path) -> Path:
    """The results of the committed default study, with all that is made from its records."""
    results = laid_out(RESULTS.name, folder / "results")
    for file in {*CATALOGUE.files(), REPORT}:
        if not (results / file).exists():
            (results / file).write_text(f"{file}, which is not committed", encoding="utf-8")
    return results


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ROCrate]:
    folder = tmp_path_factory.mktemp("exported")
    out = folder / "crate"
    return out, export(copied(folder), out)


def actions(read: ROCrate) -> dict[str, Entity]:
    """The actions that made the records, by their folders."""
    return {action.id.removeprefix("#"): action for action in read.get_by_type("CreateAction")}


def test_every_file_of_the_results_is_in_the_crate_as_it_was_and_described(exported: tuple[Path, ROCrate]) -> None:
    out, read = exported
    described = {entity.id: entity for entity in read.get_by_type("File")}
    results = out.with_name("results")
    assert set(described) == {"study.yaml", *CATALOGUE.files(), REPORT}
    for name, entity in described.items():
        assert (out / name).read_bytes() == (results / name).read_bytes()
        assert entity["sha256"] == sha256(results / name)
        assert entity["description"] and entity["encodingFormat"]


def test_records_in_the_file_of_a_study_are_files_in_the_crate(exported: tuple[Path, ROCrate], tmp_path: Path) -> None:
    export(RESULTS, tmp_path / "crate")
    for job in CATALOGUE.everything:
        for file in job.files:
            assert (tmp_path / "crate" / file).read_bytes() == (exported[0] / file).read_bytes()


def test_settings_of_libraries_are_values_of_the_action(tmp_path: Path) -> None:
    path = copied(tmp_path) / RUN / "run.json"
    hardware = json.loads(path.read_text(encoding="utf-8"))["hardware"]
    changed(path, hardware={**hardware, "libraries": {"MKL_CBWR": "COMPATIBLE"}})
    used = actions(export(tmp_path / "results", tmp_path / "crate"))[RUN]["resourceUsage"]
    assert ("libraries.MKL_CBWR", "COMPATIBLE") in {(value["name"], value["value"]) for value in used}


def test_the_action_that_made_a_record_says_commit_hardware_seeds_and_licence(exported: tuple[Path, ROCrate]) -> None:
    out, read = exported
    assert read.root_dataset["conformsTo"].id == crate.PROFILE
    # The library does not say which vocabularies it has read.
    assert crate.TERMS in json.loads((out / "ro-crate-metadata.json").read_text(encoding="utf-8"))["@context"]
    result = {folder: [file.id for file in action["result"]] for folder, action in actions(read).items()}
    assert result == {job.folder: job.files for job in CATALOGUE.everything}
    assert {action["object"][0].id for action in actions(read).values()} == {"study.yaml"}
    assert {action.id for action in read.root_dataset["mentions"]} == {f"#{folder}" for folder in result}
    record = json.loads((out / RUN / "run.json").read_text(encoding="utf-8"))
    action = actions(read)[RUN]
    software = action["instrument"]
    assert record["commit"] in software["softwareVersion"]
    packages = {package["name"]: package["softwareVersion"] for package in software["softwareRequirements"]}
    assert packages.items() <= record["versions"].items() and "torch" in packages
    assert action["description"] == f"Computed on {hardware_line(record['hardware'])}."
    used = {value["name"]: value["value"] for value in action["resourceUsage"]}
    assert used == {name: value for name, value in record["hardware"].items() if value}
    assert action["startTime"] == record["attempts"][0]["started"]
    _, text, *seeds = action["object"]
    assert text["license"] == record["corpus"]["licence"]
    assert {seed["name"]: seed["value"] for seed in seeds} == {"corpus_settings.seed": 1, "seed": 1}


def test_a_figure_names_the_records_that_it_is_made_from(exported: tuple[Path, ROCrate]) -> None:
    figure = CATALOGUE.figure("4")
    for file in figure.files:
        entity = exported[1].dereference(file)
        assert entity["name"].startswith("Figure 4: ")
        assert [record.id for record in entity["isBasedOn"]] == CATALOGUE.records(figure)


@pytest.mark.parametrize(
    ("licence", "address"),
    [("cc0-1.0", "https://spdx.org/licenses/CC0-1.0"), ("https://example.org/terms", "https://example.org/terms")],
)
def test_a_licence_is_an_identifier_of_spdx_or_an_address(licence: str, address: str, tmp_path: Path) -> None:
    assert export(RESULTS, tmp_path / "crate", licence).root_dataset["license"].id == address


def test_a_damaged_record_is_refused_and_no_crate_is_left(tmp_path: Path) -> None:
    results = copied(tmp_path)
    (results / RUN / "curve.csv").write_text("epoch\n1\n", encoding="utf-8")
    with refused(RecordError, "curve.csv: damaged"):
        export(results, tmp_path / "crate")
    assert not (tmp_path / "crate").exists()


def test_of_a_study_that_is_not_finished_it_holds_what_is_done(tmp_path: Path) -> None:
    results = copied(tmp_path)
    (results / RUN / "metrics.json").unlink()
    (results / REPORT).unlink()
    shutil.rmtree(results / "figures")
    read = export(results, tmp_path / "crate")
    assert set(actions(read)) == {job.folder for job in CATALOGUE.everything} - {RUN}
    assert not [entity.id for entity in read.get_by_type("File") if entity.id.startswith(("figures", RUN, REPORT))]


def test_without_a_record_there_is_nothing_to_export(tmp_path: Path) -> None:
    shutil.copy(RESULTS / "study.yaml", tmp_path)
    with refused(PrelnError, "no job of the study is finished"):
        export(tmp_path, tmp_path / "crate")


def test_a_folder_that_is_there_is_not_overwritten(exported: tuple[Path, ROCrate]) -> None:
    with pytest.raises(PrelnError, match="is there already; name a new folder"):
        export(RESULTS, exported[0])


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["--to", "ro-crate"], ["--to ro-crate", "must say", "--licence", "CC-BY-4.0"]),
        (["a-run", "--to", "ro-crate"], ["--to ro-crate", "exports a whole study", "leave out a-run"]),
        (["--prepared", "text", "--to", "ro-crate"], ["--prepared", "only for --to huggingface", "leave it out"]),
        (["--licence", "MIT", "--to", "csv"], ["--licence", "only for --to ro-crate", "leave it out with --to csv"]),
        (["--licence", "CC-BY", "--to", "ro-crate"], ["--licence CC-BY: ", "spdx.org", "CC-BY-4.0", "address"]),
        (["--licence", "MIT OR Apache-2.0", "--to", "ro-crate"], ["--licence MIT OR Apache-2.0: ", "spdx.org"]),
        (["--licence", "LicenseRef-mine", "--to", "ro-crate"], ["--licence LicenseRef-mine: ", "spdx.org"]),
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_a_wrong_option_is_refused_and_nothing_is_left(arguments: list[str], parts: list[str], tmp_path: Path) -> None:
    with refused(PrelnError, *parts):
        app(["export", str(RESULTS), *arguments, "--out", str(tmp_path / "out")], standalone_mode=False)
    assert not (tmp_path / "out").exists()
