"""Converts the scores of a classifier to decision scores, probabilities and labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gtgbm.exact import F64
from gtgbm.losses import LogLoss, Loss


def decisions(scores: F64, loss: Loss) -> F64:
    """Return decision scores from scores of shape (k, n).

    Returns
    -------
    ndarray of float64, shape (n,) or (n, classes)
        For two classes above 0 if the second class is predicted; otherwise one column per class.
    """
    if scores.shape[0] > 1:
        return scores.T
    return scores[0] if isinstance(loss, LogLoss) else np.asarray(loss.predict(scores) - 0.5)


def probabilities(scores: F64, loss: Loss) -> F64:
    """Return the probability of each class, shape (n, classes), from scores of shape (k, n)."""
    p = loss.predict(scores)
    if scores.shape[0] > 1:
        return p
    p = np.clip(p, 0.0, 1.0)
    both = np.empty((p.shape[0], 2))
    both[:, 0], both[:, 1] = 1.0 - p, p
    return both


def labels(decided: F64, classes: NDArray[Any]) -> NDArray[Any]:
    """Return the most probable class, shape (n,), from decision scores of shape (n,) or (n, classes)."""
    number = (decided > 0).astype(np.int64) if decided.ndim == 1 else np.argmax(decided, axis=1)
    return np.asarray(classes[number])
