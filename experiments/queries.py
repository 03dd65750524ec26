"""What `ranking` and `classification` share: documents of queries, three methods with 20 features, tuning."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import lightgbm
import numpy as np
from numpy.typing import NDArray

from benchmarks.loss_data import DATA, Fold, by_query
from benchmarks.peers.common import by_gain
from experiments.models import GBFS, GT_OURS, GT_PAPER, TOPK
from experiments.record import Context

K = 20
ALPHA = 0.02
PENALTIES = (0.01, 0.003, 0.001, 0.0003)
METHODS = (TOPK, GBFS, GT_PAPER, GT_OURS)
STORED = {"lightgbm_rank": "LightGBM's example of rankings", "mq2008": "LETOR's MQ2008"}
SEED = 0


@dataclass(frozen=True)
class Pointwise:
    """How one method is fitted to targets row by row.

    Attributes
    ----------
    ours : callable
        Takes a method and parameters, returns an estimator of ours, not fitted.
    predict : callable
        Takes a fitted estimator of ours and rows, returns a score per row.
    objective : str
        LightGBM's.
    """

    ours: Callable[..., Any]
    predict: Callable[[Any, Any], NDArray[np.float64]]
    objective: str


def folds(context: Context) -> Iterator[tuple[str, str, list[Fold]]]:
    """Yield name, description and folds of each data set; generated ones where stored ones are absent."""
    most = context.choose(1, 5)
    for name, about in STORED.items():
        folder = context.data_dir
        if folder is not None and (folder / name / "data.npz").is_file():
            yield name, about, list(islice(DATA[name](folder), most))
        else:
            made = [generated(seed, len(name)) for seed in range(most)]
            yield f"generated in place of {name}", f"generated documents: a stand-in, not {name}", made


def generated(seed: int, recipe: int) -> Fold:
    """Make queries of 10 to 30 documents, 100 columns, relevance 0 to 2 by 12 of them."""
    rng = np.random.default_rng([seed, recipe])
    sizes = rng.integers(10, 31, 150)
    qid = np.repeat(np.arange(150), sizes)
    X = rng.normal(size=(qid.shape[0], 100)).astype(np.float32)
    signal = X[:, :12] @ np.linspace(1.0, 0.2, 12) + rng.normal(size=qid.shape[0])
    y = np.digitize(signal, np.quantile(signal, [0.7, 0.9])).astype(np.float64)
    return by_query(X, y, qid, np.arange(30))


def tuning_part(fold: Fold) -> Fold:
    """Split the training queries 80/20; the second part takes the place of the test rows."""
    assert fold.qid is not None
    queries = np.random.default_rng(SEED).permutation(np.unique(fold.qid))
    return by_query(fold.X, fold.y, fold.qid, queries[: len(queries) // 5])


def with_targets(fold: Fold, change: Callable[[NDArray[np.float64]], NDArray[np.float64]]) -> Fold:
    """Return a fold with other targets."""
    return replace(fold, y=change(fold.y), y_test=change(fold.y_test))


def fit_method(
    method: str, kind: Pointwise, fold: Fold, penalty: float, n_trees: int, n_leaves: int, threads: int
) -> tuple[NDArray[np.float64], int, int]:
    """Fit one method with at most 20 features; returns scores of the test rows, features and leaves."""
    if method == TOPK:
        scores, used = _topk(kind.objective, fold, n_trees, n_leaves, threads)
        return scores, used, n_leaves
    unit = fold.y.shape[0] * float(fold.y.var()) if method == GBFS else 1.0
    model = kind.ours(
        method,
        penalty=penalty * unit,
        n_features_to_select=K,
        min_node_fraction=ALPHA,
        n_estimators=n_trees,
        random_state=SEED,
        n_jobs=threads,
    )
    model.fit(fold.X, fold.y)
    leaves = max(2, round(float(np.mean(model.n_leaves_))))
    return kind.predict(model, fold.X_test), int(model.n_selected_features_), leaves


def _topk(
    objective: str, fold: Fold, n_trees: int, n_leaves: int, threads: int
) -> tuple[NDArray[np.float64], int]:
    parameters = {
        "objective": objective,
        "num_leaves": n_leaves,
        "min_data_in_leaf": max(1, math.ceil(ALPHA * fold.y.shape[0] / 4)),
        "learning_rate": 0.1,
        "num_threads": threads,
        "seed": SEED,
        "verbosity": -1,
    }
    full = lightgbm.train(parameters, lightgbm.Dataset(fold.X, fold.y), n_trees)
    gain = full.feature_importance("gain")
    best = by_gain(gain, np.flatnonzero(gain))[:K]
    few = np.ascontiguousarray(fold.X[:, best])
    again = lightgbm.train(parameters, lightgbm.Dataset(few, fold.y), n_trees)
    return np.asarray(again.predict(fold.X_test[:, best])), len(best)


def compare(
    kind: Pointwise,
    fold: Fold,
    measures: Callable[[Fold, NDArray[np.float64]], dict[str, float]],
    decides: str,
    context: Context,
) -> dict[str, dict[str, Any]]:
    """Tune every method by one measure on a fifth of the training queries, then test it once."""
    n_trees, threads = context.choose(20, 100), context.choose(1, context.threads)
    found: dict[str, dict[str, Any]] = {}
    part, n_leaves = tuning_part(fold), 31
    for method in (*METHODS[1:], TOPK):
        best = PENALTIES[0]
        if method != TOPK:
            tried = {}
            for penalty in PENALTIES[:2] if context.quick else PENALTIES:
                scores, _, _ = fit_method(method, kind, part, penalty, n_trees, n_leaves, threads)
                tried[penalty] = measures(part, scores)[decides]
            best = max(tried, key=lambda penalty: (tried[penalty], penalty))
        scores, used, n_leaves = fit_method(method, kind, fold, best, n_trees, n_leaves, threads)
        found[method] = measures(fold, scores) | {"features": used, "penalty": best}
    return found


def precision_at(
    k: int, y: NDArray[np.float64], scores: NDArray[np.float64], qid: NDArray[np.int64]
) -> float:
    """Return the mean over queries of the share of positive rows among the k with the largest scores."""
    shares = []
    for query in np.unique(qid):
        rows = np.flatnonzero(qid == query)
        top = rows[np.argsort(-scores[rows], kind="stable")[:k]]
        shares.append(float(np.mean(y[top] > 0)))
    return float(np.mean(shares))


def gather(found: list[dict[str, dict[str, Any]]]) -> dict[str, dict[str, list[Any]]]:
    """Turn one record per fold into one list per method and measure."""
    return {
        method: {key: [fold[method][key] for fold in found] for key in found[0][method]}
        for method in found[0]
    }
