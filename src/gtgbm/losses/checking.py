"""Compares a loss's derivatives with finite differences."""

from __future__ import annotations

from typing import Any

import numpy as np

from gtgbm.exact import F64, lend


def check_loss(loss: Any, y: Any, score: Any, *, tolerance: float = 1e-4) -> None:
    """Raise an AssertionError if a loss's gradient or curvature is not what finite differences say.

    Parameters
    ----------
    loss : object
        With `value`, `gradient` and `curvature`; see ``gtgbm.losses.LossFunction``.
    y, score : array-like, shape (n,)
        Where to look. Keep away from kinks, such as ``y == score`` for absolute errors.
    tolerance : float
        Largest difference, in relation to the largest derivative. A curvature may be larger than the second
        derivative (an upper bound is enough for steps that do not overshoot), but not smaller.
    """
    y, score = np.asarray(y, dtype=np.float64), np.asarray(score, dtype=np.float64)
    if y.shape != score.shape or y.ndim != 1:
        raise ValueError(f"y has shape {y.shape}, score {score.shape}; both must be (n,)")
    step = 1e-4 * np.maximum(1.0, np.abs(score))
    gradient, curvature = _answer(loss, "gradient", y, score), _answer(loss, "curvature", y, score)
    rise = _answer(loss, "value", y, score + step) - _answer(loss, "value", y, score - step)
    _compare(gradient, rise / (2.0 * step), score, tolerance, "gradient", "slope of the value")
    bend = _answer(loss, "gradient", y, score + step) - _answer(loss, "gradient", y, score - step)
    second = bend / (2.0 * step)
    low = np.minimum(curvature, second)
    _compare(low, second, score, tolerance, "curvature", "slope of the gradient")
    if curvature.min(initial=0.0) < 0.0:
        raise AssertionError(f"curvature is {curvature.min():g} somewhere; it must not be negative")


def _answer(loss: Any, verb: str, y: F64, score: F64) -> F64:
    answer = np.array(lend(getattr(loss, verb), f"{loss!r}.{verb}", y, score), dtype=np.float64)
    if answer.shape != y.shape:
        raise AssertionError(f"{verb} returned shape {answer.shape}; it must be {y.shape}, one per row")
    return answer


def _compare(said: F64, seen: F64, score: F64, tolerance: float, name: str, other: str) -> None:
    scale = max(1e-12, float(np.abs(seen).max(initial=0.0)))
    off = np.abs(said - seen) / scale
    worst = int(np.argmax(off))
    if off[worst] > tolerance:
        raise AssertionError(
            f"{name} at score {score[worst]:g} is {said[worst]:g}, the {other} is {seen[worst]:g}"
        )
