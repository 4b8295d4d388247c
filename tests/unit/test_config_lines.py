"""A message on a study's key has the line on which the file says it, whatever way YAML lets it be said."""

import pytest

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
        ("usual: heads: a key that the message names later", 6),
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
