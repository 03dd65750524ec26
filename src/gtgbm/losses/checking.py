"""Compares the derivatives of a loss with finite differences."""

from __future__ import annotations

from typing import Any

import numpy as np

from gtgbm.exact import F64, lend


def check_loss(loss: Any, y: Any, score: Any, *, tolerance: float = 1e-4) -> None:
    """Raise an AssertionError if the gradient or curvature of a loss disagrees with finite differences.

    Parameters
    ----------
    loss : object
        An object with methods `value`, `gradient` and `curvature`; see ``gtgbm.losses.LossFunction``.
    y, score : array-like, shape (n,)
        Points to check. Avoid kinks, such as ``y == score`` for absolute errors.
    tolerance : float
        Largest difference allowed, relative to the largest derivative. A curvature may be larger than the
        second derivative, since an upper bound also prevents overshooting, but not smaller.
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


def _compare(returned: F64, expected: F64, score: F64, tolerance: float, name: str, other: str) -> None:
    scale = max(1e-12, float(np.abs(expected).max(initial=0.0)))
    off = np.abs(returned - expected) / scale
    worst = int(np.argmax(off))
    if off[worst] > tolerance:
        raise AssertionError(
            f"{name} at score {score[worst]:g} is {returned[worst]:g}, the {other} is {expected[worst]:g}"
        )
