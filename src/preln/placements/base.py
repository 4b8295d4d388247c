"""What a placement is made of: its residual connection, and a record of it.

Studies, figures and tables read the records, and torch takes seconds to import. So nothing here imports torch before a
model is built; nor does the file of a placement, but inside of a method.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from preln.errors import PrelnError

if TYPE_CHECKING:
    from torch import Tensor, nn

    from preln.fused.norm import LayerNorm

Stack = Literal["encoder", "decoder"]
Sublayer = Literal["self-attention", "cross-attention", "feed-forward"]
ENCODER: tuple[Sublayer, ...] = ("self-attention", "feed-forward")
DECODER: tuple[Sublayer, ...] = ("self-attention", "cross-attention", "feed-forward")
"""The sub-layers of a layer, in their order."""

Line = str | tuple[float, tuple[float, ...]]
"""A line as matplotlib has it."""


@dataclass(frozen=True)
class Place:
    """Where in a model a residual connection is.

    Attributes:
        stack: encoder or decoder; BERT is an encoder.
        layer: counted from 1 at the input.
        sublayer: what it joins to its input.
        encoder_layers, decoder_layers: the depths of both stacks; 0 where a model has no such stack.
    """

    stack: Stack
    layer: int
    sublayer: Sublayer
    encoder_layers: int
    decoder_layers: int


def places(encoder_layers: int, decoder_layers: int) -> Iterator[Place]:
    """The places of a model of such depths, the encoder's first."""
    for layer in range(1, encoder_layers + 1):
        for sublayer in ENCODER:
            yield Place("encoder", layer, sublayer, encoder_layers, decoder_layers)
    for layer in range(1, decoder_layers + 1):
        for sublayer in DECODER:
            yield Place("decoder", layer, sublayer, encoder_layers, decoder_layers)


class Residual:
    """A residual connection: it joins a sub-layer F (attention or feed-forward), with dropout, to its input x.

    A placement derives its class from this one and writes its equation as `forward`. It is a torch module once it is in
    a model (`Placement.connection`), so it may have parameters and modules of its own.

    Attributes:
        norm: the LayerNorm that each connection has.
        place: where in the model it is.
    """

    normalises_sum: bool
    """Whether `norm` is given the sum of x and F, which lemma 2 is about. If not, the sum is what `forward` returns.
    Each placement says it: otherwise, the theory would measure the wrong vectors."""

    norm: LayerNorm
    training: bool

    def __init__(self, width: int, dropout: float, place: Place) -> None:
        """A connection of vectors of `width`; in training it drops elements of F with the probability `dropout`."""
        from preln.fused.norm import LayerNorm

        super().__init__()
        self.norm = LayerNorm(width)
        self.place = place
        self._dropout = dropout

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        """`x`, of shape (..., width), after `sublayer`, in the same shape."""
        raise NotImplementedError

    @property
    def initial_scale(self) -> float:
        """What the matrices of F that decide its size are multiplied by before the training begins: W^1 and W^2 of a
        feed-forward sub-layer, W^V and W^O of an attention. The draws are those of the run's seed at every scale."""
        return 1.0

    @property
    def dropout(self) -> float:
        """The probability with which an element of F is dropped now."""
        return self._dropout if self.training else 0.0

    def sum(self, x: Tensor, f: Tensor) -> Tensor:
        """x + dropout(f)."""
        from preln.fused.dropout import dropped_sum

        return dropped_sum(x, f, self.dropout)

    def norm_of_sum(self, x: Tensor, f: Tensor) -> Tensor:
        """LayerNorm(x + dropout(f))."""
        from preln.fused.norm import norm_of_sum

        return norm_of_sum(x, f, self.dropout, self.norm)


@dataclass(frozen=True)
class Predictions:
    """What theory says of a placement at initialisation; None where it says nothing.

    Attributes:
        relu_square_norm: E||ReLU(x W^1)||^2 / d, in every layer (lemma 1).
        square_norm: E||x||^2 / d of the sum behind a layer, as a range (lemma 2). Its arguments are the layer, counted
            from 1, and the stack.
        depth_exponent: the exponent of the depth L in the bound on the last layer's gradient (theorem 1).
        growth: the factor by which the gradient grows a layer, towards the output (appendix F). Its argument is
            E||x||^2 / d of the sums.
    """

    relu_square_norm: float | None = None
    square_norm: Callable[[int, Stack], tuple[float, float]] | None = None
    depth_exponent: Fraction | None = None
    growth: Callable[[float], float] | None = None


@dataclass(frozen=True)
class Placement:
    """A place for LayerNorm, and all that the project knows of it.

    Attributes:
        name: in a study, and in the ids of its runs.
        label: in figures and tables.
        source: where it is from.
        residual: its residual connection.
        colour: of figures that compare placements, in hexadecimal.
        marker: in these figures, as matplotlib has it.
        hatch: of its bars.
        lines: its lines, by the anchor of an inverse square root; other anchors and schedules have that of `warmup`.
        final_norm: whether a LayerNorm follows the last layer.
        predictions: what theory says of it.
    """

    name: str
    label: str
    source: str
    residual: type[Residual]
    colour: str
    marker: str
    hatch: str
    lines: Mapping[str, Line]
    final_norm: bool = False
    predictions: Predictions = field(default_factory=Predictions)

    def connection(self, width: int, dropout: float, place: Place) -> nn.Module:
        """The residual connection of a place in a model.

        Raises:
            PrelnError: if it does not say which sum its norm is given.
        """
        module: nn.Module = self._module(width, dropout, place)
        if not hasattr(module, "normalises_sum"):
            raise PrelnError(
                f"{self.residual.__name__}: has no normalises_sum; True if its norm is given x + F, False if x + F is "
                "what it returns"
            )
        return module

    def stack_norm(self, width: int) -> nn.Module | None:
        """What normalises the output of a stack's last layer, if anything does."""
        from preln.fused.norm import LayerNorm

        return LayerNorm(width) if self.final_norm else None

    @cached_property
    def _module(self) -> Any:
        """The class of its residual connections, as torch modules."""
        from torch import nn

        return type(self.residual.__name__, (self.residual, nn.Module), {})
