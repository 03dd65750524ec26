"""What a loss is to the engine."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

from gtgbm.exact import F64, FitContext, RowWeights
from gtgbm.losses.queries import Queries


@dataclass(frozen=True)
class Targets:
    """What is to be predicted.

    Attributes
    ----------
    y : ndarray of float64, shape (n,)
        Numbers; class numbers 0 .. k - 1 for classes.
    queries : Queries or None
        Which rows are ranked against each other.
    """

    y: F64
    weights: RowWeights
    queries: Queries | None = None

    @classmethod
    def unweighted(cls, y: F64) -> Targets:
        """Let all rows weigh the same."""
        return cls(y, RowWeights.equal(y.shape[0]))


@dataclass(frozen=True)
class Derivatives:
    """What a loss says at the current scores.

    Attributes
    ----------
    residuals : ndarray of float64, shape (k, n)
        Negative gradients g of each of k scores, for a weight of 1.
    curvatures : ndarray of float64, shape (k, n), or None
        Second derivatives h; None: all 1.
    mean_loss : float
        Weighted mean.
    """

    residuals: F64
    curvatures: F64 | None
    mean_loss: float


@dataclass(frozen=True)
class NewtonLeaf:
    """A leaf's step is the sum of residuals over the sum of curvatures.

    Attributes
    ----------
    is_logarithmic : bool
        The score is a logarithm: take log(1 + step) for steps up, which then cannot overshoot.
    largest : float
        Longer steps are cut: where a leaf's rows are all but sure, one that is not asks for any step.
    """

    is_logarithmic: bool = False
    largest: float = math.inf


@dataclass(frozen=True)
class QuantileLeaf:
    """A leaf's step is a quantile of what is missing to the target."""

    share: float


LeafRule = NewtonLeaf | QuantileLeaf


class Loss(Protocol):
    """A loss of k scores per row."""

    @property
    def n_scores(self) -> int:
        """Number of scores k."""
        ...

    @property
    def leaf(self) -> LeafRule:
        """How leaves get their values."""
        ...

    def start(self, targets: Targets, context: FitContext) -> F64:
        """Best constant scores, shape (k,)."""
        ...

    def derivatives(self, scores: F64, targets: Targets, context: FitContext) -> Derivatives:
        """Residuals, curvatures and loss at ``scores`` (k, n)."""
        ...

    def predict(self, scores: F64) -> F64:
        """Predictions of scores (k, n): (n,), or (n, classes) for more than two classes."""
        ...
