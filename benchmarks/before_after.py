"""Draw the training losses of two trainings with the same settings, before and after a change of the code.

    python -m benchmarks.before_after BEFORE AFTER OUT.png

The first two are results of a study; of each run that is in both, the log of its newest state is read.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
import seaborn as sns

from preln.fairseq_plugin.log import progress
from preln.training.state import RunState

SMOOTHING = 20
"""Lines of the log in a moving average; each covers several updates."""


def losses(results: Path) -> pd.DataFrame:
    """The loss, in bits a token, of every line of the runs' logs: columns `run`, `update` and `loss`."""
    rows = []
    for folder in sorted(results.glob("translation/*")):
        state = RunState.newest(folder)
        if state is None:
            continue
        lines = progress(state.log.read_text(encoding="utf-8"))
        rows += [(folder.name, line.updates, line.loss) for line in lines]
    return pd.DataFrame(rows, columns=["run", "update", "loss"])


def main(before: str, after: str, out: str, *runs: str) -> None:
    """Draw the figure, for the named runs only if there are any."""
    table = pd.concat([losses(Path(path)).assign(code=code) for code, path in (("before", before), ("after", after))])
    wanted = table[table.run.isin(runs)] if runs else table
    smooth = wanted.assign(
        loss=wanted.groupby(["run", "code"]).loss.transform(lambda loss: loss.rolling(SMOOTHING, min_periods=1).mean())
    )
    sns.set_theme(style="ticks", context="paper")
    figure, axes = plt.subplots(figsize=(6, 3.4), layout="constrained")
    sns.lineplot(smooth, x="update", y="loss", hue="run", style="code", ax=axes, linewidth=1.2)
    axes.set(xlabel="updates", ylabel="training loss (bits a token)")
    sns.despine()
    figure.savefig(out, dpi=150)


if __name__ == "__main__":
    main(*sys.argv[1:])
