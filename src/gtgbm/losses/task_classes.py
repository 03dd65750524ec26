"""Scores of tasks that have different classes."""

from __future__ import annotations

import numpy as np

from gtgbm.exact import F64, I64


def of_all_tasks(scores: F64, positions: I64, n_scores: int) -> F64:
    """Return the scores of a task, which may have some of the classes only, in the layout of all tasks.

    Their softmax is the probabilities of the task: a class that it does not have scores minus infinity, and
    the first of two classes, which have one score together, 0.

    Parameters
    ----------
    scores : ndarray of float64, shape (k, ...)
    positions : ndarray of int64
        The classes of the task among all classes.

    Returns
    -------
    ndarray of float64, shape (n_scores, ...)
    """
    if scores.shape[0] == n_scores:
        return scores
    of_all = np.full((n_scores, *scores.shape[1:]), -np.inf)
    of_all[positions] = np.stack([np.zeros_like(scores[0]), scores[0]]) if scores.shape[0] == 1 else scores
    return of_all
