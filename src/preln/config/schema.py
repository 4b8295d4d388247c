"""config/schema.json, from the data model: with it an editor completes and checks the keys of a study file.

This file is generated: `python -m preln.config.schema > config/schema.json`. A YAML file names it in its first line:
`# yaml-language-server: $schema=schema.json`.
"""

from __future__ import annotations

import json
from typing import Any, get_args

from preln.config.first_updates import FirstUpdates, LanguageFirstUpdates
from preln.config.grid import Grid
from preln.config.language import Language
from preln.config.pretraining import Pretraining
from preln.config.study import Study
from preln.config.translation import Translation

GRIDS: tuple[type[Grid[Any]], ...] = (Translation, FirstUpdates, LanguageFirstUpdates, Pretraining, Language)


def schema() -> dict[str, Any]:
    """The schema of a study file. The settings of a grid and its entries, which the data model takes as they come and
    checks together, are written out: an entry takes a value or a list of values of each."""
    study = Study.model_json_schema()
    definitions = study["$defs"]
    for grid in GRIDS:
        (entry, _) = get_args(grid.model_fields["runs"].annotation)
        of_run = grid.run.model_json_schema()
        definitions |= of_run.get("$defs", {})
        # A key that is left out of an entry has the study's value, not the model's.
        settings = {
            key: {name: text for name, text in value.items() if name != "default"}
            for key, value in of_run["properties"].items()
        }
        lists = {key: {"anyOf": [value, {"type": "array", "items": value}]} for key, value in settings.items()}
        properties, closed = definitions[grid.__name__]["properties"], {"additionalProperties": False}
        properties["settings"] |= {"properties": settings, **closed}
        of_entry = definitions[entry.__name__]
        properties["runs"]["items"] = {**of_entry, "properties": of_entry["properties"] | lists, **closed}
    return study


if __name__ == "__main__":
    print(json.dumps(schema(), indent=2, ensure_ascii=False))
