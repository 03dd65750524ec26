"""Evaluates losses and metrics on validation sets after each round, for early stopping."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from gtgbm.boosting.dataset import Dataset
from gtgbm.boosting.problem import Evaluated
from gtgbm.data import ParquetNumbers
from gtgbm.exact import F64, FitContext, assemble, lend
from gtgbm.losses import Loss
from gtgbm.tree import Forest


class Evaluations:
    """Losses and metrics of each validation set after each round.

    Attributes
    ----------
    values : list of dict of list of float
        For each validation set, the values after each round by name of the loss or metric.
    """

    def __init__(self, loss: Loss, evaluated: Evaluated, context: FitContext) -> None:
        self._loss = loss
        self._loss_name, self._metrics = evaluated.loss_name, evaluated.metrics
        self._validations = evaluated.validations
        # Every round adds trees on columns that earlier ones used.
        self._tables = [
            table.keeping() if isinstance(table, ParquetNumbers) else table
            for table in (validation.table for validation in evaluated.validations)
        ]
        self._context = context
        # Metrics such as AUC are no sums over rows: each worker computes them from the rows of all.
        self._whole = [data.whole_targets(context) if self._metrics else None for data in self._validations]
        self.values: list[dict[str, list[float]]] = []

    def start(self, model: Forest, n_rounds: int, earlier: Sequence[dict[str, list[float]]]) -> None:
        """Start from the scores of a model with `n_rounds` rounds; `earlier` holds the values of these."""
        pool = self._context.pool
        self._scores = [model.scores(table, pool) for table in self._tables]
        # A metric with the name of the loss replaces it.
        names = dict.fromkeys([self._loss_name, *(metric.name for metric in self._metrics)])
        self.values = [{name: [] for name in names} for _ in self._validations]
        for of_set, earlier_of_set in zip(self.values, earlier, strict=False):
            for name, values in of_set.items():
                values += earlier_of_set.get(name, [])
        for of_set in self.values:
            for values in of_set.values():
                # Values of rounds before the metric was first evaluated are not known.
                values[:0] = [math.nan] * (n_rounds - len(values))

    def add_round(self, trees: Forest) -> None:
        """Add the trees of one round, and evaluate losses and metrics."""
        parts = zip(self._validations, self._tables, self._whole, self._scores, self.values, strict=True)
        for validation, table, whole, scores, values in parts:
            trees.add_to(scores, table, self._context.pool)
            targets = validation.targets
            if all(metric.name != self._loss_name for metric in self._metrics):
                values[self._loss_name].append(
                    self._loss.derivatives(scores, targets, self._context).mean_loss
                )
            if whole is None:
                continue
            prediction = self._loss.predict(self._scores_of_all(validation, scores))
            weight = whole.weights.as_floats()
            for metric in self._metrics:
                given = whole.y, prediction, weight, whole.queries
                values[metric.name].append(lend(metric.compute, f"eval_metric {metric.name!r}", *given))

    def _scores_of_all(self, validation: Dataset, scores: F64) -> F64:
        """Return the scores of all workers' rows of a validation set, with their offsets, shape (k, n)."""
        scores = validation.targets.with_offset(scores)
        if self._context.is_alone:
            return scores
        shard = validation.shard
        return assemble(scores, shard.ids, shard.n_total, self._context.communicator)

    @property
    def deciding(self) -> F64 | None:
        """Values that early stopping minimises: the last metric or the loss of the last validation set."""
        if not self.values:
            return None
        values = np.array(self.values[-1][self.deciding_name])
        return -values if self._metrics and self._metrics[-1].greater_is_better else values

    def after(self, n_rounds: int) -> dict[str, dict[str, float]]:
        """Return the values after `n_rounds` rounds, by validation set and name."""
        return {
            f"validation_{k}": {name: values[n_rounds - 1] for name, values in of_set.items()}
            for k, of_set in enumerate(self.values)
            if n_rounds
        }

    @property
    def deciding_name(self) -> str:
        """Name of the metric or loss that early stopping uses."""
        return self._metrics[-1].name if self._metrics else self._loss_name

    def best_round(self) -> int | None:
        """Return the number of rounds of the best model; None without validation results."""
        deciding = self.deciding
        if deciding is None or np.isnan(deciding).all():
            return None
        return int(np.argmin(np.where(np.isnan(deciding), np.inf, deciding))) + 1

    def rounds_since_best(self) -> int:
        """Return the number of rounds since the best one."""
        best, deciding = self.best_round(), self.deciding
        return 0 if best is None or deciding is None else int(deciding.shape[0]) - best
