"""LightGBM and CatBoost as the paper's comparisons need them, at the tree size of our models."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

import lightgbm
import numpy as np
from numpy.typing import NDArray

from benchmarks.data import Data, Source
from benchmarks.jobs import Job
from benchmarks.peers.common import by_gain, price
from benchmarks.peers.lightgbm_models import parameters_of
from benchmarks.worker import run_here
from experiments.models import Fitted, Settings
from experiments.tasks import Task


def a_job(task: Task, settings: Settings, n_leaves: int, **more: Any) -> Job:
    """Return a job with a task's settings; its data are handed over beside it."""
    return Job(
        method="",
        peer="",
        model="",
        data=Source(""),
        n_trees=settings.n_trees,
        n_threads=settings.threads,
        seed=settings.seed,
        min_node_fraction=task.min_node_fraction,
        n_leaves=n_leaves,
        **more,
    )


def train(
    job: Job,
    data: Data,
    columns: Sequence[int] | None = None,
    callbacks: Sequence[Callable[..., Any]] = (),
    **parameters: Any,
) -> lightgbm.Booster:
    """Train LightGBM on all or some columns."""
    few = data.only(columns)
    given = parameters_of(job, few) | parameters
    table = lightgbm.Dataset(few.X_train, few.y_train, params=given)
    return lightgbm.train(given, table, job.n_trees, callbacks=list(callbacks))


def best_columns(booster: lightgbm.Booster) -> NDArray[np.int64]:
    """Return the columns used, largest gain first."""
    used = np.flatnonzero(booster.feature_importance("split"))
    return by_gain(booster.feature_importance("gain"), used)


def fitted(booster: lightgbm.Booster, columns: Sequence[int] | None, n_leaves: int) -> Fitted:
    """Wrap a booster that was given some columns, or all for None."""
    chosen = None if columns is None else np.asarray(columns)
    used = best_columns(booster)
    features = used if chosen is None else chosen[used]

    def predict(X: Any) -> NDArray[np.float64]:
        return np.asarray(booster.predict(X if chosen is None else X[:, chosen]))

    return Fitted(predict, len(features), features.tolist(), n_leaves)


def fit_cegb(task: Task, settings: Settings, n_leaves: int, penalty: float) -> Fitted:
    """Fit LightGBM with its own price for a feature's first use, in our unit."""
    job, data = a_job(task, settings, n_leaves, penalty=penalty), task.data
    prices = [price(job, data)] * data.n_columns
    return fitted(train(job, data, cegb_penalty_feature_coupled=prices), None, n_leaves)


def catboost_select(task: Task, settings: Settings, n_leaves: int, k: int) -> dict[str, Any] | None:
    """Let CatBoost choose k columns; returns its features and test AUC, None if it is not installed."""
    if find_spec("catboost") is None:
        return None
    job = replace(a_job(task, settings, n_leaves, n_features=k), peer="catboost_models", model="select")
    record = run_here(job, task.data)
    return {"features": record.n_features, "rmse": None, "auc": record.score}
