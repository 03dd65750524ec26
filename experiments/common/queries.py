"""What `ranking` and `classification` share: documents of queries, three methods with 20 features, tuning."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.common.methods import GBFS, GT_OURS, GT_PAPER, TOPK, paper_estimator
from experiments.common.models import Settings
from experiments.common.record import Context
from measuring.data.folds import FOLDS, Fold, a_fifth, by_query, generated_queries
from measuring.methods import lightgbm_settings
from measuring.peers.gtgbm_models import Target, leaves_of_model, predictions
from measuring.peers.lightgbm_models import train_fold_topk

K = 20
ALPHA = 0.02
PENALTIES = (0.01, 0.003, 0.001, 0.0003)
METHODS = (TOPK, GBFS, GT_PAPER, GT_OURS)
STORED = {"lightgbm_rank": "LightGBM's example of rankings", "mq2008": "LETOR's MQ2008"}
SEED = 0


def folds(context: Context) -> Iterator[tuple[str, str, list[Fold]]]:
    """Yield name, description and folds of each data set; generated ones where stored ones are absent."""
    most = context.choose(1, 5)
    for name, about in STORED.items():
        folder = context.data_dir
        if folder is not None and (folder / name / "data.npz").is_file():
            yield name, about, list(islice(FOLDS[name](folder), most))
        else:
            made = [generated_queries(seed, len(name)) for seed in range(most)]
            yield f"generated in place of {name}", f"generated documents: a stand-in, not {name}", made


def tuning_part(fold: Fold) -> Fold:
    """Split the training queries 80/20; the second part takes the place of the test rows."""
    assert fold.qid is not None
    return by_query(fold.X, fold.y, fold.qid, a_fifth(fold.qid, SEED))


def with_targets(fold: Fold, change: Callable[[NDArray[np.float64]], NDArray[np.float64]]) -> Fold:
    """Return a fold with other targets."""
    return replace(fold, y=change(fold.y), y_test=change(fold.y_test))


def fit_method(
    method: str, target: Target, fold: Fold, penalty: float, settings: Settings, n_leaves: int
) -> tuple[NDArray[np.float64], int, int]:
    """Fit one method with at most 20 features; returns scores of the test rows, features and leaves."""
    if method == TOPK:
        given = {"n_trees": settings.n_trees, "n_threads": settings.threads, "seed": SEED}
        job = lightgbm_settings(n_leaves, min_node_fraction=ALPHA, **given)
        trained = train_fold_topk(job, fold, target, K)
        return trained.predict(fold.X_test), len(trained.features()), n_leaves
    unit = fold.y.shape[0] * float(fold.y.var()) if method == GBFS else 1.0
    model = paper_estimator(
        method,
        target,
        penalty=penalty * unit,
        n_features_to_select=K,
        min_node_fraction=ALPHA,
        n_estimators=settings.n_trees,
        random_state=SEED,
        n_jobs=settings.threads,
    )
    model.fit(fold.X, fold.y)
    scores = np.asarray(predictions(model, fold.X_test, target))
    return scores, int(model.n_selected_features_), leaves_of_model(model)


def compare(
    target: Target,
    fold: Fold,
    measures: Callable[[Fold, NDArray[np.float64]], dict[str, float]],
    decides: str,
    context: Context,
) -> dict[str, dict[str, Any]]:
    """Tune every method by one measure on a fifth of the training queries, then test it once."""
    settings = Settings(context.choose(8, 100), context.choose(1, context.threads), SEED)
    found: dict[str, dict[str, Any]] = {}
    part, n_leaves = tuning_part(fold), 31
    for method in (*METHODS[1:], TOPK):
        best = PENALTIES[0]
        if method != TOPK:
            tried = {}
            for penalty in PENALTIES[:2] if context.quick else PENALTIES:
                scores, _, _ = fit_method(method, target, part, penalty, settings, n_leaves)
                tried[penalty] = measures(part, scores)[decides]
            best = max(tried, key=lambda penalty: (tried[penalty], penalty))
        scores, used, n_leaves = fit_method(method, target, fold, best, settings, n_leaves)
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
