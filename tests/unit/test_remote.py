"""From which environments jobs can be submitted."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preln.errors import PrelnError
from preln.jobs.workflow import require_plain_path

# What a path may have; no shell is given one that may do harm.
CHARACTERS = st.characters(codec="utf-8", exclude_categories=["C"], exclude_characters="/;&|<>`$(){}!*?[]~#")


@pytest.mark.parametrize("character", " \t'\"\\$`&;|<>()*?[]#~!{}\n")
def test_a_path_that_a_shell_takes_apart_is_refused_by_its_name(character: str) -> None:
    path = f"/home/me/a{character}b/.venv/bin/python"
    with pytest.raises(PrelnError, match="a shell takes this one apart; allowed: letters, digits") as refused:
        require_plain_path(path)
    assert str(refused.value).startswith(path)


@pytest.mark.parametrize("folder", ["preln", "läuft", "project-1.2_x", "a@b+c=d:e,f%g"])
def test_a_path_that_a_shell_leaves_as_it_is_is_taken(folder: str) -> None:
    require_plain_path(f"/home/me/{folder}/.venv/bin/python")


@given(st.lists(st.text(CHARACTERS, min_size=1), min_size=1).map("/".join))
def test_what_is_taken_is_one_word_to_a_shell(folder: str) -> None:
    path = f"/{folder}/python"
    try:
        require_plain_path(path)
    except PrelnError:
        return
    printed = subprocess.run(["sh", "-c", f"printf '[%s]' {path}"], capture_output=True, text=True, check=True)
    assert printed.stdout == f"[{path}]"
