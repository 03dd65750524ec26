"""The losses of plain regression and classification."""

from __future__ import annotations

import numpy as np

from gtgbm import _core
from gtgbm.exact import F64, I64, FitContext, exact_mean
from gtgbm.losses.base import Derivatives, Link, NewtonLeaf, Targets
from gtgbm.losses.exponential import exp


class SquaredError:
    """The squared error (y - score)² / 2; the reported mean loss is the mean of (y - score)²."""

    n_scores = 1
    leaf = NewtonLeaf()
    link: Link = "identity"

    def start(self, targets: Targets, context: FitContext) -> F64:
        """Return the mean of the target."""
        return np.array([exact_mean(targets.y, targets.weights, context)])

    def derivatives(self, scores: F64, targets: Targets, context: FitContext) -> Derivatives:
        """Residuals are y - score."""
        residuals = targets.y - scores
        with np.errstate(over="ignore"):  # the booster reports an infinite loss
            squares = residuals[0] * residuals[0]
        return Derivatives(residuals, None, exact_mean(squares, targets.weights, context))

    def unit_losses(self, scores: F64, targets: Targets, context: FitContext) -> F64:
        """Return what each row adds to the mean squared error."""
        del context
        return targets.weights.shares_of((targets.y - scores[0]) ** 2)

    def predict(self, scores: F64) -> F64:
        """Return the score itself."""
        score: F64 = scores[0]
        return score


_LARGEST_STEP = 10.0
"""In log-odds, before the learning rate; larger steps only result from curvatures close to 0."""


class LogLoss:
    """Logistic loss of 0/1 targets; the score is the log-odds."""

    n_scores = 1
    leaf = NewtonLeaf(largest=_LARGEST_STEP)
    link: Link = "logistic"

    def start(self, targets: Targets, context: FitContext) -> F64:
        """Return the log-odds of the positive class."""
        p = exact_mean(targets.y, targets.weights, context)
        return np.array([np.log(p / (1.0 - p))])

    def derivatives(self, scores: F64, targets: Targets, context: FitContext) -> Derivatives:
        """Residuals are y - p."""
        y = targets.y
        residuals, curvatures, losses = (np.empty_like(scores) for _ in range(3))
        _core.logistic_residuals(context.pool, scores[0], y, residuals[0], curvatures[0], losses[0])
        return Derivatives(residuals, curvatures, exact_mean(losses[0], targets.weights, context))

    def unit_losses(self, scores: F64, targets: Targets, context: FitContext) -> F64:
        """Return what each row adds to the mean loss."""
        del context
        return targets.weights.shares_of(np.logaddexp(0.0, scores[0]) - targets.y * scores[0])

    def predict(self, scores: F64) -> F64:
        """Return the probability of the positive class."""
        return np.asarray(1.0 / (1.0 + exp(-scores[0])))


class MultinomialLoss:
    """Cross-entropy of class numbers 0 .. k - 1; one score per class."""

    leaf = NewtonLeaf(largest=_LARGEST_STEP)
    link: Link = "softmax"

    def __init__(self, n_classes: int) -> None:
        self.n_scores = n_classes

    def start(self, targets: Targets, context: FitContext) -> F64:
        """Return the logarithms of the class frequencies."""
        is_class = targets.y == np.arange(self.n_scores)[:, None]
        means = [exact_mean(members.astype(np.float64), targets.weights, context) for members in is_class]
        return np.asarray(np.log(means), dtype=np.float64)

    def derivatives(self, scores: F64, targets: Targets, context: FitContext) -> Derivatives:
        """Residuals are 1 - p for a row's class and -p for the others.

        Curvatures include the factor k / (k - 1) of Friedman's multiclass step, which accounts for the fact
        that adding a constant to all scores changes nothing.
        """
        p = softmax(scores, context.pool)
        true_class, losses = self._losses(p, targets)
        curvatures = p * (1.0 - p) * (self.n_scores / (self.n_scores - 1.0))
        residuals = -p
        residuals[true_class] += 1.0
        return Derivatives(residuals, curvatures, exact_mean(losses, targets.weights, context))

    def unit_losses(self, scores: F64, targets: Targets, context: FitContext) -> F64:
        """Return what each row adds to the mean loss."""
        return targets.weights.shares_of(self._losses(softmax(scores, context.pool), targets)[1])

    def _losses(self, p: F64, targets: Targets) -> tuple[tuple[I64, I64], F64]:
        """Return the index of each row's class in the probabilities, and the loss of each row."""
        true_class = (targets.y.astype(np.int64), np.arange(targets.y.shape[0]))
        return true_class, -np.log(np.maximum(p[true_class], np.finfo(np.float64).tiny))

    def predict(self, scores: F64) -> F64:
        """Return probabilities, shape (n, k)."""
        return softmax(scores).T


def softmax(scores: F64, pool: _core.Pool | None = None) -> F64:
    """Return the probabilities of scores (k, n), over the first axis."""
    e = exp(scores - scores.max(axis=0), pool)
    total = e[0].copy()
    for of_class in e[1:]:  # one after the other: the order of numpy's own sum depends on the number of rows
        total += of_class
    return np.asarray(e / total, dtype=np.float64)
