"""XGBoost with histograms: all columns, or its best K retrained."""

from __future__ import annotations

from typing import Any

import numpy as np
import xgboost
from numpy.typing import NDArray

from measuring.clusters import LEARNING_RATE, MAX_DEPTH, ClusterModel, ClusterTable
from measuring.cost import measure
from measuring.data import Data
from measuring.data.folds import Fold
from measuring.jobs import Job, Record
from measuring.peers.common import by_gain, make_record, n_to_choose, unknown_model

_OBJECTIVES = {"binary": "binary:logistic", "regression": "reg:squarederror"}


def run(job: Job, data: Data) -> Record:
    """Fit a booster of model ``all`` or ``topk``; its quantile table is part of the fit.

    Trees grow best node first up to as many leaves as ours have. The smallest leaf is XGBoost's default,
    which counts curvature and not rows.
    """
    if job.model not in ("all", "topk"):
        raise unknown_model(job, ("all", "topk"))

    def fit() -> tuple[xgboost.Booster, NDArray[np.int64] | None]:
        booster = _train(job, data)
        if job.model == "all":
            return booster, None
        columns = _best(booster, data.n_columns)[: n_to_choose(job)]
        return _train(job, data.only(columns.tolist())), columns

    (booster, columns), cost = measure(fit)
    few = data if columns is None else data.only(columns.tolist())

    def predict(X: Any) -> Any:
        # Prediction in place needs no table of its own; it is the faster way, but not for categories.
        chosen = X if columns is None else X[:, columns]
        if data.categorical:
            return booster.predict(xgboost.DMatrix(chosen, **_types(few)))
        return booster.inplace_predict(chosen)

    best = _best(booster, few.n_columns)
    trees = booster.get_dump()
    return make_record(
        data,
        cost,
        predict,
        features_by_gain=(best if columns is None else columns[best]).tolist(),
        leaves=[tree.count("leaf=") for tree in trees],
    )


def train_fold(job: Job, fold: Fold) -> xgboost.Booster:
    """Train on all columns of a fold with two classes."""
    return _train(job, Data(fold.X, fold.y, fold.X_test, fold.y_test))


def fit_cluster(table: ClusterTable, n_trees: int, n_features: int | None) -> ClusterModel:
    """Fit all columns on the workers of a Dask cluster."""
    from xgboost import dask  # which needs dask, as no other measurement does

    del n_features
    data = dask.DaskQuantileDMatrix(table.client, table.X, table.y)
    parameters = {
        "objective": "binary:logistic",
        "tree_method": "hist",
        "max_depth": MAX_DEPTH,
        "learning_rate": LEARNING_RATE,
        "nthread": 1,
    }
    booster = dask.train(table.client, parameters, data, num_boost_round=n_trees)["booster"]
    return ClusterModel(n_trees, _best(booster, table.X.shape[1]).tolist())


def _types(data: Data) -> dict[str, Any]:
    if not data.categorical:
        return {}
    types = ["c" if j in data.categorical else "q" for j in range(data.n_columns)]
    return {"feature_types": types, "enable_categorical": True}


def _train(job: Job, data: Data) -> xgboost.Booster:
    parameters = {
        "objective": _OBJECTIVES[data.kind],
        "tree_method": "hist",
        "grow_policy": "lossguide",
        "max_leaves": job.n_leaves or 31,
        "max_depth": 0,
        "eta": job.learning_rate,
        "nthread": job.n_threads,
        "seed": job.seed,
    }
    table = xgboost.QuantileDMatrix(data.X_train, label=data.y_train, nthread=job.n_threads, **_types(data))
    return xgboost.train(parameters, table, num_boost_round=job.n_trees)


def _best(booster: xgboost.Booster, n_columns: int) -> NDArray[np.int64]:
    gain = np.zeros(n_columns)
    for name, value in booster.get_score(importance_type="total_gain").items():
        gain[int(name[1:])] = value  # columns without names are called f0, f1, ...
    return by_gain(gain, np.flatnonzero(gain))
