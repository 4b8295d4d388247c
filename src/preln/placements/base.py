"""The parts of a placement: its residual connection, and a record of it.

Studies, figures and tables read the records, and torch takes seconds to import. So nothing here imports torch before a
model is built; nor does the file of a placement, but inside of a method.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Protocol

from preln.errors import PrelnError

if TYPE_CHECKING:
    from torch import Tensor as Tensor
    from torch import nn

    from preln.fused.norm import Norm
else:
    # Placements name it in their annotations.
    Tensor = Any

Stack = Literal["encoder", "decoder"]
Sublayer = Literal["self-attention", "cross-attention", "feed-forward"]
ENCODER: tuple[Sublayer, ...] = ("self-attention", "feed-forward")
DECODER: tuple[Sublayer, ...] = ("self-attention", "cross-attention", "feed-forward")
"""The sub-layers of a layer, in their order."""

NormName = Literal["layer", "rms"]
"""The norm: LayerNorm, or RMSNorm in its place."""

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

    @property
    def depth(self) -> int:
        """The layers of its stack."""
        return self.encoder_layers if self.stack == "encoder" else self.decoder_layers

    @property
    def sublayers(self) -> tuple[Sublayer, ...]:
        """Those of each layer of its stack."""
        return ENCODER if self.stack == "encoder" else DECODER


def places(encoder_layers: int, decoder_layers: int) -> Iterator[Place]:
    """The places of a model of such depths, the encoder's first."""
    for layer in range(1, encoder_layers + 1):
        for sublayer in ENCODER:
            yield Place("encoder", layer, sublayer, encoder_layers, decoder_layers)
    for layer in range(1, decoder_layers + 1):
        for sublayer in DECODER:
            yield Place("decoder", layer, sublayer, encoder_layers, decoder_layers)


@dataclass(frozen=True)
class Shape:
    """The shape that the residual connections of a stack share.

    Attributes:
        width: of the hidden states.
        inner: of what is between the two matrices of a feed-forward sub-layer.
        dropout: the probability with which training drops an element of F.
        norm: what normalises.
    """

    width: int
    inner: int
    dropout: float = 0.0
    norm: NormName = "layer"

    def new_norm(self, width: int | None = None) -> Norm:
        """A norm of the hidden states, or of vectors of another width."""
        from preln.fused.norm import NORMS

        return NORMS[self.norm](width or self.width)


class Function(Protocol):
    """A sub-layer F: attention or feed-forward."""

    def __call__(self, h: Tensor, *, inside: Callable[[Tensor], Tensor] = ...) -> Tensor:
        """F(h), of the shape of `h`. `inside` is applied to what F's last matrix takes: W^O of an attention takes the
        heads side by side, W^2 of a feed-forward sub-layer takes ReLU(h W^1)."""


def as_it_is(x: Tensor) -> Tensor:
    """The inside of F where the placement puts nothing there."""
    return x


class Residual:
    """A residual connection: it joins a sub-layer F (attention or feed-forward), with dropout, to its input x.

    A placement derives its class from this one and writes its equation as `forward`. It is a torch module once it is in
    a model (`Placement.connection`), so it may have parameters and modules of its own.

    What goes from one connection to the next is a stream x of shape (..., width). A placement may have several: its
    connections then return them stacked, (streams, ..., width). A stack begins with one stream, the embeddings, and the
    placement's `Output` makes one of them again.

    Attributes:
        norm: the norm of the connection.
        shape: what it shares with the other connections of its stack.
        place: where in the model it is.
    """

    normalises_sum: bool
    """True if `norm` is given the sum of x and F, which lemma 2 is about. If not, the sum is what `forward` returns.
    Each placement says it: otherwise, the theory would measure the wrong vectors."""

    norm: Norm
    training: bool

    def __init__(self, shape: Shape, place: Place) -> None:
        super().__init__()
        self.shape, self.place = shape, place
        self.build()

    def build(self) -> None:
        """Make what the connection has: `norm`, and whatever a placement adds or has in place of it."""
        self.norm = self.shape.new_norm()

    def forward(self, x: Tensor, sublayer: Function) -> Tensor:
        """`x`, of shape (..., width), after `sublayer`, in the same shape."""
        raise NotImplementedError

    @property
    def initial_scale(self) -> float:
        """The factor of the matrices of F that decide its size, before the training begins: W^1 and W^2 of a
        feed-forward sub-layer, W^V and W^O of an attention. The draws are those of the run's seed at every scale."""
        return 1.0

    def profile(self, x: Tensor, sublayer: Function, before: float) -> float:
        """Set what the connection takes from a first pass through the model, before the training begins.

        Args:
            x: what it is given in this pass.
            sublayer: F.
            before: what the connection before it returned; 1 for the first of a stack.

        Returns:
            What the connection behind it is given as `before`.
        """
        raise NotImplementedError

    @property
    def dropout(self) -> float:
        """The probability with which an element of F is dropped now."""
        return self.shape.dropout if self.training else 0.0

    def sum(self, x: Tensor, f: Tensor) -> Tensor:
        """x + dropout(f)."""
        from preln.fused.dropout import dropped_sum

        return dropped_sum(x, f, self.dropout)

    def dropped(self, f: Tensor) -> Tensor:
        """dropout(f)."""
        from preln.fused.dropout import dropped

        return dropped(f, self.dropout)

    def norm_of_sum(self, x: Tensor, f: Tensor) -> Tensor:
        """norm(x + dropout(f))."""
        from preln.fused.norm import norm_of_sum

        return norm_of_sum(x, f, self.dropout, self.norm)


