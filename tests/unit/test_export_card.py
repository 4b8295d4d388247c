"""The code of a model card prepares running text as the study did, without this package."""

import unicodedata
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preln.corpora.tokenisation import LinePreparation, detokenise
from preln.export.card import translation_code

LINES = st.text(st.sampled_from("aBéÉe\u0301İI.,!?'’\"«»&;:-()/%$ 1漢字\u0e19\u0e49ж"), max_size=30)
"""Letters with accents in both forms, of several scripts, and what Moses cuts at or escapes."""


def functions(source: LinePreparation, target: LinePreparation) -> tuple[Callable[[str], str], Callable[[str], str]]:
    """`prepared` and `running` of a card."""
    code = translation_code(source, target)
    # The rest needs the model.
    statements = [*code["imports"].splitlines(), code["code"].split("\n\n\nlines = ")[0]]
    namespace: dict[str, Any] = {}
    exec("\n".join(statements), namespace)
    return namespace["prepared"], namespace["running"]


@pytest.mark.parametrize("language", ["fr", "en", "de", "zh", "th", "tr"])
@pytest.mark.parametrize("options", [{}, {"tokenise": False}, {"lowercase": False}, {"whole_words": True}], ids=str)
def test_a_line_is_composed_and_prepared_as_by_the_study(language: str, options: dict[str, bool]) -> None:
    preparation = LinePreparation(language, **options)
    prepared, _ = functions(preparation, preparation)

    @given(LINES)
    def check(line: str) -> None:
        assert prepared(line) == preparation(unicodedata.normalize("NFC", line))

    check()


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_translation_becomes_the_running_text_that_is_scored(language: str) -> None:
    _, running = functions(LinePreparation("fr"), LinePreparation(language))

    @given(LINES.map(LinePreparation(language)))
    def check(line: str) -> None:
        assert running(line) == detokenise(line, language)

    check()
