"""The headline: metrics with intervals beside a constant prediction, and a sentence about them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gtgbm.exact import F64
from gtgbm.explain import bootstrap_interval
from gtgbm.metrics import TargetKind
from gtgbm.report.metric_names import metric_label
from gtgbm.report.overview import number
from gtgbm.report.sample import Sample

_METRICS: dict[TargetKind, tuple[str, ...]] = {
    "binary": ("auc", "average_precision", "log_loss", "accuracy"),
    "multiclass": ("accuracy", "log_loss"),
    "numbers": ("rmse", "mae", "r2"),
    "relevance": ("ndcg", "ndcg@1", "ndcg@5", "ndcg@10", "mrr"),
}


@dataclass(frozen=True)
class Value:
    """A metric of the model, and of a model that uses no feature.

    Attributes
    ----------
    low, high : float
        Ends of the 95% interval; NaN if there are too few rows.
    without : float
        Of the best constant prediction; of a random order for rankings.
    of_tasks : float
        Mean over tasks, each weighing the same.
    """

    name: str
    label: str
    value: float
    low: float
    high: float
    without: float
    of_tasks: float
    greater_is_better: bool


def metric_table(sample: Sample, seed: int) -> list[Value]:
    """Measure the usual metrics, the report's own first."""
    rows, prediction, constant = sample.rows, sample.prediction, _constant(sample)
    found = []
    for name in dict.fromkeys([sample.metric.name, *_METRICS[rows.kind]]):
        metric = rows.metric(name)
        low, high = bootstrap_interval(rows, metric, prediction, seed)
        of_tasks = [one for one in rows.measured_by_task(metric, prediction).values() if one == one]
        found.append(
            Value(
                name,
                metric_label(name),
                rows.measured(metric, prediction),
                low,
                high,
                rows.measured(metric, constant),
                float(np.mean(of_tasks)) if of_tasks else float("nan"),
                metric.greater_is_better,
            )
        )
    return found


def _constant(sample: Sample) -> F64:
    """Predict the mean of these rows for each of them, of each task for its own."""
    y, prediction = sample.rows.y, sample.prediction
    constant = np.zeros_like(prediction)
    for place in list(sample.rows.rows_of_task.values()) or [(slice(None),)]:
        if sample.rows.kind == "multiclass":
            counts = np.bincount(y[place].astype(np.int64), minlength=prediction.shape[-1])
            constant[place] = counts / counts.sum()
        else:
            constant[place] = np.mean(y[place])
    return constant


def baseline_name(sample: Sample) -> str:
    """Name what the model is compared with."""
    if sample.rows.kind == "relevance":
        return "Random order"
    return "Constant per task" if sample.rows.rows_of_task else "Constant prediction"


def averaging(sample: Sample) -> str:
    """How metrics of several tasks are taken together; empty for one task."""
    if not sample.rows.rows_of_task:
        return ""
    if sample.rows.is_mean_of_tasks:
        return f"as the mean over {len(sample.rows.rows_of_task):,} tasks"
    return "over the rows of all tasks together"


def verdict(sample: Sample, value: Value, model: Any, n_columns: int) -> str:
    """Say in a few sentences how good a model is, with how many columns and why, and compared with what."""
    return " ".join([_score(sample, value, model.selected_features_.shape[0], n_columns), *_size(model)])


def _size(model: Any) -> list[str]:
    """Say why a model that chose its number of features has so many."""
    if not hasattr(model, "selection_path_"):
        return []
    path = model.selection_path_
    return [f"The number of features was chosen by cross-validation: {path.verdict()}"]


def _score(sample: Sample, value: Value, n_selected: int, n_columns: int) -> str:
    columns = f"{n_selected:,} of {n_columns:,} column{'' if n_columns == 1 else 's'}"
    if value.value != value.value:
        rows = sample.source.rows(sample.n_rows)
        return f"The model uses {columns}. {value.label} is not defined on the {rows}."
    interval = (
        f" (95% interval {number(value.low)} to {number(value.high)})" if value.low == value.low else ""
    )
    how = f" {averaging(sample)}," if averaging(sample) else ""
    baseline = {
        "Random order": "A random order reaches",
        "Constant per task": "Predicting the same value for all rows of a task gives",
    }.get(baseline_name(sample), "Predicting the same value for every row gives")
    return (
        f"Using {columns}, the model reaches {value.label} {number(value.value)}{interval}{how} on "
        f"{sample.source.rows(sample.n_rows)}. {baseline} {number(value.without)}{_judgement(value)}."
    )


def _judgement(value: Value) -> str:
    worst, best = (value.low, value.high) if value.greater_is_better else (value.high, value.low)
    if worst != worst or value.without != value.without:
        return ""
    sign = 1.0 if value.greater_is_better else -1.0
    if sign * (worst - value.without) > 0:
        return "; the model is clearly better"
    if sign * (best - value.without) < 0:
        return "; the model is worse than that"
    return ", which lies within the interval: the model is not clearly better"
