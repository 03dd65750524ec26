"""Our own models."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from gtgbm import (
    AGBMClassifier,
    AGBMRegressor,
    GBFSClassifier,
    GBFSRegressor,
    GTGBMClassifier,
    GTGBMRanker,
    GTGBMRegressor,
    MultitaskGTGBMClassifier,
    MultitaskGTGBMRegressor,
    compare_tasks,
    selection_path,
)
from gtgbm.explain import permutation_importance
from gtgbm.export import lightgbm_text, plain_model
from gtgbm.metrics import metric_of
from gtgbm.selection import stability_of
from measuring.clusters import LEARNING_RATE, MAX_DEPTH, ClusterModel, ClusterTable
from measuring.cost import measure
from measuring.data import Data
from measuring.data.folds import Fold
from measuring.jobs import Job, Record
from measuring.peers.common import by_gain, make_record, unknown_model
from measuring.predictions import BATCH, COMPACT_BATCH, COMPACT_ROW, ROW, SINGLE_ROW_CALL, Calls, Tables

__all__ = [
    "Target",
    "compare_tasks",
    "estimator",
    "features_of",
    "fit_cluster",
    "fit_fold",
    "leaves_of_model",
    "metric_of",
    "multitask_estimator",
    "permutation_importance",
    "prediction_calls",
    "predictions",
    "run",
    "select",
    "selection_path",
    "stability_of",
]

Target: TypeAlias = Literal["binary", "multiclass", "regression", "poisson", "lambdarank"]

_GT: dict[str, Any] = {
    "binary": GTGBMClassifier,
    "multiclass": GTGBMClassifier,
    "regression": GTGBMRegressor,
    "poisson": GTGBMRegressor,
    "lambdarank": GTGBMRanker,
}
_OTHERS: dict[tuple[str, str], Any] = {
    ("exhaustive", "binary"): AGBMClassifier,
    ("exhaustive", "regression"): AGBMRegressor,
    ("gbfs", "binary"): GBFSClassifier,
    ("gbfs", "regression"): GBFSRegressor,
}
_SEARCHES: dict[str, dict[str, Any]] = {
    "group-testing": {"search": "group-testing", "selection": "forward"},
    "auto": {"search": "auto", "selection": "forward"},
    "forward-backward": {"search": "auto", "selection": "forward-backward"},
    "paper": {"search": "group-testing", "selection": "forward", "test_rows": None},
}
_MODELS = ("group-testing", "auto", "exhaustive", "forward-backward")


def estimator(model: str, target: Target, **parameters: Any) -> Any:
    """Return an estimator, not fitted.

    Parameters
    ----------
    model : {'group-testing', 'auto', 'forward-backward', 'paper', 'exhaustive', 'gbfs'}
        GT-GBM with a search, with forward-backward selection, which needs n_features_to_select, or with the
        paper's own test; A-GBM; GBFS. All others select forward.
    target : {'binary', 'multiclass', 'regression', 'poisson', 'lambdarank'}
        What is predicted; A-GBM and GBFS have the first and third.
    """
    if (model, target) in _OTHERS:
        return _OTHERS[model, target](**parameters)
    loss = {"loss": "poisson"} if target == "poisson" else {}
    return _GT[target](**(_SEARCHES[model] | loss | parameters))


def multitask_estimator(target: Literal["binary", "regression"], **parameters: Any) -> Any:
    """Return an estimator of several tasks, not fitted; features are selected forward unless given."""
    cls: Any = MultitaskGTGBMClassifier if target == "binary" else MultitaskGTGBMRegressor
    return cls(**({"selection": "forward"} | parameters))


def fit_fold(model: Any, fold: Fold, **options: Any) -> Any:
    """Fit an estimator to the training rows of a fold."""
    if isinstance(model, GTGBMRanker):
        options["qid"] = fold.qid
    return model.fit(fold.X, fold.y, **options)


def predictions(model: Any, X: Any, target: Target) -> Any:
    """Return what metrics take: chances of the second class or of all classes, else predicted values."""
    if target not in ("binary", "multiclass"):
        return model.predict(X)
    chances = model.predict_proba(X)
    return chances[:, 1] if target == "binary" else chances


def run(job: Job, data: Data) -> Record:
    """Fit GT-GBM (``search="group-testing"`` or ``"auto"``, or forward-backward) or A-GBM."""
    model = _model(job, data)
    _, cost = measure(lambda: model.fit(data.X_train, data.y_train))

    return make_record(
        data,
        cost,
        lambda X: predictions(model, X, data.kind),
        features_by_gain=features_of(model),
        leaves=model.n_leaves_,
        n_features=int(model.n_selected_features_),
        stages={stage: float(seconds) for stage, seconds in model.timings_.items()},
        note=f"{model.search_}: {model.search_.reason}",
    )


def select(job: Job, data: Data) -> tuple[list[int], Callable[[Any], Any]]:
    """Let GT-GBM choose at default settings; returns its columns and its prediction.

    Trees, learning rate, seed and threads are those of the job, everything else is the default.
    """
    model = estimator(
        "forward-backward",
        data.kind,
        n_estimators=job.n_trees,
        learning_rate=job.learning_rate,
        n_features_to_select=job.n_features,
        n_jobs=job.n_threads,
        random_state=job.seed,
    )
    with warnings.catch_warnings():
        # Fewer features than wanted: their number is part of the result.
        warnings.simplefilter("ignore", UserWarning)
        model.fit(data.X_train, data.y_train)
    return features_of(model), lambda X: predictions(model, X, data.kind)


def fit_cluster(table: ClusterTable, n_trees: int, n_features: int | None) -> ClusterModel:
    """Fit on the workers of a Dask cluster."""
    from gtgbm.distributed import dask  # an extra, which no other measurement needs

    model = GTGBMClassifier(
        n_estimators=n_trees,
        n_features_to_select=n_features,
        max_depth=MAX_DEPTH,
        learning_rate=LEARNING_RATE,
        random_state=0,
    )
    fitted = dask.fit(model, table.X, table.y, client=table.client)
    return ClusterModel(fitted.n_iter_, features_of(fitted))


def features_of(model: Any) -> list[int]:
    """Return the columns that trees use, most important first."""
    used = np.flatnonzero(model.get_support())
    return [int(feature) for feature in by_gain(model.feature_importances_, used)]


def leaves_of_model(model: Any) -> int:
    """Return how many leaves give a peer's trees the size of those of one of our models."""
    return max(2, round(float(np.mean(model.n_leaves_))))