class Output:
    """Makes one output of the several streams behind a stack's last layer; a torch module in a model."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.norm = shape.new_norm()

    def forward(self, streams: Tensor) -> Tensor:
        """`streams`, of shape (streams, ..., width), as one, (..., width)."""
        raise NotImplementedError


@dataclass(frozen=True)
class Predictions:
    """The predictions of the theory for a placement at initialisation; None where it says nothing.

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
        colour: of figures that compare placements, in hexadecimal. That of a file of one's own may be left out, as may
            its marker, hatch and line.
        marker: in these figures, as matplotlib has it.
        hatch: of its bars.
        line: its line, as matplotlib has it.
        final_norm: whether a norm follows the last layer.
        output: what follows it instead, of a placement with several streams.
        embedding_norm: whether a norm precedes the first layer.
        embedding_scale: what the embeddings are multiplied by before the training begins, by the depths of the encoder
            and of the decoder; None leaves them as they are drawn.
        predictions: what theory says of it.
    """

    name: str
    label: str
    source: str
    residual: type[Residual]
    colour: str = ""
    marker: str = ""
    hatch: str = ""
    line: Line = (0, (1, 1, 6, 1))
    final_norm: bool = False
    output: type[Output] | None = None
    embedding_norm: bool = False
    embedding_scale: Callable[[int, int], float] | None = None
    predictions: Predictions = field(default_factory=Predictions)

    def connection(self, shape: Shape, place: Place) -> nn.Module:
        """The residual connection of a place in a model.

        Raises:
            PrelnError: if it does not say which sum its norm is given.
        """
        module: nn.Module = self._connection(shape, place)
        if not hasattr(module, "normalises_sum"):
            file, (_, line) = inspect.getsourcefile(self.residual), inspect.getsourcelines(self.residual)
            raise PrelnError(
                f"{file}:{line}: {self.residual.__name__}: has no normalises_sum; True if its norm is given x + F, "
                "False if x + F is what it returns"
            )
        return module

    def stack_norm(self, shape: Shape) -> nn.Module | None:
        """The module that makes the output of a stack from what its last layer returns, if there is one."""
        if self.output is not None:
            output: nn.Module = _as_module(self.output)(shape)
            return output
        return shape.new_norm() if self.final_norm else None

    @cached_property
    def _connection(self) -> Any:
        """The class of its residual connections, as torch modules."""
        return _as_module(self.residual)

    @property
    def scaled(self) -> bool:
        """True if its connections scale matrices before the training begins."""
        return self.residual.initial_scale is not Residual.initial_scale

    @property
    def profiled(self) -> bool:
        """True if its connections take something from a first pass through the model."""
        return self.residual.profile is not Residual.profile


@contextmanager
def profiling(connections: Iterable[Any]) -> Iterator[None]:
    """Within it, each of a stack's residual connections, which are in their order, takes what it needs from the pass
    before it computes."""
    carried = 1.0

    def profile(connection: Any, given: tuple[Any, ...]) -> None:
        nonlocal carried
        carried = connection.profile(*given, carried)

    handles = [connection.register_forward_pre_hook(profile) for connection in connections]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def _as_module(part: type[Residual] | type[Output]) -> Any:
    """The class as one of torch modules."""
    from torch import nn

    return type(part.__name__, (part, nn.Module), {})
