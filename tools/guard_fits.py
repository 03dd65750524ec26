"""The fits whose instructions ``tools/guard.py`` counts; runs under valgrind, in the environment it measures.

Imports nothing of this checkout, so that it runs with any installed revision of gtgbm.
"""

from __future__ import annotations

import ctypes
import gc
import json
import platform
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse
import sklearn

from gtgbm import AGBMClassifier, GTGBMClassifier, GTGBMRegressor, MultitaskGTGBMClassifier

Case = tuple[Any, Any, Any]
"""An estimator that is not fitted, a table and targets."""


def _dense(n: int, d: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d)).astype(np.float32)
    return X, X[:, 0] - X[:, 1] + 0.5 * np.abs(X[:, 2]) + rng.normal(size=n)


def group_testing() -> Case:
    """Binary targets, a dense table, new features found by group tests."""
    X, y = _dense(4000, 400)
    return GTGBMClassifier(search="group-testing", n_estimators=20, n_jobs=1, random_state=0), X, y > 0


def exhaustive() -> Case:
    """Binary targets, a dense table, every feature examined at every node."""
    X, y = _dense(4000, 60)
    return AGBMClassifier(n_estimators=20, n_jobs=1, random_state=0), X, y > 0


def sparse() -> Case:
    """Regression on a sparse table."""
    rng = np.random.default_rng(0)
    X = scipy.sparse.random(4000, 400, density=0.03, format="csr", random_state=rng)
    y = np.asarray(X[:, :20].sum(axis=1)).ravel() + 0.1 * rng.normal(size=4000)
    return GTGBMRegressor(n_estimators=20, n_jobs=1, random_state=0), X, y


def categories() -> Case:
    """Regression on a dataframe with columns of text, whose categories are features."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 40, (4000, 6))
    columns: dict[str, Any] = {f"text{j}": [f"v{code}" for code in codes[:, j]] for j in range(6)}
    columns |= {f"number{j}": rng.normal(size=4000) for j in range(14)}
    y = (codes[:, 0] < 5) + (codes[:, 1] == 7) + columns["number0"] + 0.5 * rng.normal(size=4000)
    return GTGBMRegressor(n_estimators=20, n_jobs=1, random_state=0), pd.DataFrame(columns), y


def multitask() -> Case:
    """Three tasks that share features."""
    X, y = _dense(3000, 100)
    targets = np.column_stack([y > 0, y + X[:, 3] > 0, y - X[:, 4] > 0])
    model = MultitaskGTGBMClassifier(n_estimators=10, n_jobs=1, random_state=0, search="group-testing")
    return model, X, targets


CASES: tuple[Callable[[], Case], ...] = (group_testing, exhaustive, sparse, categories, multitask)


def main() -> None:
    """Fit each case twice, and count the second time: the first one imports and allocates."""
    marks = ctypes.CDLL(sys.argv[1])
    for case in CASES:
        model, X, y = case()
        model.fit(X, y)
        # Or a collection of all objects falls into one fit or another, which costs a tenth of a fit.
        gc.collect()
        marks.start()
        model.fit(X, y)
        marks.stop(case.__name__.encode())
    versions = {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scikit-learn": sklearn.__version__,
    }
    print(json.dumps(versions))


if __name__ == "__main__":
    main()
