"""The loop over trees."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

import numpy as np

from gtgbm import _core
from gtgbm.boosting.callbacks import AnyCallback, Callbacks, Progress
from gtgbm.boosting.evaluation import Evaluations
from gtgbm.boosting.sampling import Sampling
from gtgbm.data import AnyTable
from gtgbm.exact import F64, U8, Bool, Reducer, RowWeights, Timings, newton_problem
from gtgbm.growing import Grown, TreeGrower, bounded_values, leaf_steps
from gtgbm.losses import Derivatives, Loss, QuantileLeaf, Targets
from gtgbm.tree import Forest, Tree

Criterion = Literal["residuals", "newton"]


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
    category : float, str or None
        The category bought (NaN: missing values; text, if it came from a dataframe); None for a column.
    """

    tree: int
    feature: int
    gain: float
    price: float
    training_loss: float
    category: Any = None


@dataclass
class Model:
    """Trees and how they came to be; grows by one round at a time."""

    start: F64
    trees: list[Tree] = field(default_factory=list)
    outputs: list[int] = field(default_factory=list)
    history: list[HistoryEntry] = field(default_factory=list)
    training_losses: list[float] = field(default_factory=list)
    evaluations: list[dict[str, list[float]]] = field(default_factory=list)
    best_round: int | None = None

    @property
    def n_rounds(self) -> int:
        """Rounds of boosting done."""
        return len(self.trees) // int(self.start.shape[0])

    def forest(self, first: int = 0) -> Forest:
        """Trees from one on, ready to predict."""
        return Forest.of(self.trees[first:], self.outputs[first:], self.start)

    def keep_rounds(self, n_rounds: int) -> None:
        """Drop the rounds after the first `n_rounds`."""
        n_trees = n_rounds * self.start.shape[0]
        del self.trees[n_trees:], self.outputs[n_trees:]
        self.history = [entry for entry in self.history if entry.tree < n_rounds]


@dataclass(frozen=True)
class Schedule:
    """How long to train, and on what.

    Attributes
    ----------
    n_rounds : int
        Rounds of the finished model, those it has already included.
    patience : int or None
        Rounds without a better validation result after which to stop.
    criterion : {"residuals", "newton"}
        What a tree's splits fit by least squares: the residuals, or Newton's steps of single rows, residual
        over curvature, each row weighing as much as its curvature.
    directions : ndarray of uint8, shape (columns,)
        RISING or FALLING where predictions are bound to a column's direction, else 0.
    """

    n_rounds: int
    learning_rate: float
    patience: int | None
    criterion: Criterion
    sampling: Sampling
    directions: U8


@dataclass(frozen=True)
class _Round:
    """What the trees of one round share."""

    derivatives: Derivatives
    weights: RowWeights
    allowed: Bool | None


