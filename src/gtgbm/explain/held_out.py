"""Rows that a fitted model is judged on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gtgbm.estimators import checked_qid, numbers, task_rows
from gtgbm.exact import F64
from gtgbm.explain.parts import is_multitask
from gtgbm.explain.ties import expected_mrr
from gtgbm.metrics import Metric, TargetKind, metric_of

_USUAL: dict[TargetKind, str] = {
    "binary": "auc",
    "multiclass": "accuracy",
    "numbers": "rmse",
    "relevance": "ndcg@10",
}


@dataclass(frozen=True)
class HeldOut:
    """Rows with known targets, and how predictions of them are measured.

    Attributes
    ----------
    y : ndarray of float64, shape (n,) or (n, T)
        Numbers; class numbers for classes; NaN where a row has no target of a task.
    kind : str
        What the targets are: "binary", "multiclass", "numbers" or "relevance".
    qid : ndarray, shape (n,), or None
    rows_of_task : dict
        Rows and, for targets by column, the column of each task; empty for models of one task.
    """

    y: F64
    kind: TargetKind
    qid: NDArray[Any] | None
    rows_of_task: dict[Any, tuple[Any, ...]]

    @classmethod
    def of(cls, estimator: Any, y: Any, *, qid: Any = None, task: Any = None) -> HeldOut:
        """Turn the targets a user has into what a fitted model's predictions are compared with."""
        kind = kind_of(estimator)
        shape = np.asarray(y).shape
        if len(shape) not in (1, 2) or (len(shape) == 2 and not is_multitask(estimator)):
            raise ValueError(f"y has shape {shape}: give one target per row, shape (n,)")
        places: dict[Any, tuple[Any, ...]] = {}
        if is_multitask(estimator):
            found = task_rows(y, task, shape[0], "y", "task")
            places = {
                name: (rows,) if len(shape) == 1 else (rows, k)
                for k, (name, rows) in enumerate(zip(found.names, found.rows, strict=True))
            }
        qid = checked_qid(qid, shape[0]) if kind == "relevance" else None
        return cls(_target(estimator, y), kind, qid, places)

    def metric(self, name: str | None = None) -> Metric:
        """Return a metric by its name, or the usual one for these targets."""
        metric = metric_of(_USUAL[self.kind] if name is None else name)
        if self.kind not in metric.kinds:
            raise ValueError(
                f"metric={name!r} is not for targets of this kind ({self.kind}): leave it out for "
                f"{_USUAL[self.kind]!r}, or see gtgbm.metrics"
            )
        base, _, places = metric.name.partition("@")
        if base == "mrr":
            # Tied scores, such as those of a constant, are worth what a random order is.
            return replace(metric, compute=partial(expected_mrr, k=int(places) if places else None))
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
            found[name] = float("nan") if is_empty else metric(self.y[place], prediction[place], of_rows)
        return found

    def measured_by_query(self, metric: Metric, prediction: F64) -> F64:
        """Metric of the predictions of each query; NaN where it is not defined."""
        qid = np.asarray(self.qid)
        order = np.argsort(qid, kind="stable")
        _, begins = np.unique(qid[order], return_index=True)
        queries = np.split(order, begins[1:])
        return np.array([metric(self.y[rows], prediction[rows], None, qid[rows]) for rows in queries])


def kind_of(estimator: Any) -> TargetKind:
    """Return what the targets of a fitted model are."""
    kind: TargetKind = estimator._kind_of_target
    return kind


def _target(estimator: Any, y: Any) -> F64:
    """Numbers of targets, class numbers of labels."""
    if not hasattr(estimator, "classes_"):
        values = np.asarray(y)
        return values.astype(np.float64) if values.ndim == 2 else numbers(y, "y")
    labels, classes = np.asarray(y), estimator.classes_
    absent = np.isnan(labels) if labels.dtype.kind == "f" else np.zeros(labels.shape, dtype=np.bool_)
    unknown = np.setdiff1d(labels[~absent], classes)
    if unknown.shape[0] or (absent.any() and labels.ndim == 1):
        raise ValueError(
            f"y holds labels that the model does not know ({unknown[:5].tolist() or 'NaN'}); it knows "
            f"{classes[:10].tolist()}: leave those rows out"
        )
    return np.where(absent, np.nan, np.searchsorted(classes, np.where(absent, classes[0], labels)))
