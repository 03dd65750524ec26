"""Random tables, targets and settings of whole fits."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st
from scipy import sparse

import gtgbm
from gtgbm.exact.arrays import F64

CLASSIFIERS = ("GTGBMClassifier", "AGBMClassifier", "GBFSClassifier", "MultitaskGTGBMClassifier")
ESTIMATORS = (
    *CLASSIFIERS,
    "GTGBMRegressor",
    "AGBMRegressor",
    "GBFSRegressor",
    "GTGBMRanker",
    "MultitaskGTGBMRegressor",
    "MultitaskGTGBMRanker",
)
TABLES = ("float64", "float32", "int16", "bool", "fortran", "csr", "csc", "frame")


@dataclass(frozen=True)
class Case:
    """One fit.

    Attributes
    ----------
    X : array, sparse matrix or dataframe
    y : ndarray, shape (n,)
    estimator : str
        Name of the class.
    parameters : dict
        Of the constructor.
    rows : dict
        What `fit` gets for each row besides y: sample_weight, qid, task.
    """

    X: Any
    y: Any
    estimator: str
    parameters: dict[str, Any]
    rows: dict[str, Any] = field(default_factory=dict)

    def unfitted(self) -> Any:
        """Return a new estimator."""
        return getattr(gtgbm, self.estimator)(**self.parameters)

    @property
    def is_multitask(self) -> bool:
        """Whether the model has several tasks."""
        return self.estimator.startswith("Multitask")

    @property
    def of_predict(self) -> dict[str, Any]:
        """What `predict` gets besides X."""
        return {"task": self.rows["task"]} if self.is_multitask else {}

    @property
    def of_eval_set(self) -> dict[str, Any]:
        """Arguments of `fit` that give the training rows as an eval set."""
        found: dict[str, Any] = {"eval_set": (self.X, self.y)}
        for name, value in self.rows.items():
            found["eval_" + name] = value
        return found


def _numbers(rng: np.random.Generator, n: int, d: int) -> F64:
    X = rng.normal(size=(n, d))
    for column in range(d):
        kind = rng.integers(6)
        if kind == 0:
            X[:, column] = rng.integers(0, rng.integers(1, 6), n)
        elif kind == 1:
            X[:, column] = np.exp(3.0 * X[:, column])
        elif kind == 2 and column:
            X[:, column] = X[:, rng.integers(column)]
    return X


def _table(rng: np.random.Generator, kind: str, X: F64) -> Any:
    """Give a table its form; may make values missing or infinite."""
    n, d = X.shape
    if kind == "int16":
        return np.rint(np.clip(X, -100, 100)).astype(np.int16)
    if kind == "bool":
        return X > 0
    if kind in ("csr", "csc"):
        filled = np.where(rng.random(X.shape) < rng.choice([0.05, 0.3, 0.8]), X, 0.0)
        return (sparse.csr_matrix if kind == "csr" else sparse.csc_matrix)(filled)
    X = X.copy()
    X[rng.random(X.shape) < rng.choice([0.0, 0.1, 0.5])] = np.nan
    X[rng.random(X.shape) < rng.choice([0.0, 0.0, 0.05])] = np.inf
    X[rng.random(X.shape) < rng.choice([0.0, 0.0, 0.05])] = -np.inf
    if kind == "frame":
        frame = pd.DataFrame({f"x{k}": X[:, k] for k in range(d)})
        frame["text"] = rng.choice(["red", "green", "blue", "rare"], n, p=[0.4, 0.3, 0.28, 0.02])
        codes = pd.Series(rng.integers(0, 5, n).astype(float))
        frame["code"] = codes.where(rng.random(n) > 0.1).astype("category")
        return frame
    return (
        np.asfortranarray(X)
        if kind == "fortran"
        else X.astype(np.float32 if kind == "float32" else np.float64)
    )


def _weights(rng: np.random.Generator, n: int) -> Any:
    kind = rng.integers(5)
    if kind == 0:
        return rng.integers(0, 4, n).astype(float) + (np.arange(n) < 4)
    if kind == 1:
        return rng.gamma(1.0, size=n) + 1e-3
    if kind == 2:
        return rng.random(n) / n + 1e-9
    return None


def make_case(seed: int, estimator: str, table: str) -> Case:
    """Make a fit from a seed."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.choice([40, 200, 600])), int(rng.choice([1, 3, 12, 40]))
    numbers = _numbers(rng, n, d)
    signal = numbers[:, 0] + np.where(numbers[:, -1] > 0, 1.0, -1.0) * rng.choice([0.0, 2.0])
    X, target = _table(rng, table, numbers), signal + rng.normal(size=n)
    rows: dict[str, Any] = {}
    is_ranker, is_multitask = estimator.endswith("Ranker"), estimator.startswith("Multitask")
    if is_multitask:
        rows["task"] = rng.choice(["a", "b", "c"][: rng.integers(1, 4)], n)
    if is_ranker:
        rows["qid"] = rng.integers(0, n // 8, n)
        y: Any = np.digitize(target, [-1.0, 1.0])
    elif estimator in CLASSIFIERS:
        cuts = rng.choice([-1.0, 0.0, 1.0], rng.integers(1, 3), replace=False)
        y = np.array(["no", "yes", "maybe"])[np.digitize(target, np.sort(cuts))]
        if is_multitask and rng.random() < 0.5:  # tasks have different classes
            y = np.where(rows["task"] == "a", np.where(target > 0, "yes", "other"), y)
    else:
        y = target
    weight = None if is_ranker else _weights(rng, n)
    if weight is not None:
        rows["sample_weight"] = weight
    return Case(X, y, estimator, _parameters(rng, estimator, d, X), rows)


def _parameters(rng: np.random.Generator, estimator: str, d: int, X: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"n_estimators": int(rng.integers(1, 8)), "random_state": int(rng.integers(100))}
    penalty = "group_penalty" if estimator.startswith("Multitask") else "penalty"
    choices: dict[str, list[Any]] = {
        "learning_rate": [0.1, 0.5, 1.0],
        penalty: [0.0, 0.001, 0.05],
        "n_features_to_select": [1, min(2, d), None],
        "min_node_fraction": [0.02, 0.2],
        "min_samples_leaf": [None, 1, 5],
        "max_depth": [None, 1, 3],
        "max_leaf_nodes": [None, 2, 5],
        "l2_regularization": [0.0, 1.0, 30.0],
        "max_bins": [2, 16, 255],
        "subsample": [1.0, 0.6],
        "colsample": [1.0, 0.5],
        "criterion": ["residuals", "newton"],
        "categorical": ["category", "column"],
        "init": ["best", "zero"],
    }
    if estimator.startswith(("GTGBM", "Multitask")):
        choices["search"] = ["auto", "group-testing", "exhaustive"]
        choices["selection"] = ["auto", "forward"]
    if estimator == "GTGBMRegressor":
        choices["loss"] = ["squared_error", "absolute_error", "huber"]
    if estimator.startswith("Multitask"):
        choices["method"] = ["multitask", "group-sparse", "independent", "single-task"]
        choices["task_order"] = ["sequential", "parallel"]
        choices["n_features_per_task"] = [1, min(2, d), None]
        choices["n_common_rounds"] = [0, 1]
    else:
        choices["penalty"].append("auto")
    for name, values in choices.items():
        if rng.random() < 0.5:
            found[name] = values[rng.integers(len(values))]
    if found.get("n_features_to_select") is not None and "selection" in found and rng.random() < 0.3:
        found["selection"] = "forward-backward"
    if isinstance(X, np.ndarray) and d > 2 and rng.random() < 0.2:
        found["categorical_features"] = [1]
    if estimator.endswith("Regressor") and isinstance(X, np.ndarray) and rng.random() < 0.2:
        found["monotone_constraints"] = [int(rng.choice([-1, 1])), *[0] * (d - 1)]
    if rng.random() < 0.2:
        found["early_stopping_rounds"] = int(rng.integers(1, 4))
    if rng.random() < 0.3:
        found.update(_costs(rng, X.shape[1], found))
    return found


def _costs(rng: np.random.Generator, d: int, others: dict[str, Any]) -> dict[str, Any]:
    """Draw costs of columns, some of which are forbidden, free or fixed, and a budget."""
    costs = rng.choice([0.0, 0.5, 1.0, 3.0, np.inf], d, p=[0.1, 0.3, 0.3, 0.2, 0.1])
    costs[rng.integers(d)] = 1.0  # something can be bought
    found: dict[str, Any] = {"feature_costs": costs}
    if d > 2 and rng.random() < 0.5:
        first, second = rng.choice(d, 2, replace=False).tolist()
        costs[second] = costs[first]
        found["feature_groups"] = [[first, second]]
    fixed = int(rng.integers(d))
    if np.isfinite(costs[fixed]) and rng.random() < 0.3:
        found["fixed_features"] = [fixed]
    if others.get("n_features_to_select") is None and others.get("n_features_per_task") is None:
        found["cost_budget"] = (None, 3.5, 10.0)[rng.integers(3)]
    return found


cases = st.builds(make_case, st.integers(0, 2**32 - 1), st.sampled_from(ESTIMATORS), st.sampled_from(TABLES))
