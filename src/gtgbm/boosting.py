"""The loop over trees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from gtgbm import _core
from gtgbm.arrays import F64, Table
from gtgbm.feature_costs import FeatureCosts
from gtgbm.forest import Forest
from gtgbm.growing import Grown, TreeGrower
from gtgbm.leaf_values import newton_steps
from gtgbm.losses import Loss
from gtgbm.reducer import Reducer
from gtgbm.timings import Timings
from gtgbm.tree import Tree


class HistoryEntry(NamedTuple):
    """One feature bought.

    Attributes
    ----------
    tree : int
        Round of boosting.
    feature : int
        Column of the table.
    gain, price : float
        Fractions of the root's squared error in that tree.
    training_loss : float
        Mean training loss after that round.
    category : float or None
        The category bought (NaN: missing values); None for a column of numbers.
    """

    tree: int
    feature: int
    gain: float
    price: float
    training_loss: float
    category: float | None = None


class Progress(NamedTuple):
    """What a callback sees after each round.

    Attributes
    ----------
    round : int
        Rounds done, out of `n_rounds`.
    training_loss : float
        Mean loss after this round.
    n_features : int
        Features owned.
    validation_loss : float or None
        Mean loss on the last validation set, if there is one.
    """

    round: int
    n_rounds: int
    training_loss: float
    n_features: int
    validation_loss: float | None


Callback = Callable[[Progress], object]
"""Called after each round; returning a true value stops training."""


@dataclass(frozen=True)
class Validation:
    """Rows whose loss is followed during training."""

    table: Table
    y: F64


@dataclass
class Model:
    """Trees and how they came to be; grows by one round at a time."""

    start: F64
    trees: list[Tree] = field(default_factory=list)
    outputs: list[int] = field(default_factory=list)
    history: list[HistoryEntry] = field(default_factory=list)
    training_losses: list[float] = field(default_factory=list)
    validation_losses: list[list[float]] = field(default_factory=list)

    @property
    def n_rounds(self) -> int:
        """Rounds of boosting done."""
        return len(self.trees) // int(self.start.shape[0])

    def keep_rounds(self, n_rounds: int) -> None:
        """Drop the rounds after the first `n_rounds`."""
        n_trees = n_rounds * self.start.shape[0]
        del self.trees[n_trees:], self.outputs[n_trees:]
        self.history = [entry for entry in self.history if entry.tree < n_rounds]


@dataclass(frozen=True)
class Schedule:
    """How long to train.

    Attributes
    ----------
    patience : int or None
        Rounds without a better validation loss (of the last validation set) after which to stop.
    """

    n_rounds: int
    learning_rate: float
    patience: int | None = None


class Booster:
    """Adds trees to a model, one round after the other."""

    def __init__(
        self,
        grower: TreeGrower,
        costs: FeatureCosts,
        loss: Loss,
        pool: _core.Pool,
        reducer: Reducer,
        timings: Timings,
    ) -> None:
        self._grower = grower
        self._costs = costs
        self._loss = loss
        self._pool = pool
        self._reducer = reducer
        self._timings = timings

    def run(
        self,
        y: F64,
        start: F64,
        schedule: Schedule,
        validations: Sequence[Validation] = (),
        callbacks: Sequence[Callback] = (),
    ) -> Model:
        """Train.

        Parameters
        ----------
        y : ndarray of float64, shape (n,)
        start : ndarray of float64, shape (k,)
            Scores to start from.
        """
        model = Model(start.copy(), validation_losses=[[] for _ in validations])
        scores = np.repeat(start[:, None], y.shape[0], axis=1)
        held_out = [np.repeat(start[:, None], v.y.shape[0], axis=1) for v in validations]
        with self._timings.stage("residuals"):
            derivatives = self._loss.derivatives(scores, y, self._pool)
        for t in range(schedule.n_rounds):
            grown = []
            for k in range(scores.shape[0]):
                curvatures = None if derivatives.curvatures is None else derivatives.curvatures[k]
                grown.append(
                    self._add_tree(model, k, derivatives.residuals[k], curvatures, schedule, scores[k])
                )
            with self._timings.stage("residuals"):
                derivatives = self._loss.derivatives(scores, y, self._pool)
            model.training_losses.append(derivatives.mean_loss)
            model.history += [
                HistoryEntry(
                    t, bought.column, bought.gain, bought.price, derivatives.mean_loss, bought.category
                )
                for one in grown
                for bought in one.purchases
            ]
            with self._timings.stage("validation"):
                self._validate(model, validations, held_out)
            if not np.isfinite(derivatives.mean_loss):
                raise ValueError(
                    f"training diverged: the loss is {derivatives.mean_loss} after {t + 1} rounds; "
                    f"learning_rate={schedule.learning_rate} is too large, give 1 or less"
                )
            nothing_left = not any(tree.value.any() for tree in model.trees[-scores.shape[0] :])
            if self._stop(model, schedule, callbacks) or nothing_left:
                break
        if schedule.patience is not None and validations:
            model.keep_rounds(int(np.argmin(model.validation_losses[-1])) + 1)
        return model

    def _add_tree(
        self, model: Model, k: int, residuals: F64, curvatures: F64 | None, schedule: Schedule, scores: F64
    ) -> Grown:
        grown = self._grower.grow(residuals, k)
        with self._timings.stage("leaves"):
            steps = schedule.learning_rate * newton_steps(
                grown, residuals, curvatures, self._pool, self._reducer
            )
            _core.add_to_leaves(self._pool, grown.rows, grown.begin, grown.end, steps, scores)
            value = np.zeros(grown.tree.n_nodes)
            value[grown.leaves] = steps
        model.trees.append(replace(grown.tree, value=value))
        model.outputs.append(k)
        return grown

    def _validate(self, model: Model, validations: Sequence[Validation], scores: Sequence[F64]) -> None:
        k = model.start.shape[0]
        if not validations:
            return
        added = Forest.of(model.trees[-k:], model.outputs[-k:], model.start)
        for validation, held_out, losses in zip(validations, scores, model.validation_losses, strict=True):
            added.add_to(held_out, validation.table, self._pool)
            losses.append(self._loss.derivatives(held_out, validation.y, self._pool).mean_loss)

    def _stop(self, model: Model, schedule: Schedule, callbacks: Sequence[Callback]) -> bool:
        last = model.validation_losses[-1] if model.validation_losses else None
        progress = Progress(
            model.n_rounds,
            schedule.n_rounds,
            model.training_losses[-1],
            len(self._costs.owned),
            None if last is None else last[-1],
        )
        stops = [callback(progress) for callback in callbacks]
        if any(stops):
            return True
        if last is None or schedule.patience is None:
            return False
        return len(last) - 1 - int(np.argmin(last)) >= schedule.patience
