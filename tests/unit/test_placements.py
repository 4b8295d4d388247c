"""The parts of a placement, and the places of its connections in a model."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import nn

import preln
from preln.errors import PrelnError
from preln.fairseq_plugin.transformer import PlacedTransformer
from preln.placements import PAPER, PLACEMENTS
from preln.placements.base import Place, Placement, Residual, Shape, Stack, places
from preln.theory.exact import ExactStack
from tests.models import build

pytestmark = pytest.mark.numbers


def test_the_papers_placements_come_first() -> None:
    assert tuple(PLACEMENTS)[: len(PAPER)] == PAPER


@pytest.mark.parametrize("placement", PLACEMENTS.values(), ids=lambda one: one.name)
def test_a_record_is_complete(placement: Placement) -> None:
    assert placement.residual.__doc__ and "x" in placement.residual.__doc__
    looks = [(other.colour, other.marker, other.hatch) for other in PLACEMENTS.values()]
    assert looks.count((placement.colour, placement.marker, placement.hatch)) == 1
    assert [other.label for other in PLACEMENTS.values()].count(placement.label) == 1


# --- the place of a connection


def places_of(of: nn.Module) -> list[Place]:
    return [module.place for module in of.modules() if isinstance(module, Residual)]


@pytest.mark.parametrize("stack", ["encoder", "decoder"])
def test_every_residual_connection_of_a_model_knows_its_place(stack: Stack) -> None:
    trained, exact = build(PlacedTransformer, "pre"), ExactStack(8, 4, "pre", stack, torch.Generator().manual_seed(1))
    assert places_of(trained) == list(places(3, 2))
    assert set(places_of(exact)) == {place for place in places(4, 4) if place.stack == stack}


def test_a_models_places_are_each_sublayer_of_each_layer() -> None:
    assert [(place.stack, place.layer, place.sublayer) for place in places(2, 1)] == [
        *(("encoder", layer, sublayer) for layer in (1, 2) for sublayer in ("self-attention", "feed-forward")),
        *(("decoder", 1, sublayer) for sublayer in ("self-attention", "cross-attention", "feed-forward")),
    ]
    assert {(place.encoder_layers, place.decoder_layers) for place in places(2, 1)} == {(2, 1)}


# --- what a module of the package must say


def imported_with(folder: Path, content: str) -> str:
    """What an import of the placements says where one more module has the content."""
    shutil.copytree(Path(preln.__file__).parent, folder / "preln")
    (folder / "preln" / "placements" / "another.py").write_text(content, encoding="utf-8")
    command = [sys.executable, "-c", "import preln.placements"]
    return subprocess.run(command, capture_output=True, text=True, env={"PYTHONPATH": str(folder)}).stderr


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "another.py: defines no PLACEMENT; see the other modules there"),
        ("from preln.placements.pre_ln import PLACEMENT", "PLACEMENT: another module has the name 'pre' already"),
        (
            "from dataclasses import replace\nfrom preln.placements.pre_ln import PLACEMENT\n"
            "PLACEMENT = replace(PLACEMENT, name='my_ln')",
            "PLACEMENT: 'my_ln' is no name; allowed: lower-case letters, digits and hyphens",
        ),
    ],
    ids=["nothing", "a copy", "a name that no study can have"],
)
def test_a_module_without_a_placement_of_its_own_is_refused(tmp_path: Path, content: str, message: str) -> None:
    assert message in imported_with(tmp_path, content)


def test_a_connection_that_does_not_say_which_sum_its_norm_is_given_is_refused() -> None:
    class Silent(Residual):
        """One that says nothing."""

    silent = replace(PLACEMENTS["pre"], residual=Silent)
    with pytest.raises(PrelnError, match="Silent: has no normalises_sum"):
        silent.connection(Shape(8, 16), Place("encoder", 1, "self-attention", 6, 6))
