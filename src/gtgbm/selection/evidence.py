"""Evidence for features: what they gain in training, and what is lost without them on rows not trained on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from gtgbm.boosting import Dataset, Model
from gtgbm.exact import F64, FitContext
from gtgbm.losses import Loss
from gtgbm.selection.features import Feature, FeatureForest

_PERMUTED_ROWS = 3000
"""Rows that a feature is permuted on: fewer held-out rows are permuted several times."""
_MOST_PERMUTATIONS = 3


@dataclass
class Evidence:
    """Evidence for the features of one task, summed over folds.

    Attributes
    ----------
    gain : dict from Feature to float
        Sum of the gains of the feature's splits.
    rise : dict from Feature to float
        Rise of the held-out loss if the feature's values are permuted.
    square : dict from Feature to float
        Sum of squared rises of single rows or queries: the squared standard error of `rise`.
    loss : float
        Held-out loss of the models.
    """

    gain: dict[Feature, float] = field(default_factory=dict)
    rise: dict[Feature, float] = field(default_factory=dict)
    square: dict[Feature, float] = field(default_factory=dict)
    loss: float = 0.0

    def add(self, other: Evidence) -> None:
        """Add the evidence of other models; each of the two counts for half in gains."""
        for mine, others in ((self.rise, other.rise), (self.square, other.square)):
            for feature, value in others.items():
                mine[feature] = mine.get(feature, 0.0) + value
        own, theirs = self.gain_shares(), other.gain_shares()
        self.gain = {name: own.get(name, 0.0) + theirs.get(name, 0.0) for name in [*own, *theirs]}
        self.loss += other.loss

    def add_fold(self, model: Model, rows: Dataset, loss: Loss, context: FitContext, seed: Sequence[int]) -> None:
        """Add the evidence of a model on rows that it was not trained on."""
        of_model = FeatureForest.of(model)
        for feature, gain in zip(of_model.features, of_model.gains.tolist(), strict=True):
            self.gain[feature] = self.gain.get(feature, 0.0) + gain
        scores = of_model.forest.scores(rows.table, context.pool, of_model.columns)
        plain = loss.unit_losses(scores, rows.targets, context)
        self.loss += float(plain.sum())
        if not of_model.features:
            return
        n_permutations = int(np.clip(_PERMUTED_ROWS // rows.n_rows, 1, _MOST_PERMUTATIONS))
        rises = np.zeros((len(of_model.features), plain.shape[0]))
        for k in range(n_permutations):
            donor = np.random.default_rng([*seed, k]).permutation(rows.n_rows)
            changes = of_model.forest.score_changes(
                rows.table, donor, context.pool, np.arange(len(of_model.features)), of_model.columns
            )
            for f, change in enumerate(changes):
                rises[f] += loss.unit_losses(scores + change, rows.targets, context) - plain
        rises /= n_permutations
        for f, feature in enumerate(of_model.features):
            self.rise[feature] = self.rise.get(feature, 0.0) + float(rises[f].sum())
            self.square[feature] = self.square.get(feature, 0.0) + float((rises[f] ** 2).sum())

    def gain_shares(self) -> dict[Feature, float]:
        """Return the share of each feature in all gains."""
        return _shares(self.gain)

    def importance(self) -> dict[Feature, float]:
        """Return the share of each feature in the gains plus its share in the rises of the held-out loss.

        Gains of training rows are precise, but credit noise; rises on rows not trained on credit no noise, but
        are less precise. Their sum is the more reliable one on tables of all kinds (docs/selection.md).
        """
        gains, rises = self.gain_shares(), _shares(self.rise)
        return {feature: (gains[feature] + rises.get(feature, 0.0)) / 2.0 for feature in gains}

    def z_score(self, feature: Feature) -> float:
        """Return the rise of the held-out loss without the feature, in standard errors."""
        square = self.square.get(feature, 0.0)
        return self.rise[feature] / float(np.sqrt(square)) if square > 0.0 else 0.0


def _shares(values: dict[Feature, float]) -> dict[Feature, float]:
    """Return the share of each value above 0 in the sum of these."""
    total = sum(value for value in values.values() if value > 0.0)
    return {feature: max(value, 0.0) / total if total > 0.0 else 0.0 for feature, value in values.items()}


def mean_importance(
    evidence: Iterable[Evidence], weights: Sequence[float]
) -> dict[Feature, float]:
    """Return the mean importance of each feature over tasks."""
    mean: dict[Feature, float] = {}
    for of_task, weight in zip(evidence, weights, strict=True):
        for feature, importance in of_task.importance().items():
            mean[feature] = mean.get(feature, 0.0) + weight * importance
    return mean


def constant_loss(start: F64, rows: Dataset, loss: Loss, context: FitContext) -> float:
    """Return the loss of constant scores."""
    scores = np.repeat(start[:, None], rows.n_rows, axis=1)
    return float(loss.unit_losses(scores, rows.targets, context).sum())
