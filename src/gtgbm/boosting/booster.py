"""Boosting rounds: grow a tree per score, compute its leaf values, update the residuals."""

from __future__ import annotations

import warnings
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gtgbm import _core
from gtgbm.boosting.callbacks import AnyCallback, Callbacks, Progress
from gtgbm.boosting.checkpoint import NO_CHECKPOINT, Checkpoint
from gtgbm.boosting.evaluation import Evaluations
from gtgbm.boosting.model import HistoryEntry, Model
from gtgbm.boosting.problem import Problem
from gtgbm.boosting.sampling import Sampling
from gtgbm.exact import Bool, FitContext, RowWeights, newton_problem
from gtgbm.growing import GrowerState, GrownTree, TreeGrower, bounded_values, leaf_steps
from gtgbm.losses import Derivatives, QuantileLeaf


@dataclass(frozen=True)
class _Round:
    """Data that the trees of one round share."""

    derivatives: Derivatives
    weights: RowWeights
    allowed: Bool | None


@dataclass(frozen=True)
class BoosterState:
    """State of a fit between two rounds, from which it can go on.

    Scores and residuals are missing, since they follow from the trees.
    """

    model: Model
    grower: GrowerState
    is_done: bool


class Booster:
    """Adds trees to a model, one round after the other.

    Parameters
    ----------
    model : Model
        The model that trees are added to, in place; it may have trees already.
    saved : BoosterState or None
        State of an interrupted fit of the same problem, which is to go on.

    Attributes
    ----------
    is_done : bool
        Whether training has ended.
    """

    def __init__(
        self,
        problem: Problem,
        context: FitContext,
        grower: TreeGrower,
        model: Model,
        saved: BoosterState | None = None,
    ) -> None:
        # The table is not kept: where tasks share a table, it is a copy of a task's rows, which is now freed.
        self._context = context
        self._grower = grower
        self._model = model
        self._loss, self._targets, self._shard = problem.loss, problem.data.targets, problem.data.shard
        self._rounds = problem.settings.rounds
        self._l2 = problem.settings.tree.l2
        self._sampling = Sampling(self._rounds.subsample, self._rounds.colsample, problem.seed)
        self._n_columns = problem.data.table.shape[1]
        self._directions = problem.settings.columns.directions(self._n_columns)
        fixed = problem.settings.prices.units.fixed
        grower.resume(
            (entry.feature, entry.category) for entry in model.history if entry.feature not in fixed
        )
        if saved is not None:
            grower.restore(saved.grower)
            model.become(saved.model)
        known = {entry.feature for entry in model.history}
        self._unlisted_fixed = [column for column in fixed if column not in known]
        forest = model.forest()
        self._scores = forest.scores(problem.data.table, context.pool)
        self._evaluations = Evaluations(problem.loss, problem.evaluated, context)
        self._evaluations.start(forest, model.n_rounds, model.evaluations)
        model.evaluations = self._evaluations.values
        with context.timings.stage("residuals"):
            self._derivatives = self._loss.derivatives(self._scores, self._targets, context)
        self.is_done = model.n_rounds >= self._rounds.n_rounds or (saved is not None and saved.is_done)

    def run(self, callbacks: Sequence[AnyCallback] = (), checkpoint: Checkpoint = NO_CHECKPOINT) -> Model:
        """Train to the end; each round may be kept in a checkpoint."""
        listeners = Callbacks(list(callbacks))
        listeners.start(self.progress())
        while not self.is_done:
            self.add_round()
            wants_stop = listeners.after_round(self.progress())
            self.is_done = self._agreed(self.is_done or wants_stop)
            checkpoint.keep_round(self.state)
        model = self.finish()
        listeners.end(self.progress())
        return model

    def add_round(self) -> None:
        """Grow one tree for each score, and set `is_done` if it was the last round."""
        model, timings, rounds = self._model, self._context.timings, self._rounds
        t, n_scores = model.n_rounds, self._scores.shape[0]
        communicator = self._context.communicator
        weights = self._sampling.weights_of(t, self._targets.weights, self._shard, communicator)
        allowed = self._sampling.columns_of(t, self._n_columns)
        round_ = _Round(self._derivatives, weights, allowed)
        grown = [self._add_tree(k, round_) for k in range(n_scores)]
        with timings.stage("residuals"):
            self._derivatives = self._loss.derivatives(self._scores, self._targets, self._context)
        loss = self._derivatives.mean_loss
        model.training_losses.append(loss)
        # Fixed features are selected whether trees use them or not.
        model.history += [HistoryEntry(t, column, 0.0, 0.0, loss) for column in self._unlisted_fixed]
        self._unlisted_fixed = []
        model.history += _history_entries(t, grown, loss)
        if not np.isfinite(loss):
            raise ValueError(
                f"training diverged: the loss is {loss} after {t + 1} rounds; "
                f"learning_rate={rounds.learning_rate} is too large; use 1 or less"
            )
        with timings.stage("validation"):
            if self._evaluations.values:
                self._evaluations.add_round(model.forest(-n_scores))
        nothing_left = not any(tree.value.any() for tree in model.trees[-n_scores:])
        has_stalled = rounds.patience is not None and self._evaluations.rounds_since_best() >= rounds.patience
        # With row or column sampling, the next sample may allow splits where this one did not.
        nothing_left = nothing_left and not self._sampling.draws
        self.is_done = has_stalled or nothing_left or model.n_rounds >= rounds.n_rounds

    def state(self) -> BoosterState:
        """Return the state between two rounds."""
        return BoosterState(self._model, self._grower.state(), self.is_done)

    def _agreed(self, stops: bool) -> bool:
        """Return whether any worker stops; raise an error if workers grew different trees."""
        if self._context.is_alone:
            return stops
        digest = 0
        for tree in self._model.trees[-self._scores.shape[0] :]:
            for part in (tree.feature, tree.threshold, tree.left, tree.value, tree.n_rows):
                digest = zlib.crc32(part.tobytes(), digest)
        stop, highest, lowest = self._context.communicator.max(
            np.array([stops, digest, -digest], dtype=np.float64)
        )
        if highest != -lowest:
            raise RuntimeError(
                f"workers grew different trees in round {self._model.n_rounds}: give all of them the same "
                "versions of gtgbm and numpy, and processors of the same kind"
            )
        return bool(stop)

    def finish(self) -> Model:
        """Return the model, truncated to its best round if early stopping is on."""
        self._model.best_round = self._evaluations.best_round()
        if self._rounds.patience is not None and self._model.best_round is None:
            warnings.warn(
                f"{self._evaluations.deciding_name} was NaN after every round, so early stopping could not "
                "compare rounds: all rounds are kept",
                UserWarning,
                stacklevel=2,
            )
        if self._rounds.patience is not None and self._model.best_round is not None:
            self._model.keep_rounds(self._model.best_round)
        return self._model

    def _add_tree(self, k: int, round_: _Round) -> GrownTree:
        model, context, scores = self._model, self._context, self._scores[k]
        residuals, all_curvatures = round_.derivatives.residuals[k], round_.derivatives.curvatures
        curvatures = None if all_curvatures is None else all_curvatures[k]
        fitted, weights = residuals, round_.weights
        if self._rounds.criterion == "newton" and curvatures is not None:
            fitted, weights = newton_problem(residuals, curvatures, weights, context)
        grown = self._grower.grow(fitted, k, weights, round_.allowed)
        with context.timings.stage("leaves"):
            rule = self._loss.leaf
            errors = residuals
            if isinstance(rule, QuantileLeaf):
                errors = self._targets.y - self._targets.with_offset(scores[None])[0]
            steps = leaf_steps(grown, rule, errors, curvatures, round_.weights, self._l2, context)
            value = np.zeros(grown.tree.n_nodes)
            value[grown.leaves] = self._rounds.learning_rate * steps
            if self._directions.any():
                value = bounded_values(grown.tree, value, self._directions)
            step = value[grown.leaves]
            _core.add_to_leaves(context.pool, grown.rows, grown.begin, grown.end, step, scores)
        model.trees.append(replace(grown.tree, value=value))
        model.outputs.append(k)
        return grown

    def progress(self) -> Progress:
        """Return the current progress of training."""
        model, evaluations = self._model, self._evaluations
        n_rounds = model.n_rounds
        values = evaluations.after(n_rounds)
        last = next(reversed(values.values()), None)
        return Progress(
            n_rounds,
            self._rounds.n_rounds,
            model.training_losses[n_rounds - 1] if n_rounds else float("nan"),
            len(model.history),
            None if last is None else last[evaluations.deciding_name],
            values,
        )


def _history_entries(t: int, grown: Sequence[GrownTree], loss: float) -> list[HistoryEntry]:
    return [
        HistoryEntry(t, bought.column, bought.gain, bought.price, loss, bought.category)
        for tree in grown
        for bought in tree.purchases
    ]
