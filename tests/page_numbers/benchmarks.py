"""What benchmarks/README.md says in numbers."""

from __future__ import annotations

from tests.page_numbers.records import Numbers, timed

SAID: list[tuple[str, Numbers]] = [
    (
        "preln, fp32 | {:.2f} ({:.2f} to {:.2f}) | {:.2f} ({:.2f} to {:.2f}) | {:.2f} ({:.2f} to {:.2f}) | "
        "{:.2f} ({:.2f} to {:.2f}) | {:.2f} ({:.2f} to {:.2f}) |",
        lambda: timed(
            *("train-A-fp32", "train-A-fp32-2-threads", "train-B-fp32", "train-B-fp32-2-threads", "train-bert-fp32")
        ),
    ),
    (
        "preln, bf16 | {:.2f} ({:.2f} to {:.2f}) | {:.2f} ({:.2f} to {:.2f}) | {:.2f} ({:.2f} to {:.2f}) | "
        "{:.2f} ({:.2f} to {:.2f}) | {:.2f} ({:.2f} to {:.2f}) |",
        lambda: timed(
            *("train-A-bf16", "train-A-bf16-2-threads", "train-B-bf16", "train-B-bf16-2-threads", "train-bert-bf16")
        ),
    ),
    (
        "stock fairseq, bf16 | {:.2f} ({:.2f} to {:.2f}) | | | | {:.2f} ({:.2f} to {:.2f}) |",
        lambda: timed("train-A-bf16-stock", "train-bert-bf16-stock"),
    ),
    (
        "Hugging Face Marian; BERT, fp32 | {:.2f} ({:.2f} to {:.2f}) | | | | {:.2f} ({:.2f} to {:.2f}) |",
        lambda: timed("train-A-fp32-transformers-marian", "train-bert-fp32-transformers-bert"),
    ),
    (
        "torch.nn.Transformer, fp32 | {:.2f} ({:.2f} to {:.2f})",
        lambda: timed("train-A-fp32-torch.nn.Transformer"),
    ),
    ("JoeyNMT, fp32 | {:.2f} ({:.2f} to {:.2f})", lambda: timed("train-A-fp32-joeynmt")),
    ("translations identical | {:.2f} ({:.2f} to {:.2f}) times as fast", lambda: timed("decode-A")),
    ("our two processes | {:.2f} ({:.2f} to {:.2f}) times", lambda: timed("prepare")),
    ("our one process | {:.2f} ({:.2f} to {:.2f}) times", lambda: timed("prepare-binarise")),
    ("one with two threads | {:.2f} ({:.2f} to {:.2f}) times", lambda: timed("two-processes-A")),
    (
        "exponent is {:.2f} ({:.2f} to {:.2f}) for the depth, {:.2f} ({:.2f} to {:.2f}) for the width, and {:.2f} "
        "({:.2f} to {:.2f}) for the length",
        lambda: timed("growth-depth", "growth-width", "growth-length"),
    ),
    ("with an exponent of {:.2f}.", lambda: timed("growth-runs")[:1]),
]
"""Its sentences, with what the records have in the place of the numbers."""

# An earlier run of the search; what scripts print that record nothing: accumulation, theory, streaming; goals.
ELSEWHERE = (
    "2.51 2.39 2.58 1.09 1.04 1.17 1.30 1.21 1.34 1.07 1.11 1.08 1.23 1.05 1.03 18.6 17.1 20.1 "
    "3.2 3.0 3.3 5.8 1.9 6.0 3.6 13.7 53.9 2.5 1.4"
)
"""Its other numbers, which no record has."""
