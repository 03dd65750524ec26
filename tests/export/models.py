"""Models of random trees, as no training would grow them, and tables that meet their thresholds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from gtgbm import GTGBMClassifier, GTGBMRegressor
from gtgbm.boosting import Fitted, Model
from gtgbm.exact.arrays import F64
from gtgbm.search.choice import SearchChoice
from gtgbm.tree import Tree
from tests.strategies import seeds

N_COLUMNS = 5
CATEGORICAL = (3, 4)
"""Columns of the random tables that hold categories: codes from 0, -1 for unseen ones, NaN."""
EXTREMES = [np.inf, -np.inf, 1.7976931348623157e308, -1.7976931348623157e308, 1e-30, 0.0, -0.0, 0.1]


@dataclass(frozen=True)
class Case:
    """An estimator of random trees, and rows to predict."""

    estimator: Any
    X: F64

    @property
    def scores(self) -> F64:
        """Scores of the rows, shape (k, n)."""
        scores: F64 = self.estimator._scores(self.X)
        return scores


@st.composite
def cases(draw: st.DrawFn, *, as_float32: bool = False, n_scores: int | None = None) -> Case:
    """Draw a regressor, or a classifier of two or three classes.

    With `as_float32` all values of the table are of that type; thresholds are not.
    """
    rng = np.random.default_rng(draw(seeds))
    n_scores = draw(st.sampled_from([1, 1, 3])) if n_scores is None else n_scores
    X = random_table(rng, draw(st.integers(1, 90)), as_float32)
    shape = draw(st.sampled_from(["bushy", "chain", "leaf", "none"]))
    n_rounds = 0 if shape == "none" else draw(st.integers(1, 4))
    trees = [random_tree(rng, X, shape) for _ in range(n_rounds * n_scores)]
    model = Model(rng.normal(size=n_scores), trees, list(range(n_scores)) * n_rounds)
    is_classifier = n_scores > 1 or draw(st.booleans())
    return Case(estimator_of(model, is_classifier), X)


def random_table(rng: np.random.Generator, n: int, as_float32: bool) -> F64:
    """Numbers with ties, missing values and infinities, and two columns of codes of categories."""
    X = rng.normal(size=(n, N_COLUMNS))
    X[rng.random(X.shape) < 0.3] = rng.choice(EXTREMES)
    if as_float32:
        with np.errstate(over="ignore"):
            X = X.astype(np.float32).astype(np.float64)
    for column, n_categories in zip(CATEGORICAL, (4, 80), strict=True):
        X[:, column] = rng.integers(-1, n_categories, n)
    X[rng.random(X.shape) < rng.choice([0.0, 0.2])] = np.nan
    return X


def random_tree(rng: np.random.Generator, X: F64, shape: str) -> Tree:
    """Grow a tree at random leaves, or as a chain of 40 splits."""
    n_splits = {"bushy": int(rng.integers(1, 20)), "chain": 40, "leaf": 0}[shape]
    feature, left = [-1], [-1]
    for _ in range(n_splits):
        open_nodes = [node for node, column in enumerate(feature) if column < 0]
        node = open_nodes[-1] if shape == "chain" else int(rng.choice(open_nodes))
        feature[node], left[node] = int(rng.integers(N_COLUMNS)), len(feature)
        feature += [-1, -1]
        left += [-1, -1]
    columns = np.array(feature, dtype=np.int32)
    is_leaf, n_nodes = columns < 0, len(feature)
    is_category = np.isin(columns, CATEGORICAL) & (rng.random(n_nodes) < 0.8)
    threshold = X[rng.integers(X.shape[0], size=n_nodes), columns]
    threshold = np.where(
        rng.random(n_nodes) < 0.2, rng.choice(EXTREMES, n_nodes), np.nan_to_num(threshold, nan=0.5)
    )
    codes = rng.integers(0, 80, n_nodes).astype(np.float64) % np.where(columns == CATEGORICAL[0], 4, 80)
    codes[rng.random(n_nodes) < 0.2] = np.nan
    threshold = np.where(is_leaf, 0.0, np.where(is_category, codes, threshold))
    missing_left = np.where(is_category, ~np.isnan(threshold), rng.random(n_nodes) < 0.5) & ~is_leaf
    return Tree(
        columns,
        threshold,
        is_category.astype(np.uint8),
        missing_left.astype(np.uint8),
        np.array(left, dtype=np.int32),
        np.where(is_leaf, rng.normal(size=n_nodes), 0.0),
        rng.integers(0, 1000, n_nodes),
        np.where(is_leaf, 0.0, 1.0),
    )


def estimator_of(model: Model, is_classifier: bool) -> Any:
    """Return an estimator that has these trees, as if it had been fitted."""
    n_scores = model.start.shape[0]
    estimator: Any = GTGBMClassifier() if is_classifier else GTGBMRegressor()
    if is_classifier:
        estimator.classes_ = np.arange(max(n_scores, 2))
    estimator.n_features_in_ = N_COLUMNS
    fitted = Fitted(model, SearchChoice("exhaustive", "given"), {})
    estimator._keep({None: fitted}, [], estimator._make_loss())
    return estimator
