"""Held-out rows, and metrics of predictions for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gtgbm.estimators import checked_qid, numbers, task_rows
from gtgbm.exact import F64
from gtgbm.explain.parts import is_multitask
from gtgbm.metrics import Metric, TargetKind, metric_of

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
        return cls(_target(estimator, y), kind, qid, places)

    def metric(self, name: str | None = None) -> Metric:
        """Return a metric by name, or the default metric for this kind of targets."""
        metric = metric_of(_DEFAULT_METRICS[self.kind] if name is None else name)
        if self.kind not in metric.kinds:
            raise ValueError(
                f"metric={name!r} is not for targets of this kind ({self.kind}): leave it out for "
                f"{_DEFAULT_METRICS[self.kind]!r}, or see gtgbm.metrics"
            )
        return metric

    def measured(self, metric: Metric, prediction: F64) -> float:
        """Return the metric of predictions; for several tasks the mean, weighted by rows."""
        if not self.rows_of_task:
            return metric(self.y, prediction, None, self.qid)
        by_task = self.measured_by_task(metric, prediction)
        # The AUC of a task with rows of one class only is NaN.
        known = {name: value for name, value in by_task.items() if value == value}
        sizes = [self.rows_of_task[name][0].shape[0] for name in known]
        return float(np.average(list(known.values()), weights=sizes)) if known else float("nan")

    def measured_by_task(self, metric: Metric, prediction: F64) -> dict[Any, float]:
        """Return the metric of the predictions of each task."""
        return {name: metric(self.y[place], prediction[place]) for name, place in self.rows_of_task.items()}


def kind_of(estimator: Any) -> TargetKind:
    """Return the kind of the targets of a fitted model."""
    kind: TargetKind = estimator._kind_of_target
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
