"""Each placement's formula, written out for a whole stack, without anything of the package."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any

import torch
from torch import Tensor


def norm(v: Tensor, of: Any) -> Tensor:
    """LayerNorm as section 3.1 of the paper defines it, up to the epsilon that keeps it finite; RMSNorm if it has no
    bias."""
    if not hasattr(of, "bias"):
        return of.weight * v / ((v**2).mean(dim=-1, keepdim=True) + 1e-5).sqrt()
    mean = v.mean(dim=-1, keepdim=True)
    variance = ((v - mean) ** 2).mean(dim=-1, keepdim=True)
    scaled: Tensor = of.weight * (v - mean) / (variance + 1e-5).sqrt() + of.bias
    return scaled


@dataclass(frozen=True)
class Toy:
    """A sub-layer tanh(h A) B."""

    a: Tensor
    b: Tensor

    def __call__(self, h: Tensor, inside: Callable[[Tensor], Tensor] = lambda v: v) -> Tensor:
        return inside(torch.tanh(h @ self.a)) @ self.b


Layers = list[list[tuple[Any, Toy]]]
"""The connections of each layer, of which a formula reads the parameters and the place alone, and their sub-layers."""


def each(layers: Layers) -> Iterator[tuple[Any, Toy]]:
    return chain.from_iterable(layers)


def post(x: Tensor, layers: Layers, end: Any) -> Tensor:
    for c, f in each(layers):
        x = norm(x + f(x), c.norm)
    return x


def pre(x: Tensor, layers: Layers, end: Any) -> Tensor:
    for c, f in each(layers):
        x = x + f(norm(x, c.norm))
    return norm(x, end)


def sandwich(x: Tensor, layers: Layers, end: Any) -> Tensor:
    for c, f in each(layers):
        x = x + norm(f(norm(x, c.norm)), c.after)
    return norm(x, end)


def res_post(x: Tensor, layers: Layers, end: Any) -> Tensor:
    for c, f in each(layers):
        x = x + norm(f(x), c.norm)
    return norm(x, end)


def rezero(x: Tensor, layers: Layers, end: Any) -> Tensor:
    for c, f in each(layers):
        x = x + c.alpha * f(x)
    return x


def t_fixup(x: Tensor, layers: Layers, end: Any) -> Tensor:
    for _, f in each(layers):
        x = x + f(x)
    return x


def deepnorm(x: Tensor, layers: Layers, end: Any) -> Tensor:
    for c, f in each(layers):
        n, m = c.place.encoder_layers, c.place.decoder_layers
        if m == 0:
            alpha = (2 * n) ** 0.25
        elif c.place.stack == "encoder":
            alpha = 0.81 * (n * n * n * n * m) ** 0.0625
        else:
            alpha = (3 * m) ** 0.25
        x = norm(alpha * x + f(x), c.norm)
    return x


def admin(x: Tensor, layers: Layers, end: Any) -> Tensor:
    for c, f in each(layers):
        x = norm(c.omega * x + f(x), c.norm)
    return x


def sub_ln(x: Tensor, layers: Layers, end: Any) -> Tensor:
    for c, f in each(layers):
        x = x + f(norm(x, c.norm), inside=partial(norm, of=c.inner))
    return norm(x, end)


def b2t(x: Tensor, layers: Layers, end: Any) -> Tensor:
    for *earlier, (last, f) in layers:
        h = post(x, [earlier], None)
        x = norm(x + h + f(h), last.norm)
    return x


def resi_dual(x: Tensor, layers: Layers, end: Any) -> Tensor:
    r = x
    for c, f in each(layers):
        r = r + f(x)
        x = norm(x + f(x), c.norm)
    return x + norm(r, end.norm)


def mix_ln(x: Tensor, layers: Layers, end: Any) -> Tensor:
    first = math.floor(len(layers) / 4)
    return pre(post(x, layers[:first], None), layers[first:], end)


def lns(x: Tensor, layers: Layers, end: Any) -> Tensor:
    for number, layer in enumerate(layers, start=1):
        for c, f in layer:
            x = x + f(norm(x, c.norm) / math.sqrt(number))
    return norm(x, end)


def keel(x: Tensor, layers: Layers, end: Any) -> Tensor:
    count = sum(map(len, layers))
    for c, f in each(layers):
        x = norm(count * x + f(norm(x, c.before)), c.norm)
    return x


FORMULAS: dict[str, Callable[[Tensor, Layers, Any], Tensor]] = {
    "post": post,
    "pre": pre,
    "post-init": post,
    "sandwich": sandwich,
    "peri": sandwich,
    "res-post": res_post,
    "rezero": rezero,
    "t-fixup": t_fixup,
    "deepnorm": deepnorm,
    "admin": admin,
    "sub-ln": sub_ln,
    "b2t": b2t,
    "resi-dual": resi_dual,
    "mix-ln": mix_ln,
    "lns": lns,
    "keel": keel,
}
"""By the name of the placement; each takes the embeddings, the layers, and what the placement has behind the last."""
