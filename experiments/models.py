"""Every method behind one call: fit to the training rows, predict any rows, name the features."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.data import Data
from benchmarks.peers.common import by_gain
from experiments.tasks import Task
from gtgbm import AGBMClassifier, GBFSClassifier, GTGBMClassifier

TOPK, GBFS, AGBM = "GBDT-topK", "GBFS", "A-GBM"
GT_PAPER, GT_OURS = "GT-GBM, the paper's test", "GT-GBM, our defaults"
ALL_FEATURES = "all features (LightGBM)"
CEGB, CATBOOST = "LightGBM CEGB", "CatBoost select_features"
N_RELEVANT, DELTA = 3, 0.1
"""s and δ of the paper's test: those of its Figure 1, since it does not tell what Table 3 was made with."""


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
    """Return one of our models, not fitted.

    GBFS, A-GBM and the paper's test are as in the paper: squared error on labels 0 and 1, starting from 0.
    """
    common: dict[str, Any] = {
        "n_estimators": settings.n_trees,
        "penalty": penalty,
        "min_node_fraction": task.min_node_fraction,
        "random_state": settings.seed,
        "n_jobs": settings.threads,
    } | parameters
    if task.data.categorical:
        common["categorical_features"] = list(task.data.categorical)
    if method == GT_OURS:
        return GTGBMClassifier(**common)
    common |= {"loss": "squared_error", "init": "zero"}
    if method == GT_PAPER:
        return GTGBMClassifier(
            search="group-testing",
            test_rows=None,
            n_relevant=N_RELEVANT,
            failure_probability=DELTA,
            **common,
        )
    return {GBFS: GBFSClassifier, AGBM: AGBMClassifier}[method](**common)


def fit_ours(method: str, task: Task, settings: Settings, penalty: float, **parameters: Any) -> Fitted:
    """Fit one of our models."""
    model = our_model(method, task, settings, penalty, **parameters)
    model.fit(task.data.X_train, task.data.y_train)
    return Fitted(
        lambda X: np.asarray(model.predict_proba(X)[:, 1]),
        int(model.n_selected_features_),
        by_gain(model.feature_importances_, np.flatnonzero(model.get_support())).tolist(),
        max(2, round(float(np.mean(model.n_leaves_)))),
    )


def scores(fitted: Fitted, data: Data) -> dict[str, float]:
    """Return features, and RMSE and AUC on the test rows."""
    from sklearn.metrics import roc_auc_score, root_mean_squared_error

    chance = fitted.predict(data.X_test)
    return {
        "features": fitted.n_features,
        "rmse": float(root_mean_squared_error(data.y_test, chance)),
        "auc": float(roc_auc_score(data.y_test, chance)),
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
