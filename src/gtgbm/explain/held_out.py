"""Rows that a fitted model is judged on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gtgbm.estimators import checked_qid, numbers, task_rows
from gtgbm.exact import F64
from gtgbm.explain.parts import is_multitask
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
        return metric

    def measured(self, metric: Metric, prediction: F64) -> float:
        """Metric of predictions; of several tasks the mean, each weighing as much as it has rows."""
        if not self.rows_of_task:
            return metric(self.y, prediction, None, self.qid)
        by_task = self.measured_by_task(metric, prediction)
        # A task of one class has no area under a curve.
        known = {name: value for name, value in by_task.items() if value == value}
        sizes = [self.rows_of_task[name][0].shape[0] for name in known]
        return float(np.average(list(known.values()), weights=sizes)) if known else float("nan")

    def measured_by_task(self, metric: Metric, prediction: F64) -> dict[Any, float]:
        """Metric of the predictions of each task."""
        return {name: metric(self.y[place], prediction[place]) for name, place in self.rows_of_task.items()}


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
