"""The placements against the formulas of the paper's Table 1, written out; and what a placement can be made of."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from fairseq.data import Dictionary
from fairseq.models.transformer import TransformerConfig
from torch import Tensor, nn

import preln
from preln.errors import PrelnError
from preln.fairseq_plugin.transformer import PlacedTransformer
from preln.placements import PAPER, PLACEMENTS
from preln.placements.base import Place, Placement, Residual, Shape, places
from preln.theory.exact import ExactStack

pytestmark = pytest.mark.numbers

WIDTH = 8
SHAPE = Shape(WIDTH, 2 * WIDTH)
FIRST = Place("encoder", 1, "self-attention", encoder_layers=6, decoder_layers=6)


def layer_norm(v: Tensor, scale: Tensor, shift: Tensor) -> Tensor:
    """LayerNorm as section 3.1 defines it, up to the epsilon that keeps it finite."""
    mean = v.mean(dim=-1, keepdim=True)
    variance = ((v - mean) ** 2).mean(dim=-1, keepdim=True)
    return scale * (v - mean) / (variance + 1e-5).sqrt() + shift


@pytest.fixture
def x() -> Tensor:
    return torch.randn(3, 2, WIDTH, generator=torch.Generator().manual_seed(1))


def connection(placement: str) -> Any:
    return PLACEMENTS[placement].connection(SHAPE, FIRST)


def randomised(residual: Any) -> Any:
    torch.nn.init.normal_(residual.norm.weight)
    torch.nn.init.normal_(residual.norm.bias)
    return residual


def test_post_ln_normalises_the_sum(x: Tensor) -> None:
    residual = randomised(connection("post"))
    expected = layer_norm(x + torch.tanh(x), residual.norm.weight, residual.norm.bias)
    torch.testing.assert_close(residual(x, torch.tanh), expected)


def test_pre_ln_normalises_the_sublayers_input_and_leaves_the_stream_alone(x: Tensor) -> None:
    residual = randomised(connection("pre"))
    expected = x + torch.tanh(layer_norm(x, residual.norm.weight, residual.norm.bias))
    torch.testing.assert_close(residual(x, torch.tanh), expected)


def test_pre_ln_is_the_identity_around_a_silent_sublayer_and_post_ln_is_not(x: Tensor) -> None:
    torch.testing.assert_close(connection("pre")(x, torch.zeros_like), x)
    assert not torch.allclose(connection("post")(x, torch.zeros_like), x)


def test_only_pre_ln_has_a_final_norm() -> None:
    assert isinstance(PLACEMENTS["pre"].stack_norm(SHAPE), torch.nn.LayerNorm)
    assert PLACEMENTS["post"].stack_norm(SHAPE) is None


def test_the_papers_placements_come_first() -> None:
    assert tuple(PLACEMENTS)[: len(PAPER)] == PAPER


@pytest.mark.parametrize("placement", PLACEMENTS.values(), ids=lambda one: one.name)
def test_a_record_is_complete(placement: Placement) -> None:
    assert placement.residual.__doc__ and "x" in placement.residual.__doc__
    looks = [(other.colour, other.marker, other.hatch) for other in PLACEMENTS.values()]
    assert looks.count((placement.colour, placement.marker, placement.hatch)) == 1
    assert [other.label for other in PLACEMENTS.values()].count(placement.label) == 1


def test_the_records_are_read_without_torch() -> None:
    # An import of it then fails, and the error names the line.
    script = "import sys; sys.modules['torch'] = None; import preln.config, preln.theory.measurement_jobs"
    subprocess.run([sys.executable, "-c", script], check=True)


# --- a placement that uses its place, which is in the tests alone


class Mixed(Residual):
    """Post-LN in the first quarter of the layers, Pre-LN in the others; and x is scaled in the decoder."""

    def build(self) -> None:
        super().build()
        self.normalises_sum = self.place.layer <= self.place.depth // 4
        self.scale = nn.Parameter(torch.tensor(1.0 if self.place.stack == "encoder" else 2.0))

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        x = self.scale * x
        return self.norm_of_sum(x, sublayer(x)) if self.normalises_sum else self.sum(x, sublayer(self.norm(x)))


MIXED = Placement(
    name="mixed",
    label="Mixed",
    source="tests",
    residual=Mixed,
    final_norm=True,
    colour="#000000",
    marker="x",
    hatch="",
    line=":",
)


@pytest.fixture
def mixed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PLACEMENTS, "mixed", MIXED)


class Task:
    """What a model needs of a task."""

    source_dictionary = target_dictionary = Dictionary()


def model(encoder_layers: int, decoder_layers: int) -> PlacedTransformer:
    cfg = TransformerConfig()
    cfg.placement, cfg.norm, cfg.qk_norm = "mixed", "layer", False
    cfg.encoder.layers, cfg.decoder.layers = encoder_layers, decoder_layers
    for half in (cfg.encoder, cfg.decoder):
        half.embed_dim, half.ffn_embed_dim, half.attention_heads = WIDTH, WIDTH, 2
    cfg.decoder.output_dim = cfg.decoder.input_dim = WIDTH
    cfg.share_all_embeddings = True
    built: PlacedTransformer = super(PlacedTransformer, PlacedTransformer).build_model(cfg, Task())
    return built


def places_of(of: nn.Module) -> Iterator[Place]:
    modules: Iterator[Any] = of.modules()
    return (module.place for module in modules if isinstance(module, Residual))


@pytest.mark.usefixtures("mixed")
def test_every_residual_connection_of_a_model_knows_its_place() -> None:
    assert list(places_of(model(4, 8))) == list(places(4, 8))


def test_a_models_places_are_each_sublayer_of_each_layer() -> None:
    assert [(place.stack, place.layer, place.sublayer) for place in places(2, 1)] == [
        *(("encoder", layer, sublayer) for layer in (1, 2) for sublayer in ("self-attention", "feed-forward")),
        *(("decoder", 1, sublayer) for sublayer in ("self-attention", "cross-attention", "feed-forward")),
    ]
    assert {(place.encoder_layers, place.decoder_layers) for place in places(2, 1)} == {(2, 1)}


@pytest.mark.usefixtures("mixed")
def test_a_placement_may_differ_between_layers_and_have_parameters_of_its_own() -> None:
    decoder = model(4, 8).decoder
    assert [layer.feed_forward_residual.normalises_sum for layer in decoder.layers] == [True] * 2 + [False] * 6
    assert {float(layer.attention_residual.scale.detach()) for layer in decoder.layers} == {2.0}
    assert isinstance(decoder.layer_norm, nn.LayerNorm)


@pytest.mark.usefixtures("mixed")
def test_the_model_of_the_proofs_tells_the_same_places() -> None:
    stack = ExactStack(WIDTH, 4, "mixed", "decoder", torch.Generator().manual_seed(1))
    assert {(place.stack, place.encoder_layers, place.decoder_layers) for place in places_of(stack)} == {
        ("decoder", 4, 4)
    }
    assert [place.layer for place in places_of(stack) if place.sublayer == "feed-forward"] == [1, 2, 3, 4]


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
        silent.connection(SHAPE, FIRST)
