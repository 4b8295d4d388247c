"""The JSON schema of study files: in step with the data model, true of the files that come along, and strict."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from ruamel.yaml import YAML

from preln.config.schema import schema

CONFIG = Path("config")


def read(path: Path) -> dict[str, Any]:
    """A study by YAML 1.2, as an editor reads it: 2e-3 is a number, which PyYAML takes for text."""
    content: dict[str, Any] = YAML(typ="safe").load(path)
    return content


# `jsonschema.validate` would check the schema itself each time.
VALIDATOR = jsonschema.Draft202012Validator(schema())


def test_the_file_is_that_of_the_data_model() -> None:
    same = json.loads((CONFIG / "schema.json").read_text(encoding="utf-8")) == schema()
    assert same, "config/schema.json is old: python -m preln.config.schema > config/schema.json"


@pytest.mark.parametrize("path", sorted(CONFIG.glob("*.yaml")), ids=lambda path: path.name)
def test_the_studies_that_come_along_are_valid_and_name_it(path: Path) -> None:
    VALIDATOR.validate(read(path))
    assert path.read_text(encoding="utf-8").startswith("# yaml-language-server: $schema=schema.json\n")


@pytest.mark.parametrize(
    ("section", "change"),
    [
        ("translation", {"learningrate": 1e-3}),
        ("translation", {"placement": "No name"}),
        ("translation", {"warmup": [100, "long"]}),
        ("pretraining", {"batch_tokens": 100}),
    ],
)
def test_a_run_with_a_wrong_key_or_value_is_invalid(section: str, change: dict[str, Any]) -> None:
    content = read(CONFIG / "config.yaml")
    content[section]["runs"][0] |= change
    with pytest.raises(jsonschema.ValidationError):
        VALIDATOR.validate(content)
