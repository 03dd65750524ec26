"""Metrics of predictions, with sample weights and queries.

``METRICS`` holds them by name; ``metric_of("ndcg@10")`` returns one that is truncated at rank 10. Call a
metric with ``(y, prediction, weight=None, qid=None)``: targets, predictions and weights of shape (n,), and
for ranking metrics the query id of each row. Gains are ``2 ** relevance - 1``; documents with equal scores
count as the mean over their orders.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any, Literal

import numpy as np
from scipy.special import gammaln

from gtgbm.exact import F64, I64
from gtgbm.losses import Queries, dcg, dcg_gains, ideal_dcg, mean_of_ties, sum_of_queries

TargetKind = Literal["binary", "multiclass", "numbers", "relevance"]

_NUMBERS: tuple[TargetKind, ...] = ("binary", "numbers", "relevance")
_TINY = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Metric:
    """A metric that can be evaluated during training.

    Attributes
    ----------
    name : str
    compute : callable
        ``compute(y, prediction, weight, queries)``, where `weight` is an array, never None.
    greater_is_better : bool
    kinds : tuple of str
        Kinds of targets it is defined for.
    """

    name: str
    compute: Callable[[F64, F64, F64, Any], float]
    greater_is_better: bool
    kinds: tuple[TargetKind, ...] = ("binary", "multiclass", "numbers", "relevance")

    @property
    def is_of_queries(self) -> bool:
        """Whether it is a ranking metric, which needs queries."""
        return self.kinds == ("relevance",)

    def __call__(self, y: Any, prediction: Any, weight: Any = None, qid: Any = None) -> float:
        """Compute the metric from plain arrays."""
        y, prediction = np.asarray(y, dtype=np.float64), np.asarray(prediction, dtype=np.float64)
        weight = np.ones(y.shape[0]) if weight is None else np.asarray(weight, dtype=np.float64)
        if not y.shape[0] == prediction.shape[0] == weight.shape[0]:
            raise ValueError(
                f"y has {y.shape[0]} values, prediction {prediction.shape[0]}, weight {weight.shape[0]}; "
                "they must match"
            )
        if self.is_of_queries and qid is None:
            raise ValueError(f"metric {self.name!r} needs qid, the query of each row")
        queries = None if qid is None else Queries.of(np.asarray(qid))
        return self.compute(y, prediction, weight, queries)


@dataclass(frozen=True)
class _Negative:
    """The negative of a metric."""

    metric: Metric

    def __call__(self, y: F64, prediction: F64, weight: F64, queries: Any = None) -> float:
        return -self.metric.compute(y, prediction, weight, queries)


def auc(y: F64, prediction: F64, weight: F64, queries: Any = None) -> float:
    """Return the area under the ROC curve for targets 0 and 1; NaN if there is only one class."""
    del queries
    order, tie_end = _by_descending(prediction)
    positive = np.cumsum((y * weight)[order])[tie_end]
    negative = np.cumsum(((1.0 - y) * weight)[order])[tie_end]
    if positive[-1] <= 0.0 or negative[-1] <= 0.0:
        return float("nan")
    x, height = np.concatenate([[0.0], negative]), np.concatenate([[0.0], positive])
    return float(np.sum(np.diff(x) * (height[1:] + height[:-1])) / 2.0 / (positive[-1] * negative[-1]))


def average_precision(y: F64, prediction: F64, weight: F64, queries: Any = None) -> float:
    """Return the area under the precision-recall step curve; NaN without positive targets."""
    del queries
    order, tie_end = _by_descending(prediction)
    positive = np.cumsum((y * weight)[order])[tie_end]
    every = np.cumsum(weight[order])[tie_end]
    if positive[-1] <= 0.0:
        return float("nan")
    recall = np.diff(positive, prepend=0.0) / positive[-1]
    return float(np.sum(recall * positive / np.where(every > 0.0, every, 1.0)))


def log_loss(y: F64, prediction: F64, weight: F64, queries: Any = None) -> float:
    """Return the mean of -log(probability of the true class); predictions (n,) or (n, classes)."""
    del queries
    if prediction.ndim == 1:
        p = np.where(y > 0.5, prediction, 1.0 - prediction)
    else:
        p = prediction[np.arange(y.shape[0]), y.astype(np.int64)] / prediction.sum(axis=1)
    return float(np.average(-np.log(np.clip(p, _TINY, 1.0)), weights=weight))


def accuracy(y: F64, prediction: F64, weight: F64, queries: Any = None) -> float:
    """Return the share of rows whose most probable class is the true class."""
    del queries
    chosen = np.argmax(prediction, axis=1) if prediction.ndim == 2 else (prediction > 0.5).astype(np.int64)
    return float(np.average(chosen == y, weights=weight))


def rmse(y: F64, prediction: F64, weight: F64, queries: Any = None) -> float:
    """Return the root mean squared error."""
    del queries
    return float(np.sqrt(np.average((y - prediction) ** 2, weights=weight)))


def mse(y: F64, prediction: F64, weight: F64, queries: Any = None) -> float:
    """Mean squared error."""
    del queries
    return float(np.average((y - prediction) ** 2, weights=weight))


def mae(y: F64, prediction: F64, weight: F64, queries: Any = None) -> float:
    """Return the mean absolute error."""
    del queries
    return float(np.average(np.abs(y - prediction), weights=weight))


def r2(y: F64, prediction: F64, weight: F64, queries: Any = None) -> float:
    """Return the share of the variance explained; NaN for constant targets."""
    del queries
    spread = np.average((y - np.average(y, weights=weight)) ** 2, weights=weight)
    return (
        float(1.0 - np.average((y - prediction) ** 2, weights=weight) / spread)
        if spread > 0
        else float("nan")
    )


def poisson_deviance(y: F64, prediction: F64, weight: F64, queries: Any = None) -> float:
    """Return the mean Poisson deviance of predicted means."""
    del queries
    if y.min(initial=0.0) < 0.0 or prediction.min(initial=0.0) < 0.0:
        raise ValueError("poisson_deviance needs targets and predictions of at least 0; some are negative")
    mean = np.maximum(prediction, _TINY)
    logs = np.where(y > 0.0, y * np.log(np.where(y > 0.0, y, 1.0) / mean), 0.0)
    return float(np.average(2.0 * (logs - y + mean), weights=weight))


def ndcg(y: F64, prediction: F64, weight: F64, queries: Any = None, k: int | None = None) -> float:
    """Return the mean NDCG of queries; queries without a relevant document are left out."""
    gain = dcg_gains(y)
    ideal = ideal_dcg(queries, y, k)
    counted = ideal > 0.0
    ndcgs = dcg(queries, gain, prediction, k)[counted] / ideal[counted]
    return _mean_of_queries(ndcgs, queries, weight, counted)


def mrr(y: F64, prediction: F64, weight: F64, queries: Any = None, k: int | None = None) -> float:
    """Return the mean of 1 / rank of the first relevant document, or 0 if that rank is beyond k.

    Ties are worth the mean over all orders of the tied documents, so that a constant prediction scores what
    a random order does. Queries without a relevant document count as 0.
    """
    number, n_queries = queries.number, len(queries)
    score, is_relevant = prediction[queries.rows], y[queries.rows] > 0.0
    best = np.full(n_queries, -np.inf)
    np.maximum.at(best, number[is_relevant], score[is_relevant])
    n_before = np.bincount(number[score > best[number]], minlength=n_queries)
    is_tied = score == best[number]
    n_hits = np.bincount(number[is_tied & is_relevant], minlength=n_queries)
    # One entry for each place that a document of the best relevant score can have in its query.
    query = number[is_tied & (n_hits[number] > 0)]
    n_tied = np.bincount(query, minlength=n_queries)
    place = np.arange(query.shape[0]) - (np.cumsum(n_tied) - n_tied)[query]
    chance = _chance_of_first(place, n_hits[query], n_tied[query])
    rank = n_before[query] + place + 1
    worth = chance / rank if k is None else np.where(rank <= k, chance / rank, 0.0)
    reciprocal_ranks = np.zeros(n_queries)
    np.add.at(reciprocal_ranks, query, worth)
    return _mean_of_queries(reciprocal_ranks, queries, weight, np.ones(n_queries, dtype=np.bool_))


def precision(y: F64, prediction: F64, weight: F64, queries: Any = None, k: int | None = None) -> float:
    """Return the mean share of relevant documents among the first k, or all if a query has fewer."""
    rows, place = queries.ranked(prediction)
    first = np.ones(place.shape[0]) if k is None else (place < k).astype(np.float64)
    shares = mean_of_ties(queries, prediction[rows], first)
    hits = sum_of_queries(queries, (y[rows] > 0.0) * shares)
    return _mean_of_queries(
        hits / sum_of_queries(queries, first), queries, weight, np.ones(len(queries), dtype=np.bool_)
    )


METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric("auc", auc, True, ("binary",)),
        Metric("average_precision", average_precision, True, ("binary",)),
        Metric("log_loss", log_loss, False, ("binary", "multiclass")),
        Metric("accuracy", accuracy, True, ("binary", "multiclass")),
        Metric("rmse", rmse, False, _NUMBERS),
        Metric("mse", mse, False, _NUMBERS),
        Metric("mae", mae, False, _NUMBERS),
        Metric("r2", r2, True, _NUMBERS),
        Metric("poisson_deviance", poisson_deviance, False, ("numbers",)),
        Metric("ndcg", ndcg, True, ("relevance",)),
        Metric("mrr", mrr, True, ("relevance",)),
        Metric("precision", precision, True, ("relevance",)),
    )
}


_ALIASES = {
    "acc": "accuracy",
    "accuracy_score": "accuracy",
    "average_precision_score": "average_precision",
    "binary_logloss": "log_loss",
    "cross_entropy": "log_loss",
    "l1": "mae",
    "l2": "mse",
    "l2_root": "rmse",
    "logloss": "log_loss",
    "mean_absolute_error": "mae",
    "mean_poisson_deviance": "poisson_deviance",
    "mean_squared_error": "mse",
    "mlogloss": "log_loss",
    "multi_logloss": "log_loss",
    "r2_score": "r2",
    "roc_auc": "auc",
    "roc_auc_score": "auc",
    "root_mean_squared_error": "rmse",
}
"""Other libraries' names of metrics; ``neg_`` before any is its negative, as with scikit-learn's scorers."""


def metric_of(name: str) -> Metric:
    """Return the metric with a name such as "auc" or "ndcg@10"; an alias keeps the name it was given."""
    base, at, places = name.partition("@")
    plain = _ALIASES.get(base.removeprefix("neg_"), base.removeprefix("neg_"))
    if plain != base and plain in METRICS and not at:
        known = METRICS[plain]
        if not base.startswith("neg_"):
            return replace(known, name=name)
        return replace(
            known, name=name, compute=_Negative(known), greater_is_better=not known.greater_is_better
        )
    metric = METRICS.get(base)
    is_right = metric is not None and (
        not at or (metric.is_of_queries and places.isdigit() and int(places) > 0)
    )
    if metric is None or not is_right:
        of_queries = [known.name for known in METRICS.values() if known.is_of_queries]
        names = [] if plain in METRICS else [*METRICS, *_ALIASES]
        close = get_close_matches(base, names, n=1, cutoff=0.7)
        hint = f"did you mean {close[0]!r}? Otherwise give" if close else "give"
        raise ValueError(
            f"metric {name!r} is unknown: {hint} one of {', '.join(METRICS)}; places as in 'ndcg@10' go with "
            f"{', '.join(of_queries)}. Other scorers of scikit-learn can be given as objects of get_scorer"
        )
    if not at:
        return metric
    k, compute = int(places), metric.compute

    def at_k(y: F64, prediction: F64, weight: F64, queries: Any = None) -> float:
        return compute(y, prediction, weight, queries, k)  # type: ignore[call-arg]

    return Metric(name, at_k, metric.greater_is_better, metric.kinds)


def _by_descending(prediction: F64) -> tuple[I64, I64]:
    """Return rows by descending prediction, and the last position of each group of ties."""
    order = np.argsort(-prediction, kind="stable")
    ranked = prediction[order]
    return order, np.concatenate([np.flatnonzero(np.diff(ranked)), [ranked.shape[0] - 1]])


def _chance_of_first(place: I64, n_hits: I64, n_tied: I64) -> F64:
    """Return the probability that the first of `n_hits` among `n_tied` places in random order is `place`.

    It is C(n_tied - 1 - place, n_hits - 1) / C(n_tied, n_hits), in logarithms since these overflow.
    """
    n_behind = n_tied - 1 - place
    n_other = np.maximum(n_behind - n_hits + 1, 0)
    logs = gammaln(n_behind + 1) - gammaln(n_other + 1) + gammaln(n_tied - n_hits + 1) - gammaln(n_tied + 1)
    return np.where(n_behind >= n_hits - 1, n_hits * np.exp(logs), 0.0)


def _mean_of_queries(values: F64, queries: Queries, weight: F64, counted: Any) -> float:
    """Return the mean over counted queries, each weighted like its first row."""
    of_query = weight[queries.rows[queries.begin[:-1]]][counted]
    return float(np.average(values, weights=of_query)) if of_query.sum() > 0.0 else float("nan")
