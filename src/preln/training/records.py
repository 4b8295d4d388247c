"""The records of a finished training: run.json, curve.csv and metrics.json."""

from __future__ import annotations

from typing import Any

from preln.libraries import pd
from preln.records import recording
from preln.records.files import replaced
from preln.training.state import RunState


def write(state: RunState, origin: dict[str, Any], rows: pd.DataFrame, metrics: dict[str, Any]) -> None:
    """Write run.json with the `origin` of the numbers, the curve's `rows` and the metrics to the job's folder."""
    with replaced(state.job / "curve.csv") as table:
        rows.to_csv(table, index=False)
    recording.write(state.job, origin, ["curve.csv"], metrics)


def metrics(
    run_id: str,
    points: list[dict[str, Any]],
    parameters: int | None,
    diverged: dict[str, Any] | None,
    counts: dict[str, Any] | None = None,
    details: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """A run's results: its status, further `counts`, the number of the model's parameters, if recorded, the last and
    the best of the curve's `points`, and `details` on how the values were computed."""
    last = points[-1] if points else None
    return {
        "id": run_id,
        "status": "diverged" if diverged else "finished",
        "diverged": diverged,
        **(counts or {}),
        "updates": last["updates"] if last else 0,
        "parameters": parameters,
        "final": last,
        "best": min(points, key=lambda point: point["valid_loss"], default=None),
        **(details or {}),
        "seconds": round(sum(point["seconds"] for point in points), 1),
    }
