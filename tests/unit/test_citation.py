"""What archives and catalogues read of the project says the same everywhere."""

from __future__ import annotations

import json
import tomllib

import yaml

from preln import __version__
from preln.export.card import PAPER, PAPER_TITLE
from tests.conftest import ROOT

CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
ZENODO = json.loads((ROOT / ".zenodo.json").read_text(encoding="utf-8"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_zenodo_and_the_package_have_what_the_citation_has() -> None:
    for name in ("title", "version", "license", "keywords"):
        assert ZENODO[name] == CITATION[name], name
    assert ZENODO["description"] == CITATION["abstract"]
    assert [creator["name"] for creator in ZENODO["creators"]] == [author["name"] for author in CITATION["authors"]]
    assert ZENODO["upload_type"] == CITATION["type"]
    assert {CITATION["version"], PROJECT["version"]} == {__version__}
    assert PROJECT["license"] == CITATION["license"]


def test_all_name_the_paper_that_is_reproduced_by_one_address() -> None:
    (paper,) = CITATION["references"]
    (related,) = ZENODO["related_identifiers"]
    assert {paper["url"], related["identifier"], PROJECT["urls"]["Paper"]} == {PAPER}
    assert paper["title"] == PAPER_TITLE