class Booster:
    """Adds trees to a model, one round after the other.

    Parameters
    ----------
    model : Model
        To be continued, in place; without trees for a new one.
    """

    def __init__(
        self,
        grower: TreeGrower,
        loss: Loss,
        pool: _core.Pool,
        reducer: Reducer,
        timings: Timings,
        model: Model,
        table: AnyTable,
        targets: Targets,
        schedule: Schedule,
        evaluations: Evaluations,
    ) -> None:
        self._grower = grower
        self._loss = loss
        self._pool = pool
        self._reducer = reducer
        self._timings = timings
        self._model = model
        self._targets = targets
        self._schedule = schedule
        self._evaluations = evaluations
        self._n_columns = table.shape[1]
        grower.resume((entry.feature, entry.category) for entry in model.history)
        self._scores = model.forest().scores(table, pool)
        evaluations.start(model.forest(), model.n_rounds, pool, model.evaluations)
        model.evaluations = evaluations.values
        with timings.stage("residuals"):
            self._derivatives = loss.derivatives(self._scores, targets, pool)
        self.is_done = model.n_rounds >= schedule.n_rounds

    def run(self, callbacks: Sequence[AnyCallback] = ()) -> Model:
        """Train to the end."""
        told = Callbacks(list(callbacks))
        told.start(self.progress())
        while not self.is_done:
            self.add_round()
            self.is_done |= told.after_round(self.progress())
        model = self.finish()
        told.end(self.progress())
        return model

    def add_round(self) -> None:
        """Grow one tree for each score; `is_done` if there is no more to do."""
        model, schedule, evaluations = self._model, self._schedule, self._evaluations
        t, n_scores = model.n_rounds, self._scores.shape[0]
        weights = schedule.sampling.weights_of(t, self._targets.weights)
        round_ = _Round(self._derivatives, weights, schedule.sampling.columns_of(t, self._n_columns))
        grown = [self._add_tree(k, round_) for k in range(n_scores)]
        with self._timings.stage("residuals"):
            self._derivatives = self._loss.derivatives(self._scores, self._targets, self._pool)
        loss = self._derivatives.mean_loss
        model.training_losses.append(loss)
        model.history += _bought(t, grown, loss)
        if not np.isfinite(loss):
            raise ValueError(
                f"training diverged: the loss is {loss} after {t + 1} rounds; "
                f"learning_rate={schedule.learning_rate} is too large, give 1 or less"
            )
        with self._timings.stage("validation"):
            if evaluations.validations:
                evaluations.add_round(model.forest(-n_scores), self._pool)
        nothing_left = not any(tree.value.any() for tree in model.trees[-n_scores:])
        waited = schedule.patience is not None and evaluations.rounds_since_best() >= schedule.patience
        # A sample may have had nothing to offer where the next one has.
        nothing_left = nothing_left and not schedule.sampling.draws
        self.is_done = waited or nothing_left or model.n_rounds >= schedule.n_rounds

    def finish(self) -> Model:
        """Return the model, cut to its best round where early stopping is asked for."""
        self._model.best_round = self._evaluations.best_round()
        if self._schedule.patience is not None and self._model.best_round is None:
            warnings.warn(
                f"{self._evaluations.deciding_name} was NaN after every round, so early stopping had nothing "
                "to go by: all rounds are kept",
                UserWarning,
                stacklevel=2,
            )
        if self._schedule.patience is not None and self._model.best_round is not None:
            self._model.keep_rounds(self._model.best_round)
        return self._model

    def _add_tree(self, k: int, round_: _Round) -> Grown:
        model, schedule, scores = self._model, self._schedule, self._scores[k]
        residuals, curvatures = round_.derivatives.residuals[k], round_.derivatives.curvatures
        fitted, weights = residuals, round_.weights
        if schedule.criterion == "newton" and curvatures is not None:
            fitted, weights = newton_problem(residuals, curvatures[k], weights)
        grown = self._grower.grow(fitted, k, weights, round_.allowed)
        with self._timings.stage("leaves"):
            missing = self._targets.y - scores if isinstance(self._loss.leaf, QuantileLeaf) else residuals
            steps = schedule.learning_rate * leaf_steps(
                grown,
                self._loss.leaf,
                residuals,
                None if curvatures is None else curvatures[k],
                missing,
                round_.weights,
                self._pool,
                self._reducer,
            )
            value = np.zeros(grown.tree.n_nodes)
            value[grown.leaves] = steps
            if schedule.directions.any():
                value = bounded_values(grown.tree, value, schedule.directions)
            _core.add_to_leaves(self._pool, grown.rows, grown.begin, grown.end, value[grown.leaves], scores)
        model.trees.append(replace(grown.tree, value=value))
        model.outputs.append(k)
        return grown

    def progress(self) -> Progress:
        """Say how far training is."""
        model, schedule, evaluations = self._model, self._schedule, self._evaluations
        n_rounds = model.n_rounds
        seen = evaluations.after(n_rounds)
        last = next(reversed(seen.values()), None)
        return Progress(
            n_rounds,
            schedule.n_rounds,
            model.training_losses[n_rounds - 1] if n_rounds else float("nan"),
            len(model.history),
            None if last is None else last[evaluations.deciding_name],
            seen,
        )


def _bought(t: int, grown: Sequence[Grown], loss: float) -> list[HistoryEntry]:
    return [
        HistoryEntry(t, bought.column, bought.gain, bought.price, loss, bought.category)
        for one in grown
        for bought in one.purchases
    ]
