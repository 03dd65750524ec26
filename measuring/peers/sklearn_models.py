"""scikit-learn's HistGradientBoosting on columns that SelectFromModel chose."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.feature_selection import SelectFromModel

from measuring.cost import measure
from measuring.data import Data
from measuring.jobs import Job, Record
from measuring.peers.common import make_record, n_to_choose, smallest_leaf, unknown_model


def run(job: Job, data: Data) -> Record:
    """Choose K columns with extremely randomised trees, then fit HistGradientBoosting to them.

    HistGradientBoosting has no importances of its own, and permuting thousands of columns costs a
    prediction each. So the columns are ranked by ``ExtraTrees``, the example of ``SelectFromModel`` in
    scikit-learn's own guide. Both fits are counted. Categories must be one-hot: it takes at most 255 of
    them per column. Columns the boosted trees did not use after all are not counted, as for other methods.
    """
    if job.model != "select":
        raise unknown_model(job, ("select",))
    (columns, importance, boosting), cost = measure(lambda: _fit(job, data))
    predict = _prediction(boosting, columns, data)
    # No public attribute tells which columns the trees split or how many leaves they have.
    trees = [tree for (tree,) in boosting._predictors]
    used = np.unique(np.concatenate([tree.nodes["feature_idx"][~_is_leaf(tree)] for tree in trees]))
    return make_record(
        data,
        cost,
        predict,
        features_by_gain=columns[used[np.argsort(-importance[used], kind="stable")]].tolist(),
        leaves=[int(_is_leaf(tree).sum()) for tree in trees],
    )


def select(job: Job, data: Data) -> tuple[list[int], Callable[[Any], NDArray[np.float64]]]:
    """Choose and fit as `run` does; returns the columns and the prediction."""
    columns, _, boosting = _fit(job, data)
    return columns.tolist(), _prediction(boosting, columns, data)


def _fit(job: Job, data: Data) -> tuple[NDArray[np.int64], NDArray[np.float64], Any]:
    """Return the columns, their importance, and the boosted trees on them."""
    is_binary = data.kind == "binary"
    ranking = (ExtraTreesClassifier if is_binary else ExtraTreesRegressor)(
        n_estimators=100,
        min_samples_leaf=smallest_leaf(job, data.n_rows),
        n_jobs=job.n_threads,
        random_state=job.seed,
    )
    boosting = (HistGradientBoostingClassifier if is_binary else HistGradientBoostingRegressor)(
        max_iter=job.n_trees,
        learning_rate=job.learning_rate,
        max_leaf_nodes=max(2, job.n_leaves or 31),
        min_samples_leaf=smallest_leaf(job, data.n_rows),
        early_stopping=False,
        random_state=job.seed,
    )
    # max_features decides alone, if no importance is too small.
    select = SelectFromModel(ranking, threshold=-np.inf, max_features=n_to_choose(job))
    select.fit(_filled(data.X_train), data.y_train)
    columns = np.flatnonzero(select.get_support())
    boosting.fit(_dense(data.X_train[:, columns]), data.y_train)
    return columns, select.estimator_.feature_importances_[columns], boosting


def _prediction(
    boosting: Any, columns: NDArray[np.int64], data: Data
) -> Callable[[Any], NDArray[np.float64]]:
    def predict(X: Any) -> NDArray[np.float64]:
        few = _dense(X[:, columns])
        return np.asarray(
            boosting.predict_proba(few)[:, 1] if data.kind == "binary" else boosting.predict(few)
        )

    return predict


def _is_leaf(tree: Any) -> NDArray[np.bool_]:
    return np.asarray(tree.nodes["is_leaf"], dtype=np.bool_)


def _dense(X: Any) -> NDArray[np.float32]:
    return np.asarray(X.toarray() if sparse.issparse(X) else X)


def _filled(X: Any) -> Any:
    # ExtraTrees takes missing values in dense tables only; -1 is below every code and count.
    if not sparse.issparse(X) or not np.isnan(X.data).any():
        return X
    filled = X.copy()
    filled.data[np.isnan(filled.data)] = -1.0
    return filled
