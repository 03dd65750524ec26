"""Every method behind one call: fit to the training rows, predict any rows, name the features."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.common.methods import paper_estimator
from experiments.common.tasks import Task
from measuring.data import Data
from measuring.fits import run_here
from measuring.jobs import Job
from measuring.methods import lightgbm_settings
from measuring.peers import lightgbm_models
from measuring.peers.gtgbm_models import features_of, leaves_of_model
from measuring.scores import auc, rmse


@dataclass(frozen=True)
class Fitted:
    """A fitted model of a binary task.

    Attributes
    ----------
    predict : callable
        Takes rows in the task's own columns, returns chances of the second class, shape (n,).
    n_features : int
        Distinct features used; each category counts as one.
    features : list of int
        Columns used, most important first.
    n_leaves : int
        Leaves of a tree, on average.
    """

    predict: Callable[[Any], NDArray[np.float64]]
    n_features: int
    features: list[int]
    n_leaves: int


@dataclass(frozen=True)
class Settings:
    """What all methods have in common."""

    n_trees: int
    threads: int
    seed: int = 0


def our_model(method: str, task: Task, settings: Settings, penalty: float, **parameters: Any) -> Any:
    """Return one of our models for a task, not fitted."""
    common: dict[str, Any] = {
        "n_estimators": settings.n_trees,
        "penalty": penalty,
        "min_node_fraction": task.min_node_fraction,
        "random_state": settings.seed,
        "n_jobs": settings.threads,
    } | parameters
    if task.data.categorical:
        common["categorical_features"] = list(task.data.categorical)
    return paper_estimator(method, "binary", **common)


def fit_ours(method: str, task: Task, settings: Settings, penalty: float, **parameters: Any) -> Fitted:
    """Fit one of our models."""
    model = our_model(method, task, settings, penalty, **parameters)
    model.fit(task.data.X_train, task.data.y_train)
    return Fitted(
        lambda X: np.asarray(model.predict_proba(X)[:, 1]),
        int(model.n_selected_features_),
        features_of(model),
        leaves_of_model(model),
    )


def lightgbm_on(task: Task, settings: Settings, n_leaves: int) -> Job:
    """Return LightGBM's settings on a task, whose data are handed over beside them."""
    return lightgbm_settings(
        n_leaves,
        n_trees=settings.n_trees,
        n_threads=settings.threads,
        seed=settings.seed,
        min_node_fraction=task.min_node_fraction,
    )


def fitted_lightgbm(trained: lightgbm_models.Trained, n_leaves: int) -> Fitted:
    """Return what LightGBM was trained to."""
    features = trained.features().tolist()
    return Fitted(trained.predict, len(features), features, n_leaves)


def fit_cegb(task: Task, settings: Settings, n_leaves: int, penalty: float) -> Fitted:
    """Fit LightGBM with its own price for a feature's first use, in our unit."""
    job = replace(lightgbm_on(task, settings, n_leaves), penalty=penalty)
    return fitted_lightgbm(lightgbm_models.train_cegb(job, task.data), n_leaves)


def catboost_select(task: Task, settings: Settings, n_leaves: int, k: int) -> dict[str, Any] | None:
    """Let CatBoost choose k columns; returns its features and test AUC, None if it is not installed."""
    if find_spec("catboost") is None:
        return None
    base = lightgbm_on(task, settings, n_leaves)
    record = run_here(replace(base, peer="catboost_models", model="select", n_features=k), task.data)
    return {"features": record.n_features, "rmse": None, "auc": record.score}


def scores(fitted: Fitted, data: Data) -> dict[str, float]:
    """Return features, and RMSE and AUC on the test rows."""
    chance = fitted.predict(data.X_test)
    return {
        "features": fitted.n_features,
        "rmse": rmse(data.y_test, chance),
        "auc": auc(data.y_test, chance),
    }


def tune(
    fit: Callable[[Task, float], Fitted], task: Task, penalties: Sequence[float]
) -> tuple[float, list[Any]]:
    """Return the penalty with the best AUC on a fifth of the training rows, and what each one gave.

    The number of features plays no part, as in the paper; of equals the largest penalty is taken.
    """
    part = task.tuning_part()
    tried = [{"penalty": penalty} | scores(fit(part, penalty), part.data) for penalty in penalties]
    best = max(tried, key=lambda one: (round(one["auc"], 6), one["penalty"]))
    return best["penalty"], tried
