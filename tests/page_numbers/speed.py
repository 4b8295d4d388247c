"""What docs/speed.md says in numbers."""

from __future__ import annotations

from benchmarks import record
from preln.records import recording
from tests.page_numbers.records import LONG_PRE, RESULTS, SIZE, Numbers, asked, curve, minmax, timed


def shares_of_bleu() -> list[float]:
    """The part of training and translating that is translating, in percent: Adam in `confounds` with four batches and
    fairseq's draw."""
    ended = [
        recording.read_metrics(folder)
        for folder in (RESULTS / "confounds" / "translation").glob("post-adam-*[0-9]-epochs4-accumulate4-s*")
    ]
    assert len(ended) == 7
    translating = [sum(one["bleu"]["seconds"]) for one in ended]
    return minmax(100 * seconds / (seconds + one["seconds"]) for seconds, one in zip(translating, ended, strict=True))


def updates_a_second(study: str) -> list[float]:
    """Of the runs of a study that were trained on a GPU, in their training alone: the slowest and the fastest."""
    folders = [folder.parent for folder in (RESULTS / study / "translation").glob("*/metrics.json")]
    on_gpus = [folder for folder in folders if recording.read(folder / recording.RUN)["hardware"]["gpus"]]
    ended = [recording.read_metrics(folder) for folder in on_gpus]
    return minmax(one["updates"] / one["seconds"] for one in ended)


XEON = "Intel(R) Xeon(R) Processor, family 6, model 207, AVX512"
"""That of the times of products in bf16: a Xeon without AMX."""


def of_shapes(tokens: int) -> list[float]:
    """fairseq's batches and their shapes; what padding to 16 and to 64 costs, in percent; the same of batches made anew
    for 16, and how many these are."""
    own, few, many, made = (
        record.find(f"shapes-{tokens}{which}") for which in ("", "-padded-16", "-padded-64", "-made-16")
    )
    costs = [100 * cost["value"] for cost in (few, many, made)]
    return [own["batches"], own["value"], *costs, made["batches"]]


SAID: list[tuple[str, Numbers]] = [
    (
        "at the paper's size is at {:.2f} on the GPU and 6.49 on the CPU. At width 256, B2T is at 5.87 and {:.2f}, and "
        "LayerNorm scaling at 5.67 and {:.2f}.",
        lambda: [
            curve(SIZE, LONG_PRE, 3),
            curve("placements-real", "b2t-adam-lr7.5e-4-const-wu1333-drop2", 3),
            curve("placements-real", "lns-adam-lr2.375e-3-const-wu1333-drop2", 3),
        ],
    ),
    ("each made {:.0f} to {:.0f} updates a second (`paper-epoch`)", lambda: updates_a_second("paper-epoch")),
    ("each made {:.0f} to {:.0f} (`placements-real`)", lambda: updates_a_second("placements-real")),
    ("and fairseq's draw, it takes {:.1f} to {:.1f}%", shares_of_bleu),
    ("BERT in fp32 is {:.2f} ({:.2f} to {:.2f}) times as fast", lambda: timed("train-bert-fp32")),
    (
        "in bf16 is {:.2f} ({:.2f} to {:.2f}) times as fast if its products are computed in fp32 (size A), and "
        "{:.2f} ({:.2f} to {:.2f}) times with size B.",
        lambda: [record.find(f"products-{size}", XEON)[key] for size in "AB" for key in ("ratio", "low", "high")],
    ),
    *(
        (
            f"| {tokens:,} | {{:,}} | {{:,}} | {{:.1f}}% more | {{:.1f}}% more | {{:.1f}}% more, {{:,}} batches |",
            lambda tokens=tokens: of_shapes(tokens),
        )
        for tokens in (4096, 1024)
    ),
    (
        "own padding adds {:.1f}% and {:.1f}% to the tokens",
        lambda: [100 * record.find(f"shapes-{tokens}")["padding"] for tokens in (4096, 1024)],
    ),
    *(
        (
            f"| {name}, {precision} | {{0:,}} | {before} | {{1:,}} | {{2}} | {waits} | {{3}} |",
            lambda case=f"{case}-{precision}": asked(case),
        )
        for name, case, precision, before, waits in (
            ("IWSLT model", "iwslt", "fp32", "852", "17"),
            ("IWSLT model", "iwslt", "bf16", "1,625", "17"),
            ("IWSLT model", "iwslt", "fp16", "1,381", "20"),
            ("BERT-base", "bert-base", "fp32", "698", "30"),
            ("BERT-base", "bert-base", "bf16", "1,368", "30"),
            ("BERT-base", "bert-base", "fp16", "1,171", "33"),
        )
    ),
    ("fine-tuning BERT-base, bf16 | {:,} | | {} | {} | | {} |", lambda: asked("fine-tuning-bf16")),
    (
        "validation of 32 pairs has {1} launches and {3} waits (fairseq: {0} and {2})",
        lambda: asked("fine-tuning-validation-bf16"),
    ),
    (
        "launches {} operations, or {} if some sentences",
        lambda: [record.find(f"launches-{step}-fp32")["value"] for step in ("search", "search-limit")],
    ),
    (
        "two batches ({:,} launches, {} waits), and the trace of an update ({:,} launches, {} waits)",
        lambda: [
            record.find(f"{what}-{part}-fp32")["value"]
            for part in ("gradients", "first-updates")
            for what in ("launches", "syncs")
        ],
    ),
]
"""Its sentences, with what the records have in the place of the numbers."""

# What was tried and is not recorded; trainings of before that were replaced; a length penalty's limit.
ELSEWHERE = (
    "1.5 0.13 6.92 6.94 6.81 7.54 1.1 2.35 2.47 2.50 2.36 2.45 2.56 6.71 8.29 9.30 8.24 8.40 1.3 0.2 "
    "12.6 12.4 35.3 4.2 2.3 0.5 3.6 2.4 1.09 1.30 4.5 0.4 0.6 2.5 1.4 1.26 2.9 4.6 "
    # Of the runs that were trained twice, and of PyTorch.
    "0.04 0.06 2.11 0.013"
)
"""Its other numbers, which no record has."""
