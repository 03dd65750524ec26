"""The regressors."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_array, column_or_1d, validate_data

from gtgbm.arrays import F64
from gtgbm.boosting import Callback
from gtgbm.estimators import parameters as check
from gtgbm.estimators.base import (
    INPUT,
    BaseGTGBM,
    check_eval_table,
    check_lengths,
    listed,
    pairs_of,
)
from gtgbm.estimators.compact import CompactRegressor
from gtgbm.estimators.documentation import documented
from gtgbm.losses import SquaredError

_LARGEST_TARGET = 1e100
"""Squares of larger residuals would leave the range of floats."""
_SMALLEST_SPREAD = 1e-100
"""So would squares of smaller ones."""


class _Regressor(RegressorMixin, BaseGTGBM):
    def fit(self, X: Any, y: Any, eval_set: Any = None, callbacks: Sequence[Callback] | None = None) -> Any:
        """Fit the model.

        Parameters
        ----------
        X : array-like or scipy CSR or CSC matrix, shape (n, d)
            Any float or integer dtype, either memory order; NaN is missing. A dense array is not copied, a
            sparse one not made dense.
        y : array-like, shape (n,)
            Targets.
        eval_set : (X, y) or list of such pairs, optional
            Data whose loss is followed in ``evals_result_``; the last one decides early stopping.
        callbacks : sequence of callables, optional
            Called after each round with a ``Progress``; returning True stops training.

        Returns
        -------
        self
        """
        self._forget()
        X, y = validate_data(self, X, y, **INPUT, ensure_min_samples=2, y_numeric=True)
        check.option("loss", self.loss, ("squared_error",))
        y = _target(y, "y")
        if np.all(y == y[0]):
            warnings.warn(
                f"y is constant ({y[0]:g}): there is nothing to split on, the model is a constant",
                UserWarning,
                stacklevel=2,
            )
        pairs = []
        for k, (Xv, yv) in enumerate(pairs_of(eval_set)):
            table, target = check_eval_table(self, Xv, k), _target(yv, f"eval_set[{k}]: y")
            check_lengths(table, target, k)
            pairs.append((table, target))
        self._fit(X, y, SquaredError(), pairs, listed(callbacks))
        return self

    def predict(self, X: Any) -> F64:
        """Predict targets.

        Parameters
        ----------
        X : array-like, shape (n, d)

        Returns
        -------
        ndarray of float64, shape (n,)
        """
        scores: F64 = self._scores(X)[0]
        return scores

    def compact(self) -> CompactRegressor:
        """Return a small model for serving that takes the selected columns only.

        Returns
        -------
        CompactRegressor
            Takes K columns, in the order of ``selected_features_``, and predicts the same bits.
        """
        return CompactRegressor(*self._compact_parts())


def _target(y: Any, name: str) -> F64:
    target: F64 = column_or_1d(check_array(y, ensure_2d=False, dtype=np.float64, input_name=name), warn=True)
    largest = np.abs(target).max(initial=0.0)
    if largest > _LARGEST_TARGET:
        raise ValueError(f"{name} holds {largest:g}; values up to {_LARGEST_TARGET:g} can be fit: rescale it")
    spread = float(np.ptp(target)) if target.shape[0] else 0.0
    if 0.0 < spread < _SMALLEST_SPREAD:
        raise ValueError(
            f"{name} varies by {spread:g} only; {_SMALLEST_SPREAD:g} or more can be fit: rescale it"
        )
    return target


@documented()
class GTGBMRegressor(_Regressor):
    """GT-GBM: boosted trees that pick few features, found by group testing."""

    _looks_seldom = True

    def __init__(
        self,
        *,
        n_estimators: int = 100,
        learning_rate: float = 0.1,
        penalty: float = 0.001,
        penalty_scale: str = "root",
        n_features_to_select: int | None = None,
        min_node_fraction: float = 0.02,
        min_samples_leaf: int | None = None,
        max_depth: int | None = None,
        search: str = "auto",
        n_relevant: int | None = None,
        failure_probability: float = 0.1,
        test_rows: int | str | None = "auto",
        loss: str = "squared_error",
        init: str = "best",
        max_bins: int = 255,
        categorical_features: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        early_stopping_rounds: int | None = None,
        validation_fraction: float = 0.1,
    ) -> None:
        self._set_parameters(locals())


@documented()
class AGBMRegressor(_Regressor):
    """A-GBM: boosted trees that pick few features, each node looking at all of them."""

    def __init__(
        self,
        *,
        n_estimators: int = 100,
        learning_rate: float = 0.1,
        penalty: float = 0.001,
        n_features_to_select: int | None = None,
        min_node_fraction: float = 0.02,
        min_samples_leaf: int | None = None,
        max_depth: int | None = None,
        loss: str = "squared_error",
        init: str = "best",
        max_bins: int = 255,
        categorical_features: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        early_stopping_rounds: int | None = None,
        validation_fraction: float = 0.1,
    ) -> None:
        self._set_parameters(locals())


@documented()
class GBFSRegressor(_Regressor):
    """GBFS: as A-GBM, with the penalty in absolute units of the squared error."""

    penalty_scale = "absolute"

    def __init__(
        self,
        *,
        n_estimators: int = 100,
        learning_rate: float = 0.1,
        penalty: float = 1.0,
        n_features_to_select: int | None = None,
        min_node_fraction: float = 0.02,
        min_samples_leaf: int | None = None,
        max_depth: int | None = None,
        loss: str = "squared_error",
        init: str = "best",
        max_bins: int = 255,
        categorical_features: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        early_stopping_rounds: int | None = None,
        validation_fraction: float = 0.1,
    ) -> None:
        self._set_parameters(locals())
