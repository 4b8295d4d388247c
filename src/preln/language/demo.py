"""The paper's finding in a minute on one core: Post-LN and Pre-LN, without and with a warm-up, on the embedded English.

The four models are trained side by side, a few updates each in turn, so that their curves grow together.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import torch
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from preln.config import LanguageSettings
from preln.corpora import data
from preln.language.text import BYTES, TokenText
from preln.language.trainer import Trainer
from preln.libraries import np
from preln.placements import PAPER, PLACEMENTS

UPDATES, WARMUP, TURN = 150, 75, 5
"""Updates of a model, those of the warm-up, and those of a turn, whose mean loss is a point of the curve."""
CHARACTERS = 400_000
"""Bytes of the embedded English; the last twentieth is valid."""
SHAPE = {"layers": 6, "width": 64, "ffn_width": 256, "heads": 4, "sequence_length": 64, "batch_sequences": 16}
MARGIN = 0.5
"""Bits by which Post-LN without a warm-up must end behind the others for the finding to be seen."""

COLUMNS, ROWS = 60, 14
"""The part of a terminal that the chart takes."""
# A character of 2 x 4 dots has a bit for each (Unicode, Braille Patterns).
_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))


@dataclass
class Model:
    """One of the four: its placement, its warm-up, its training, and its curve in bits a byte, with a point a turn."""

    placement: str
    warmup: int
    trainer: Trainer
    curve: list[float] = field(default_factory=list)
    valid: float | None = None

    @property
    def name(self) -> str:
        """For example `Post-LN, no warm-up`."""
        return f"{PLACEMENTS[self.placement].label}, {'warm-up' if self.warmup else 'no warm-up'}"

    @property
    def style(self) -> str:
        """Its colour, which is lighter without a warm-up."""
        return f"{'dim ' if self.warmup else 'bold '}{PLACEMENTS[self.placement].colour}"


@dataclass(frozen=True)
class Demonstration:
    """The four models and the unigram baseline of their text, in bits a byte."""

    models: tuple[Model, ...]
    baseline: float

    @classmethod
    def of(cls, seed: int) -> Demonstration:
        """The models before their first update."""
        torch.set_num_threads(1)
        text = embedded_text()
        settings = [
            LanguageSettings(
                **{"text": "embedded", "tokens": "bytes", "feed_forward": "relu", "beta2": 0.98, **SHAPE},
                **{"placement": placement, "warmup": warmup, "learning_rate": 3e-3, "seed": seed},
                **{"updates": UPDATES, "validate_every": UPDATES, "valid_tokens": 160 * 64},
            )
            for placement in PAPER
            for warmup in (0, WARMUP)
        ]
        models = [Model(run.placement, run.warmup, Trainer(run, text)) for run in settings]
        return cls(tuple(models), text.unigram_baseline(settings[0]))

    def turns(self) -> Iterator[None]:
        """Train the models, a turn of each at a time, and validate them at the end."""
        for _ in range(0, UPDATES, TURN):
            for model in self.models:
                model.curve.append(statistics.fmean(model.trainer.update()[0] for _ in range(TURN)))
                yield
        for model in self.models:
            model.valid = model.trainer.validate()
        yield

    def losses(self) -> dict[tuple[str, int], float]:
        """The validation losses at the end, by placement and warm-up."""
        return {(model.placement, model.warmup): model.valid for model in self.models if model.valid is not None}

    def sentences(self) -> list[str]:
        """Say what was seen, what it means, and what to type next."""
        losses = self.losses()
        post, warm = losses["post", 0], losses["post", WARMUP]
        seen = (
            f"Without a warm-up, Post-LN ended at {post:.2f} bits a byte, and a model that knows only how frequent "
            f"each byte is has {self.baseline:.2f}; with one it reached {warm:.2f}, and Pre-LN {losses['pre', 0]:.2f} "
            f"without and {losses['pre', WARMUP]:.2f} with."
        )
        others = max(loss for key, loss in losses.items() if key != ("post", 0))
        if post - others >= MARGIN:
            meaning = (
                "So in this model, at this learning rate, Post-LN learns only after a warm-up, and Pre-LN does not "
                "need one, as Xiong et al. (2020) found."
            )
        else:
            meaning = (
                f"Xiong et al. (2020) found that Post-LN learns only after a warm-up; here it ended "
                f"{post - others:+.2f} bits from the worst of the others, which does not show it."
            )
        following = (
            "Another seed, as with `preln demo --seed 2`, shows whether it was luck; a study of your own text and of "
            f"any of the {len(PLACEMENTS)} placements is a file of ten lines (docs/your-own-study.md, Language models)."
        )
        return [seen, meaning, following]


def embedded_text() -> TokenText:
    """The bytes of the first documents that come with the package."""
    text = "\n\n".join("\n".join(document) for document in data.documents()).encode()[:CHARACTERS]
    tokens = np.frombuffer(text, np.uint8).astype(np.uint16)
    train, valid = np.split(tokens, [len(tokens) * 19 // 20])
    return TokenText(train, valid, BYTES, np.bincount(train, minlength=BYTES))


def show(seed: int) -> None:
    """Train the four models, with curves that grow in a terminal, and say what was seen."""
    started = time.monotonic()
    console = Console()
    with console.status("Starting"):
        demonstration = Demonstration.of(seed)
    with Live(console=console, auto_refresh=False) as live:
        for _ in demonstration.turns():
            # Only a terminal gets more than the end.
            live.update(picture(demonstration), refresh=console.is_terminal)
    console.print()
    for sentence in demonstration.sentences():
        console.print(sentence, highlight=False)
    console.print(f"({time.monotonic() - started:.0f} seconds on one core, seed {seed}.)", style="dim", highlight=False)


def picture(demonstration: Demonstration) -> Group:
    """The chart with its legend."""
    legend = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for model in demonstration.models:
        losses = model.curve if model.valid is None else [model.valid]
        ending = f"{losses[-1]:.2f} bits a byte" if losses else ""
        legend.add_row(Text("━━ ", model.style) + Text(model.name), ending)
    legend.add_row(Text("╌╌ ", "dim") + Text("unigram baseline"), f"{demonstration.baseline:.2f}")
    return Group(chart(demonstration), legend)


def chart(demonstration: Demonstration) -> Text:
    """The curves as dots, with the loss downwards and the updates to the right."""
    top, bottom = demonstration.baseline + 1.0, demonstration.baseline - 1.5
    points = UPDATES // TURN
    dots: dict[tuple[int, int], tuple[int, str]] = {}

    def mark(x: float, loss: float, style: str) -> None:
        column = min(int(x * 2 * COLUMNS), 2 * COLUMNS - 1)
        row = min(max(int((top - loss) / (top - bottom) * 4 * ROWS), 0), 4 * ROWS - 1)
        cell = row // 4, column // 2
        dots[cell] = dots.get(cell, (0, ""))[0] | _DOTS[row % 4][column % 2], style

    for column in range(0, 2 * COLUMNS, 4):
        mark(column / (2 * COLUMNS), demonstration.baseline, "dim")
    for model in demonstration.models:
        for number, (before, after) in enumerate(zip(model.curve, model.curve[1:], strict=False)):
            for step in range(8):
                mark((number + step / 8) / (points - 1), before + (after - before) * step / 8, model.style)
    lines = [Text("loss, bits a byte", "dim")]
    for row in range(ROWS):
        line = Text(f"{top - (top - bottom) * row / ROWS:4.1f} │ " if row % 4 == 0 else "     │ ", "dim")
        for column in range(COLUMNS):
            bits, style = dots.get((row, column), (0, ""))
            line.append(chr(0x2800 + bits) if bits else " ", style)
        lines.append(line)
    lines.append(Text(f"     └{'─' * (COLUMNS - 12)} update {UPDATES}", "dim"))
    return Text("\n").join(lines)
