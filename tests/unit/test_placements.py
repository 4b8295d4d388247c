"""The parts of a placement, and the places of its connections in a model."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest
import torch
from torch import nn

from preln.discovery import defined
from preln.errors import PrelnError
from preln.fairseq_plugin.transformer import PlacedTransformer
from preln.placements import PAPER, PLACEMENTS
from preln.placements.base import Place, Placement, Residual, Stack, places
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


@pytest.mark.parametrize(
    ("second", "message"),
    [
        ("", r"two\.py: defines no PART; see the other modules there"),
        ("class PART:\n    name = 'one'\n", r"two\.py: PART: another module has the name 'one' already"),
    ],
    ids=["nothing", "another's name"],
)
def test_a_module_of_the_package_has_an_object_with_a_name_of_its_own(
    second: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / f"parts_{len(second)}"
    package.mkdir()
    for name, content in (("__init__", ""), ("one", "class PART:\n    name = 'one'\n"), ("two", second)):
        (package / f"{name}.py").write_text(content, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(PrelnError, match=message):
        defined(importlib.import_module(package.name), "PART")
