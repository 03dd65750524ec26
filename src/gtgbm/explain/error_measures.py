"""How bad the scores of a model are: its loss, or a metric of its predictions, of all rows and by task."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from gtgbm.estimators import HeldOut, Part, Parts
from gtgbm.exact import F64, FitContext, RowWeights
from gtgbm.losses import Loss, Queries, Targets
from gtgbm.metrics import Metric


class ErrorMeasure(Protocol):
    """A loss or metric as a number that is larger for worse scores.

    Attributes
    ----------
    name : str
        Name of the loss or metric.
    sign : float
        -1.0 for a metric whose greater values are better, which is negated, else 1.0.
    tasks : list
        The tasks, in the order of ``errors``; empty for models of a single task.
    """

    name: str
    sign: float
    tasks: list[Any]

    def errors(self, scores: Sequence[F64]) -> F64:
        """Return the error of all rows, then of each task, shape (1 + tasks,).

        Parameters
        ----------
        scores : sequence of ndarray of float64, shape (k, m)
            Of each part of the model.
        """
        ...


def error_measure(model: Any, parts: Parts, rows: HeldOut, metric: Any, weight: F64 | None) -> ErrorMeasure:
    """Return the measure for a metric as ``HeldOut.metric`` takes it, or for None the loss of the model."""
    if metric is None:
        return _LossMeasure(model._loss_name, parts, rows, weight)
    return _MetricMeasure(parts, rows, rows.metric(metric), weight)


class _MetricMeasure:
    """A metric of predictions."""

    def __init__(self, parts: Parts, rows: HeldOut, metric: Metric, weight: F64 | None) -> None:
        self._parts, self._rows, self._metric, self._weight = parts, rows, metric, weight
        self.name, self.tasks = metric.name, list(rows.rows_of_task)
        self.sign = -1.0 if metric.greater_is_better else 1.0

    def errors(self, scores: Sequence[F64]) -> F64:
        """Measure the predictions."""
        prediction = self._parts.prediction(scores)
        total = self._rows.measured(self._metric, prediction, self._weight)
        by_task = self._rows.measured_by_task(self._metric, prediction, self._weight)
        return self.sign * np.array([total, *by_task.values()])


class _LossMeasure:
    """The mean loss; over tasks it is averaged as ``HeldOut.measured`` does with metrics."""

    def __init__(self, name: str, parts: Parts, rows: HeldOut, weight: F64 | None) -> None:
        self.name, self.sign, self.tasks = name, 1.0, list(rows.rows_of_task)
        # A copy, since a ranking loss keeps what it computes from the targets.
        self._parts, self._loss = parts, copy(parts.loss)
        places = list(rows.rows_of_task.values()) or [(slice(None),)]
        self._terms = [
            _LossTerm.of(part, rows, place, weight) for part, place in zip(parts.parts, places, strict=True)
        ]
        self._shares = np.array([1.0 if rows.is_mean_of_tasks else term.weight for term in self._terms])

    def errors(self, scores: Sequence[F64]) -> F64:
        """Compute the loss of each part."""
        terms = enumerate(zip(self._terms, scores, strict=True))
        losses = np.array(
            [term.mean_loss(self._loss, self._parts.scores_of_all(k, own)) for k, (term, own) in terms]
        )
        known = ~np.isnan(losses)
        total = np.average(losses[known], weights=self._shares[known]) if known.any() else np.nan
        return np.array([total, *losses[: len(self.tasks)]])


@dataclass(frozen=True)
class _LossTerm:
    """The rows of a part that count in the loss.

    Attributes
    ----------
    rows : index
        Columns of the part's scores that have targets.
    targets : Targets or None
        None if the rows weigh nothing.
    weight : float
        Sum of the weights of the rows.
    """

    rows: Any
    targets: Targets | None
    weight: float
    context: FitContext

    @classmethod
    def of(cls, part: Part, rows: HeldOut, place: tuple[Any, ...], weight: F64 | None) -> _LossTerm:
        y = np.ascontiguousarray(rows.y[place])
        context = FitContext(part.pool)
        # Where each task has a column of targets, all parts have all rows, else the rows of their task.
        index = place[0] if rows.is_mean_of_tasks else slice(None)
        queries = None if rows.qid is None else Queries.of(rows.qid[place[0]])
        if weight is None:
            return cls(index, Targets(y, RowWeights.equal(y.shape[0]), queries), float(y.shape[0]), context)
        of_rows = weight[place[0]]
        if not of_rows.any():
            return cls(index, None, 0.0, context)
        return cls(index, Targets(y, RowWeights.of(of_rows), queries), float(of_rows.sum()), context)

    def mean_loss(self, loss: Loss, scores: F64) -> float:
        """Return the weighted mean of the loss; NaN if the rows weigh nothing."""
        if self.targets is None:
            return float("nan")
        counted = np.ascontiguousarray(scores[:, self.rows])
        return loss.derivatives(counted, self.targets, self.context).mean_loss
