"""The interface of a loss, and the targets it is computed from."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from gtgbm.exact import F64, I64, FitContext, RowWeights
from gtgbm.losses.queries import Queries


@dataclass(frozen=True)
class Targets:
    """Targets of some rows, with their weights and queries.

    Attributes
    ----------
    y : ndarray of float64, shape (n,)
        Numbers; for classifiers, class numbers 0 .. k - 1.
    weights : RowWeights
    queries : Queries or None
        For ranking: the rows that belong to the same query.
    offset : ndarray of float64, shape (k, n), or None
        What is added to the scores of each row.
    """

    y: F64
    weights: RowWeights
    queries: Queries | None = None
    offset: F64 | None = None

    @classmethod
    def unweighted(cls, y: F64) -> Targets:
        """Give all rows weight 1."""
        return cls(y, RowWeights.equal(y.shape[0]))

    def of_rows(self, rows: I64) -> Targets:
        """Return the targets of some rows, given in ascending order."""
        queries = self.queries
        if queries is not None:
            kept = np.zeros(self.y.shape[0], dtype=np.bool_)
            kept[rows] = True
            queries = queries.of_rows(kept)
        offset = None if self.offset is None else self.offset[:, rows]
        return Targets(self.y[rows], self.weights.of_rows(rows), queries, offset)

    def with_offset(self, scores: F64) -> F64:
        """Return scores (k, n) with the offsets of the rows added."""
        return scores if self.offset is None else np.asarray(scores + self.offset)


@dataclass(frozen=True)
class Derivatives:
    """Derivatives and mean of a loss at the current scores.

    Attributes
    ----------
    residuals : ndarray of float64, shape (k, n)
        Negative gradients g for each of k scores, before sample weights.
    curvatures : ndarray of float64, shape (k, n), or None
        Second derivatives h, before sample weights; None: all 1.
    mean_loss : float
        Weighted mean of the loss.
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
        Whether the score is a logarithm. Upward steps then become log(1 + step), which cannot overshoot.
    largest : float
        Largest absolute step. Where almost all rows of a leaf are predicted with near certainty, a single
        wrong row would otherwise cause an arbitrarily large step.
    """

    is_logarithmic: bool = False
    largest: float = math.inf


@dataclass(frozen=True)
class QuantileLeaf:
    """A leaf's step is a quantile of target minus score."""

    share: float


LeafRule = NewtonLeaf | QuantileLeaf

Link = Literal["identity", "logistic", "softmax", "exponential", "custom"]
"""How scores become predictions; "custom": by the `predict` of a user-defined loss."""


class Loss(Protocol):
    """A loss of k scores per row."""

    @property
    def n_scores(self) -> int:
        """Number of scores k."""
        ...

    @property
    def leaf(self) -> LeafRule:
        """Rule by which leaf values are computed."""
        ...

    @property
    def link(self) -> Link:
        """How `predict` converts scores, for exports."""
        ...

    def start(self, targets: Targets, context: FitContext) -> F64:
        """Return the best constant scores, shape (k,)."""
        ...

    def derivatives(self, scores: F64, targets: Targets, context: FitContext) -> Derivatives:
        """Return residuals, curvatures and mean loss at ``scores`` (k, n)."""
        ...

    def unit_losses(self, scores: F64, targets: Targets, context: FitContext) -> F64:
        """Return what each unit, a row or for rankings a query, adds to the mean loss, shape (units,)."""
        ...

    def predict(self, scores: F64) -> F64:
        """Convert scores (k, n) to predictions: (n,), or (n, classes) for more than two classes."""
        ...
