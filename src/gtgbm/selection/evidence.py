"""Evidence for features: what they gain in training, and what is lost without them on rows not trained on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from gtgbm.boosting import Dataset
from gtgbm.exact import F64, FitContext
from gtgbm.losses import Loss
from gtgbm.selection.features import Feature, FeatureForest
from gtgbm.selection.folds import N_FOLDS

_PERMUTED_ROWS = 3000
"""Rows that a feature is permuted on: fewer held-out rows are permuted several times."""
_MOST_PERMUTATIONS = 3
_SHRINKAGES = (1.0, 0.75, 0.5, 0.35, 0.2)
"""Factors on the scores of a model that are tried on held-out rows."""


@dataclass
class Evidence:
    """Evidence for the features of one task, summed over folds.

    Attributes
    ----------
    gains : list of dict from Feature to float
        For each model, the share of the feature in the gains of all splits.
    rise : dict from Feature to float
        Rise of the held-out loss if the feature's values are permuted.
    square : dict from Feature to float
        Sum of squared rises of single rows or queries: the squared standard error of `rise`.
    unit_losses : list of ndarray of float64, shape (units,)
        For each model, what each held-out row or query adds to its mean loss.
    constant_losses : list of ndarray of float64, shape (units,)
        The same for constant scores.
    """

    gains: list[dict[Feature, float]] = field(default_factory=list)
    rise: dict[Feature, float] = field(default_factory=dict)
    square: dict[Feature, float] = field(default_factory=dict)
    unit_losses: list[F64] = field(default_factory=list)
    constant_losses: list[F64] = field(default_factory=list)

    def add(self, other: Evidence) -> None:
        """Add the evidence of other models."""
        for mine, others in ((self.rise, other.rise), (self.square, other.square)):
            for feature, value in others.items():
                mine[feature] = mine.get(feature, 0.0) + value
        self.gains += other.gains
        self.unit_losses += other.unit_losses
        self.constant_losses += other.constant_losses

    def add_fold(
        self, of_model: FeatureForest, rows: Dataset, loss: Loss, context: FitContext, seed: Sequence[int]
    ) -> None:
        """Add the evidence of a model on rows that it was not trained on."""
        self.gains.append(_shares(dict(zip(of_model.features, of_model.gains.tolist(), strict=True))))
        held_out = HeldOut.of(of_model, rows, loss, context)
        self.unit_losses.append(held_out.losses)
        self.constant_losses.append(
            loss.unit_losses(constant_scores(of_model.forest.start, rows), rows.targets, context)
        )
        rises = held_out.rises(of_model, rows, loss, context, seed)
        for feature, rise in zip(of_model.features, rises, strict=True):
            self.rise[feature] = self.rise.get(feature, 0.0) + float(rise.sum())
            self.square[feature] = self.square.get(feature, 0.0) + float((rise**2).sum())

    def gain_shares(self, fold: int | None = None) -> dict[Feature, float]:
        """Return the mean share of each feature in the gains of all models, or of those of one fold."""
        models = self.gains if fold is None else self.gains[fold::N_FOLDS]
        total: dict[Feature, float] = {}
        for of_model in models:
            for feature, share in of_model.items():
                total[feature] = total.get(feature, 0.0) + share / len(models)
        return total

    def importance(self) -> dict[Feature, float]:
        """Return the importance of each feature, in shares.

        The share in the rises of the held-out loss credits no noise, but has a standard error. The share in
        the gains of training rows has none, but credits noise, above all that of columns with many values.
        The importance is their mean, weighted by precision, where the error of a gain share is taken to be as
        large as the share: on many rows the rise decides, on few rows the gain.
        """
        gains = self.gain_shares()
        total = sum(value for value in self.rise.values() if value > 0.0)
        if total <= 0.0:
            return gains
        importance = {}
        for feature, gain in gains.items():
            rise = self.rise.get(feature, 0.0) / total
            variance, trust = self.square.get(feature, 0.0) / total**2, gain**2
            mean = (rise * trust + gain * variance) / (trust + variance) if trust + variance > 0.0 else 0.0
            importance[feature] = max(mean, 0.0)
        return importance

    def z_score(self, feature: Feature) -> float:
        """Return the rise of the held-out loss without the feature, in standard errors."""
        square = self.square.get(feature, 0.0)
        return self.rise[feature] / float(np.sqrt(square)) if square > 0.0 else 0.0


def _shares(values: dict[Feature, float]) -> dict[Feature, float]:
    """Return the share of each value above 0 in the sum of these."""
    total = sum(value for value in values.values() if value > 0.0)
    return {feature: max(value, 0.0) / total if total > 0.0 else 0.0 for feature, value in values.items()}


@dataclass(frozen=True)
class HeldOut:
    """A model on rows that it was not trained on, its scores shrunk until the loss is lowest.

    The models are not stopped early: on few rows their scores are too large, so that a few rows that are
    wrong by much would decide what a feature is worth.

    Attributes
    ----------
    scores : ndarray of float64, shape (k, n)
        Shrunk towards the constant.
    shrinkage : float
        The factor on their distances from the constant.
    losses : ndarray of float64, shape (units,)
        What each row or query adds to the mean loss.
    """

    scores: F64
    shrinkage: float
    losses: F64

    @classmethod
    def of(cls, model: FeatureForest, rows: Dataset, loss: Loss, context: FitContext) -> HeldOut:
        """Predict the rows, and find the shrinkage."""
        start = model.forest.start[:, None]
        steps = model.forest.scores(rows.table, context.pool, model.columns) - start
        best: HeldOut | None = None
        for factor in _SHRINKAGES:
            scores = start + factor * steps
            losses = loss.unit_losses(scores, rows.targets, context)
            if best is None or losses.sum() < best.losses.sum():
                best = cls(scores, factor, losses)
        assert best is not None
        return best

    def rises(
        self, model: FeatureForest, rows: Dataset, loss: Loss, context: FitContext, seed: Sequence[int]
    ) -> F64:
        """Return by how much each row's or query's loss rises if a feature is permuted, shape (f, units)."""
        features = np.arange(len(model.features))
        rises = np.zeros((features.shape[0], self.losses.shape[0]))
        n_permutations = int(np.clip(_PERMUTED_ROWS // rows.n_rows, 1, _MOST_PERMUTATIONS))
        for k in range(n_permutations):
            donor = np.random.default_rng([*seed, k]).permutation(rows.n_rows)
            changes = model.forest.each_score_change(rows.table, donor, context.pool, features, model.columns)
            for rise, change in zip(rises, changes, strict=True):
                changed = self.scores + self.shrinkage * change
                rise += loss.unit_losses(changed, rows.targets, context) - self.losses
        return rises / n_permutations


def constant_scores(start: F64, rows: Dataset) -> F64:
    """Return the same scores for all rows, shape (k, n)."""
    return np.repeat(start[:, None], rows.n_rows, axis=1)
