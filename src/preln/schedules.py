"""The learning rate of each update, in closed form (sections 3.2 and 4.1, appendix H).

An update is counted from 1. Every schedule may begin with the paper's linear warm-up (Eq. 1); without it, the
first update already has the schedule's full rate.
"""

from __future__ import annotations

from math import sqrt

from preln.config import RunSettings


def learning_rate(settings: RunSettings, update: int, drop_update: int | None = None) -> float:
    """The rate of update number `update`.

    Args:
        settings: the run; `learning_rate` is its peak rate.
        update: 1 for the first update.
        drop_update: the last update of epoch `drop_epoch`; None while that epoch has not ended.

    The inverse square root is anchored in one of three ways, since the paper does not say how it is anchored
    without a warm-up. With `decay_period` equal to the warm-up, all three are the same:

    - `warmup`: peak * sqrt(W / t) with W = max(warmup, 1), as fairseq computes `T_warmup = 1`;
    - `hold`: the peak until update P = `decay_period`, then peak * sqrt(P / t);
    - `shift`: peak * sqrt(P / (P + t - warmup)).
    """
    peak, t, warmup = settings.learning_rate, update, settings.warmup
    if t <= warmup:
        return peak * t / warmup
    dropped = drop_update is not None and t > drop_update
    match settings.schedule:
        case "inverse-sqrt":
            period = settings.decay_period
            match settings.anchor:
                case "warmup":
                    return peak * sqrt(max(warmup, 1) / t)
                case "hold":
                    return peak * sqrt(period / max(t, period))
                case "shift":
                    return peak * sqrt(period / (period + t - warmup))
        case "constant":
            return peak * settings.drop_factor if dropped else peak
        case "drop-inverse-sqrt":
            if drop_update is None or not dropped:
                return peak
            return peak * settings.drop_factor * sqrt(drop_update / t)
        case "linear":
            end = settings.decay_updates
            assert end is not None  # the study's checks see to it
            return linear_decay(peak, warmup, end, t)


def linear_decay(peak: float, warmup: int, end: int, update: int) -> float:
    """The rate of update number `update` of a warm-up over `warmup` updates and a linear decay to zero at update `end`
    (section 4.2)."""
    if update <= warmup:
        return peak * update / warmup
    return peak * max(0.0, (end - update) / (end - warmup))
