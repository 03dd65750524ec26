"""Converts scores to predictions, decision scores, probabilities and labels.

Scores have the shape (k, n), or (k, n, T) for several tasks of each row.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gtgbm.exact import F64
from gtgbm.losses import LogLoss, Loss


def predictions(scores: F64, loss: Loss) -> F64:
    """Return what a loss of one score predicts, shape (n,) or (n, T)."""
    return loss.predict(scores.reshape(1, -1)).reshape(scores.shape[1:])


def decisions(scores: F64, loss: Loss) -> F64:
    """Return decision scores.

    Returns
    -------
    ndarray of float64, shape (n,) or (n, T), with the classes as an additional last axis if there are more
        For two classes above 0 if the second class is predicted; otherwise a score for each class.
    """
    if scores.shape[0] > 1:
        return np.moveaxis(scores, 0, -1)
    return scores[0] if isinstance(loss, LogLoss) else np.asarray(predictions(scores, loss) - 0.5)


def probabilities(scores: F64, loss: Loss) -> F64:
    """Return probabilities of classes.

    Returns
    -------
    ndarray of float64, shape (n, classes), or (n, T, classes) for several tasks of each row
        The latter has the shape (n, T) if there are two classes: the probabilities of the second.
    """
    n_scores, shape = scores.shape[0], scores.shape[1:]
    if n_scores > 1:
        return loss.predict(scores.reshape(n_scores, -1)).reshape(*shape, n_scores)
    p = np.clip(predictions(scores, loss), 0.0, 1.0)
    if p.ndim > 1:
        return p
    both = np.empty((p.shape[0], 2))
    both[:, 0], both[:, 1] = 1.0 - p, p
    return both


def labels(decided: F64, classes: NDArray[Any]) -> NDArray[Any]:
    """Return the most probable class, shape (n,) or (n, T), from decision scores."""
    is_binary = classes.shape[0] == 2
    number = (decided > 0).astype(np.int64) if is_binary else np.argmax(decided, axis=-1)
    return np.asarray(classes[number])
