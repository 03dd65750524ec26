"""Held-out rows, and metrics of predictions for them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gtgbm.estimators.parts import is_multitask
from gtgbm.estimators.rows import checked_qid
from gtgbm.estimators.rows_of_tasks import queries_of_rows, task_rows
from gtgbm.estimators.targets import numbers
from gtgbm.exact import F64
from gtgbm.metrics import Metric, TargetKind, metric_of
from gtgbm.parameters import PARAMETERS, Context

_DEFAULT_METRICS: dict[TargetKind, str] = {
    "binary": "auc",
    "multiclass": "accuracy",
    "numbers": "rmse",
    "relevance": "ndcg@10",
}


@dataclass(frozen=True)
class HeldOut:
    """Targets of held-out rows.

    Attributes
    ----------
    y : ndarray of float64, shape (n,) or (n, T)
        Targets as numbers; class labels as positions in ``classes_``; NaN if a row has no target of a task.
    kind : str
        Kind of the targets: "binary", "multiclass", "numbers" or "relevance".
    qid : ndarray, shape (n,), or None
        Query of each row; where rows name their task, of two tasks never the same.
    rows_of_task : dict
        Index into `y` by task: rows and, for one target column per task, the column. Empty for single-task
        models.
    """

    y: F64
    kind: TargetKind
    qid: NDArray[Any] | None
    rows_of_task: dict[Any, tuple[Any, ...]]

    @classmethod
    def of(cls, estimator: Any, y: Any, *, qid: Any = None, task: Any = None) -> HeldOut:
        """Validate the targets of held-out rows for a fitted model, and convert them to numbers."""
        kind = kind_of(estimator)
        shape = np.asarray(y).shape
        if len(shape) not in (1, 2) or (len(shape) == 2 and not is_multitask(estimator)):
            raise ValueError(f"y has shape {shape}: give one target per row, shape (n,)")
        places: dict[Any, tuple[Any, ...]] = {}
        if is_multitask(estimator):
            by_task = task_rows(y, task, shape[0], "y", "task")
            places = {
                name: (rows,) if len(shape) == 1 else (rows, k)
                for k, (name, rows) in enumerate(zip(by_task.names, by_task.rows, strict=True))
            }
        qid = checked_qid(qid, shape[0]) if kind == "relevance" else None
        if qid is not None and places and len(shape) == 1:
            # Documents are ranked within a query and task.
            qid = queries_of_rows(qid, [rows for (rows,) in places.values()])
        return cls(_target(estimator, y), kind, qid, places)

    def metric(self, name: Any = None) -> Metric:
        """Return a metric by name or for a callable, or the default metric for this kind of targets."""
        if name is not None and not isinstance(name, str):
            kind = PARAMETERS["eval_metric"].kind
            given: list[Metric] = kind.check("metric", [name], Context(target=self.kind))
            return given[0]
        metric = metric_of(_DEFAULT_METRICS[self.kind] if name is None else name)
        if self.kind not in metric.kinds:
            raise ValueError(
                f"metric={name!r} is not for targets of this kind ({self.kind}): leave it out for "
                f"{_DEFAULT_METRICS[self.kind]!r}, or see gtgbm.metrics"
            )
        return metric

    @property
    def is_mean_of_tasks(self) -> bool:
        """Whether a metric is the mean over tasks: where each task has a column of targets, as ``score``."""
        return self.y.ndim == 2

    def measured(self, metric: Metric, prediction: F64, weight: F64 | None = None) -> float:
        """Metric of predictions, of several tasks as ``score`` has it.

        Where rows name their task, it is the metric of all rows together; where each task has a column of
        targets, the mean over tasks, each weighing the same.

        Parameters
        ----------
        weight : ndarray of float64, shape (n,), optional
        """
        if not self.is_mean_of_tasks:
            return metric(self.y, prediction, weight, self.qid)
        # A task of one class has no area under a curve.
        by_task = self.measured_by_task(metric, prediction, weight).values()
        known = [value for value in by_task if value == value]
        return float(np.mean(known)) if known else float("nan")

    def measured_by_task(
        self, metric: Metric, prediction: F64, weight: F64 | None = None
    ) -> dict[Any, float]:
        """Metric of the predictions of each task; NaN for tasks whose rows weigh nothing."""
        found = {}
        for name, place in self.rows_of_task.items():
            of_rows = None if weight is None else weight[place[0]]
            is_empty = not place[0].shape[0] or (of_rows is not None and not of_rows.any())
            queries = None if self.qid is None else self.qid[place[0]]
            found[name] = (
                float("nan") if is_empty else metric(self.y[place], prediction[place], of_rows, queries)
            )
        return found

    def measured_by_query(self, metric: Metric, prediction: F64) -> F64:
        """Metric of the predictions of each query, and task if each has a column; NaN if not defined.

        Returns
        -------
        ndarray of float64, shape (queries,) or (queries, T)
        """
        ids, number = np.unique(np.asarray(self.qid), return_inverse=True)
        columns = list(self.rows_of_task.values()) if self.is_mean_of_tasks else [(np.arange(number.size),)]
        found = np.full((ids.shape[0], len(columns)), np.nan)
        for k, place in enumerate(columns):
            y, predicted, queries = self.y[place], prediction[place], number.ravel()[place[0]]
            order = np.argsort(queries, kind="stable")
            present, begins = np.unique(queries[order], return_index=True)
            for query, rows in zip(present.tolist(), np.split(order, begins[1:]), strict=True):
                found[query, k] = metric(y[rows], predicted[rows], None, queries[rows])
        return found if self.is_mean_of_tasks else found[:, 0]

    def pooled(self, prediction: F64) -> tuple[HeldOut, F64]:
        """Return targets and predictions of all tasks one below the other, of rows that have a target.

        Queries of different tasks are different ones.
        """
        if not self.is_mean_of_tasks:
            return self, prediction
        places = list(self.rows_of_task.values())
        qid = None
        if self.qid is not None:
            at = np.concatenate([place[0] for place in places])
            ends = np.cumsum([0, *(place[0].shape[0] for place in places)])
            rows = [np.arange(a, b) for a, b in pairwise(ends.tolist())]
            qid = queries_of_rows(self.qid[at], rows)
        y = np.concatenate([self.y[place] for place in places])
        return HeldOut(y, self.kind, qid, {}), np.concatenate([prediction[place] for place in places])


def kind_of(estimator: Any) -> TargetKind:
    """Return the kind of the targets of a fitted model."""
    kind: TargetKind = estimator._kind_of_targets()
    return kind


def _target(estimator: Any, y: Any) -> F64:
    """Return targets as numbers, class labels as positions in ``classes_``."""
    if not hasattr(estimator, "classes_"):
        values = np.asarray(y)
        return values.astype(np.float64) if values.ndim == 2 else numbers(y, "y")
    labels, classes = np.asarray(y), estimator.classes_
    is_missing = np.isnan(labels) if labels.dtype.kind == "f" else np.zeros(labels.shape, dtype=np.bool_)
    unknown = np.setdiff1d(labels[~is_missing], classes)
    if unknown.shape[0] or (is_missing.any() and labels.ndim == 1):
        raise ValueError(
            f"y holds labels that are not classes of the model ({unknown[:5].tolist() or 'NaN'}); its "
            f"classes are {classes[:10].tolist()}: leave those rows out"
        )
    return np.where(is_missing, np.nan, np.searchsorted(classes, np.where(is_missing, classes[0], labels)))
