"""How far a metric would move on other rows of the same kind."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gtgbm.estimators import HeldOut
from gtgbm.exact import F64
from gtgbm.metrics import Metric

N_RESAMPLES = 300
_FEWEST = 20
"""Of fewer rows or queries a bootstrap interval says nothing."""

Interval = tuple[float, float]
UNKNOWN: Interval = (float("nan"), float("nan"))


def bootstrap_interval(rows: HeldOut, metric: Metric, prediction: F64, seed: int = 0) -> Interval:
    """Return a 95% percentile bootstrap interval of a metric.

    Rows are resampled with replacement; for rankings, whole queries are. The model stays as it is: the
    interval says how much the metric depends on which rows were held out, not on which were trained on.

    Returns
    -------
    tuple of float
        Lower and upper end; NaN where there are fewer than 20 rows or queries.
    """
    rng = np.random.default_rng(seed)
    if rows.qid is not None:
        of_query = rows.measured_by_query(metric, prediction)
        of_query = of_query[:, None] if of_query.ndim == 1 else of_query
        of_query = of_query[~np.isnan(of_query).all(axis=1)]
        n = of_query.shape[0]
        if n < _FEWEST:
            return UNKNOWN
        return _ends([_mean_of_tasks(of_query[rng.integers(0, n, n)]) for _ in range(N_RESAMPLES)])
    n = rows.y.shape[0]
    if n < _FEWEST:
        return UNKNOWN
    if rows.y.ndim == prediction.ndim == 1:
        # Metrics that sort by the prediction find it sorted.
        order = np.argsort(-prediction, kind="stable")
        rows, prediction = replace(rows, y=rows.y[order], rows_of_task={}), prediction[order]
    found = []
    for _ in range(N_RESAMPLES):
        # A row drawn three times is a row of weight 3.
        weight = np.bincount(rng.integers(0, n, n), minlength=n).astype(np.float64)
        found.append(rows.measured(metric, prediction, weight))
    return _ends(found)


def _mean_of_tasks(values: F64) -> float:
    """Return the mean over tasks of the mean over queries, shape (queries, T); NaN counts nowhere."""
    known = ~np.isnan(values)
    n_known = known.sum(axis=0)
    sums = np.where(known, values, 0.0).sum(axis=0)
    return float(np.mean(sums[n_known > 0] / n_known[n_known > 0]))


def _ends(values: list[float]) -> Interval:
    known = np.array(values)[~np.isnan(values)]
    if not known.shape[0]:
        return UNKNOWN
    low, high = np.quantile(known, [0.025, 0.975])
    return float(low), float(high)
