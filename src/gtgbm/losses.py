"""Losses: residuals to fit, and the Newton step of a leaf."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from gtgbm import _core
from gtgbm.arrays import F64
from gtgbm.fixed_point import exact_mean
from gtgbm.reducer import Reducer


@dataclass(frozen=True)
class Derivatives:
    """What a loss says at the current scores.

    Attributes
    ----------
    residuals : ndarray of float64, shape (k, n)
        Negative gradients g of each of k scores.
    curvatures : ndarray of float64, shape (k, n), or None
        Second derivatives h; None: all 1.
    mean_loss : float
    """

    residuals: F64
    curvatures: F64 | None
    mean_loss: float


class Loss(Protocol):
    """A loss of k scores per row."""

    @property
    def n_scores(self) -> int:
        """Number of scores k."""
        ...

    def start(self, y: F64, pool: _core.Pool, reducer: Reducer) -> F64:
        """Best constant scores, shape (k,)."""
        ...

    def derivatives(self, scores: F64, y: F64, pool: _core.Pool) -> Derivatives:
        """Residuals, curvatures and loss at ``scores`` (k, n)."""
        ...


class SquaredError:
    """(y - score)² / 2; the mean loss reported is the mean of (y - score)²."""

    n_scores = 1

    def start(self, y: F64, pool: _core.Pool, reducer: Reducer) -> F64:
        """Mean of the target."""
        return np.array([exact_mean(y, y.shape[0], pool, reducer)])

    def derivatives(self, scores: F64, y: F64, pool: _core.Pool) -> Derivatives:
        """Residuals are y - score."""
        del pool
        residuals = y - scores
        with np.errstate(over="ignore"):  # an infinite loss is the booster's to report
            return Derivatives(residuals, None, float(np.mean(residuals * residuals)))


class LogLoss:
    """Logistic loss of 0/1 targets; the score is the log-odds."""

    n_scores = 1

    def start(self, y: F64, pool: _core.Pool, reducer: Reducer) -> F64:
        """Log-odds of the positive class."""
        p = exact_mean(y, y.shape[0], pool, reducer)
        return np.array([np.log(p / (1.0 - p))])

    def derivatives(self, scores: F64, y: F64, pool: _core.Pool) -> Derivatives:
        """Residuals are y - p."""
        residuals, curvatures = np.empty_like(scores), np.empty_like(scores)
        total = _core.logistic_residuals(pool, scores[0], y, residuals[0], curvatures[0])
        return Derivatives(residuals, curvatures, total / y.shape[0])


class MultinomialLoss:
    """Cross-entropy of class numbers 0 .. k - 1; one score per class."""

    def __init__(self, n_classes: int) -> None:
        self.n_scores = n_classes

    def start(self, y: F64, pool: _core.Pool, reducer: Reducer) -> F64:
        """Logarithms of the classes' frequencies."""
        del pool
        counts = np.bincount(y.astype(np.int64), minlength=self.n_scores).astype(np.int64)
        total = reducer.sum(counts)
        return np.asarray(np.log(total / total.sum()), dtype=np.float64)

    def derivatives(self, scores: F64, y: F64, pool: _core.Pool) -> Derivatives:
        """Residuals are 1 - p for a row's class and -p for the others.

        Curvatures carry the factor k / (k - 1) of Friedman's multiclass step, by which one tree per class
        accounts for the scores being free up to a shared constant.
        """
        del pool
        p = softmax(scores)
        chosen = (y.astype(np.int64), np.arange(y.shape[0]))
        loss = float(-np.log(np.maximum(p[chosen], np.finfo(np.float64).tiny)).mean())
        curvatures = p * (1.0 - p) * (self.n_scores / (self.n_scores - 1.0))
        residuals = -p
        residuals[chosen] += 1.0
        return Derivatives(residuals, curvatures, loss)


def softmax(scores: F64) -> F64:
    """Probabilities of scores (k, n), over the first axis."""
    e = np.exp(scores - scores.max(axis=0))
    return np.asarray(e / e.sum(axis=0), dtype=np.float64)