def _model(job: Job, data: Data) -> Any:
    if job.model not in _MODELS:
        raise unknown_model(job, _MODELS)
    parameters: dict[str, Any] = {
        "n_estimators": job.n_trees,
        "learning_rate": job.learning_rate,
        "min_node_fraction": job.min_node_fraction,
        "n_features_to_select": job.n_features,
        "n_jobs": job.n_threads,
        "random_state": job.seed,
    }
    if job.penalty is not None:
        parameters["penalty"] = job.penalty
    if data.categorical:
        parameters["categorical_features"] = list(data.categorical)
    return estimator(job.model, data.kind, **parameters)


def compact_lightgbm_text(model: Any) -> str:
    """Return a model in LightGBM's text format over the selected columns only."""
    features = model.selected_features_
    position = np.full(model.n_features_in_, -1, dtype=np.int32)
    position[features] = np.arange(features.shape[0])
    plain = plain_model(model)
    narrow = [
        replace(tree, feature=np.where(tree.feature >= 0, position[tree.feature], -1).astype(np.int32))
        for tree in plain.trees
    ]
    names = [f"Column_{k}" for k in range(features.shape[0])]
    return lightgbm_text(replace(plain, trees=narrow, names=names))


def prediction_calls(folder: Path, tables: Tables, threads: int) -> Calls:
    """Return what is timed: ``predict_proba`` of the estimator and its compact model, and a prepared call."""
    model = pickle.loads((folder / "model.pickle").read_bytes()).set_params(n_jobs=threads)
    compact = model.compact()
    row, prepared = tables.compact_row[0], compact.prepare()
    return {
        ROW: lambda: model.predict_proba(tables.row)[:, 1],
        BATCH: lambda: model.predict_proba(tables.batch)[:, 1],
        COMPACT_ROW: lambda: compact.predict_proba(row)[1:],
        COMPACT_BATCH: lambda: compact.predict_proba(tables.compact_batch)[:, 1],
        SINGLE_ROW_CALL: lambda: [prepared(row)],
    }
