"""A message on a study's key has the line on which the file says it, whatever way YAML lets it be said."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from preln.config import StudyError, load
from preln.config.lines import document, line_of

TEXT = """\
# The first key is on the third line.

study: tiny
usual: &usual
  width: 16
  heads: 2
translation:
  settings: {<<: *usual, warmup: 5}
  runs:
    - &one
      seed: 1
      beam:
        - 1
        - 2
    - *one
    - <<: [*one, *usual]
      heads: 4
    -
      "dropout": 0.1
"""


@pytest.mark.parametrize(
    ("told", "line"),
    [
        ("study: missing", 3),
        ("colour: a key that the file does not have", 3),
        ("the study as a whole", 3),
        ("usual: heads: a key that the message names later", 6),
        ("translation: needs: something", 7),
        ("translation.settings.warmup: of a section in one line", 8),
        ("translation.settings.width: taken over", 5),
        ("translation.runs.0: a run", 10),
        ("translation.runs.0.beam: a list", 12),
        ("translation.runs.0.beam.1: its second item", 14),
        ("translation.runs.0.learning_rate: missing", 10),
        ("translation.runs.0.warmup: of the settings", 8),
        ("translation.runs.1: what the alias names", 10),
        ("translation.runs.1.seed: what the alias names", 11),
        ("translation.runs.2.heads: its own, before the one taken over", 17),
        ("translation.runs.2.width: taken over with the second", 5),
        ("translation.runs.2.seed: taken over with the first", 11),
        ("translation.runs.3.dropout: a key in quotes", 19),
        ("translation.runs.9: none such", 9),
    ],
)
def test_the_line_is_that_of_the_key_or_of_the_section_that_should_have_it(told: str, line: int) -> None:
    assert line_of(document(TEXT), told) == line


def test_a_study_that_is_only_read_is_told_with_lines_too(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("study: tiny\nexecution:\n  gpus: -1\ntheory: {}\n", encoding="utf-8")
    with pytest.raises(StudyError) as caught:
        load(path)
    assert str(caught.value).startswith(f"{path}:3: execution.gpus: -1: ")


@st.composite
def nested(draw: st.DrawFn) -> dict[str, Any]:
    """Sections and lists within each other, of which each key and each value stands once."""
    names = map("k{}".format, itertools.count())
    leaf = st.just(None)
    shape = draw(st.recursive(leaf, lambda inner: st.lists(inner, min_size=1, max_size=4), max_leaves=30))

    def filled(shape: Any, as_list: bool) -> Any:
        if shape is None:
            return next(names)
        inside = [filled(one, draw(st.booleans())) for one in shape]
        return inside if as_list else {next(names): one for one in inside}

    return {"all": filled(shape, False)}


def leaves(value: Any, *keys: str) -> Iterator[tuple[str, str]]:
    """The values that have none inside of them, by their dotted keys."""
    if isinstance(value, str):
        yield ".".join(keys), value
    else:
        for key, one in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(one, *keys, str(key))


@pytest.mark.slow
@given(nested(), st.booleans())
def test_every_value_of_a_file_is_on_its_line(content: dict[str, Any], in_flow: bool) -> None:
    text = yaml.safe_dump(content, default_flow_style=None if in_flow else False, width=10**6)
    lines, content_of_file = text.split("\n"), document(text)
    for key, value in leaves(content):
        assert value in re.findall(r"k\d+", lines[line_of(content_of_file, f"{key}: wrong") - 1])
