"""CatBoost, with a price for a feature's first use or with its own recursive selection."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import catboost
import numpy as np
import pandas
from numpy.typing import NDArray

from measuring.cost import measure
from measuring.data import Data
from measuring.jobs import Job, Record
from measuring.peers.common import by_gain, make_record, n_to_choose, price, unknown_model

_SELECTION_STEPS = 3
"""Rounds of elimination; each is a fit, and CatBoost's guide says more of them help little."""
_LOSSES = {"binary": "Logloss", "regression": "RMSE"}
_CRITERIA = {
    "values": catboost.EFeaturesSelectionAlgorithm.RecursiveByPredictionValuesChange,
    "loss": catboost.EFeaturesSelectionAlgorithm.RecursiveByLossFunctionChange,
    "shap": catboost.EFeaturesSelectionAlgorithm.RecursiveByShapValues,
}


def run(job: Job, data: Data) -> Record:
    """Fit model ``penalty`` (``first_feature_use_penalties``) or ``select`` (``select_features``).

    Trees are symmetric, CatBoost's default and fastest, of the depth that gives about as many leaves as ours
    have. Its table is built in the fit; categories as text, which it wants, are prepared before.
    """
    fits = {"all": _fit_all, "penalty": _fit_penalty, "select": _fit_select}
    if job.model not in fits:
        raise unknown_model(job, list(fits))
    table = _table(data, data.X_train)

    def pool() -> catboost.Pool:
        return catboost.Pool(table, data.y_train, cat_features=list(data.categorical))

    model, cost = measure(lambda: fits[job.model](job, data, pool()))

    def predict(X: Any) -> NDArray[Any]:
        return np.asarray(model.predict(_table(data, X), prediction_type="RawFormulaVal"))

    # A loss change per feature would need the data again; this one is read off the trees.
    importance = np.asarray(model.get_feature_importance(type="PredictionValuesChange"))
    return make_record(
        data,
        cost,
        predict,
        features_by_gain=by_gain(importance, np.flatnonzero(importance)).tolist(),
        leaves=model.get_tree_leaf_counts(),
    )


def _fit_all(job: Job, data: Data, pool: catboost.Pool) -> catboost.CatBoost:
    return catboost.CatBoost(_parameters(job, data)).fit(pool)


def _fit_penalty(
    job: Job, data: Data, pool: catboost.Pool, costs: NDArray[np.float64] | None = None
) -> catboost.CatBoost:
    # With this score a split's gain has our unit, squared error; the default, a cosine, has none.
    factors = np.ones(data.n_columns) if costs is None else costs
    parameters = _parameters(job, data) | {
        "score_function": "L2",
        "first_feature_use_penalties": (price(job, data) * factors).tolist(),
    }
    return catboost.CatBoost(parameters).fit(pool)


def train_costs(
    job: Job, data: Data, costs: NDArray[np.float64]
) -> tuple[list[int], Callable[[Any], NDArray[Any]]]:
    """Train with a price for every feature's first use: the job's price times the cost of the feature.

    Returns the columns that trees use, and the prediction.
    """
    pool = catboost.Pool(_table(data, data.X_train), data.y_train, cat_features=list(data.categorical))
    model = _fit_penalty(job, data, pool, costs)
    used = np.flatnonzero(np.asarray(model.get_feature_importance(type="PredictionValuesChange")))
    return used.tolist(), lambda X: np.asarray(
        model.predict(_table(data, X), prediction_type="RawFormulaVal", thread_count=job.n_threads)
    )


def _fit_select(job: Job, data: Data, pool: catboost.Pool) -> catboost.CatBoost:
    return _selected(job, data, pool, "values")[0]


def select(job: Job, data: Data, criterion: str) -> tuple[list[int], Callable[[Any], NDArray[Any]]]:
    """Let CatBoost eliminate columns; returns those that are left and the prediction.

    Parameters
    ----------
    criterion : {'values', 'loss', 'shap'}
        Which of its three importances decides.
    """
    pool = catboost.Pool(_table(data, data.X_train), data.y_train, cat_features=list(data.categorical))
    model, columns = _selected(job, data, pool, criterion)
    return columns, lambda X: np.asarray(
        model.predict(_table(data, X), prediction_type="RawFormulaVal", thread_count=job.n_threads)
    )


def _selected(
    job: Job, data: Data, pool: catboost.Pool, criterion: str
) -> tuple[catboost.CatBoost, list[int]]:
    model = catboost.CatBoost(_parameters(job, data))
    summary = model.select_features(
        pool,
        features_for_select=list(range(data.n_columns)),
        num_features_to_select=n_to_choose(job),
        steps=_SELECTION_STEPS,
        algorithm=_CRITERIA[criterion],
        train_final_model=True,
        logging_level="Silent",
    )
    return model, [int(column) for column in summary["selected_features"]]


def _table(data: Data, X: Any) -> Any:
    if not data.categorical:
        return X
    frame = pandas.DataFrame(X)
    for column in data.categorical:
        frame[column] = frame[column].fillna(-1).astype(np.int64).astype(str)
    return frame


def _parameters(job: Job, data: Data) -> dict[str, Any]:
    return {
        "loss_function": _LOSSES[data.kind],
        "iterations": job.n_trees,
        "learning_rate": job.learning_rate,
        "depth": max(1, min(16, round(math.log2(job.n_leaves or 31)))),
        "thread_count": job.n_threads,
        "random_seed": job.seed,
        "logging_level": "Silent",
        "allow_writing_files": False,
    }
