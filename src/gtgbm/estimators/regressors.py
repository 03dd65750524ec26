"""The regressors."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_array, column_or_1d

from gtgbm.boosting import AnyCallback
from gtgbm.estimators.base import BaseGTGBM
from gtgbm.estimators.compact import CompactRegressor
from gtgbm.estimators.documentation import documented
from gtgbm.estimators.rows import Rows, checked_weight, listed, with_weight
from gtgbm.estimators.tables import read_training
from gtgbm.exact import F64
from gtgbm.losses import AbsoluteError, Huber, Loss, Pointwise, Poisson, Quantile, SquaredError, Tweedie
from gtgbm.metrics import TargetKind
from gtgbm.parameters import Context

if TYPE_CHECKING:
    from typing_extensions import Self

_LARGEST_TARGET = 1e100
"""Squares of larger residuals would leave the range of floats."""
_SMALLEST_SPREAD = 1e-100
"""So would squares of smaller ones."""


LOSSES: dict[str, Loss] = {
    "squared_error": SquaredError(),
    "absolute_error": Pointwise(AbsoluteError()),
    "huber": Pointwise(Huber()),
    "quantile": Pointwise(Quantile()),
    "poisson": Pointwise(Poisson()),
    "tweedie": Pointwise(Tweedie()),
}


class _Regressor(RegressorMixin, BaseGTGBM):
    _kind_of_target: TargetKind = "numbers"

    def _make_loss(self) -> Loss:
        loss: Loss = self._checked("loss", Context(losses=LOSSES))
        return loss

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        eval_set: Any = None,
        callbacks: Sequence[AnyCallback] | None = None,
        *,
        eval_sample_weight: Any = None,
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like or scipy CSR or CSC matrix, shape (n, d)
            Any float or integer dtype, either memory order; NaN is missing. A dense array is not copied, a
            sparse one not made dense.
        y : array-like, shape (n,)
            Targets.
        sample_weight : array-like, shape (n,), optional
            Weights of at least 0: a row of weight 2 counts as two rows.
        eval_set : (X, y) or list of such pairs, optional
            Data to follow loss and metrics on, in ``evals_result_``; the last one decides early stopping.
        callbacks : sequence of Callback or callables, optional
            Told of the start, of each round and of the end, with a ``Progress``; may stop training.
        eval_sample_weight : array-like or list of such, optional
            Weights of the rows of each eval set.

        Returns
        -------
        self
        """
        anew = self._begins_anew()
        X, y = read_training(self, X, y, anew=anew, y_numeric=True)
        loss = self._make_loss()
        weight, X, y = with_weight(checked_weight(sample_weight, X.shape[0]), X, y)
        y = self._target(y, "y")
        if np.all(y == y[0]):
            warnings.warn(
                f"y is constant ({y[0]:g}): there is nothing to split on, the model is a constant",
                UserWarning,
                stacklevel=2,
            )
        validations = self._validation_rows(eval_set, eval_sample_weight, None, self._target)
        self._fit(Rows(X, y, weight), loss, validations, listed(callbacks))
        return self

    def _target(self, y: Any, name: str) -> F64:
        target = numbers(y, name)
        loss = self._make_loss()
        if isinstance(loss, Pointwise):
            loss.check_target(target, name)
        return target

    def predict(self, X: Any) -> F64:
        """Predict targets.

        Parameters
        ----------
        X : array-like, shape (n, d)

        Returns
        -------
        ndarray of float64, shape (n,)
        """
        scores = self._scores(X)
        return self._fitted_loss.predict(scores)

    def compact(self) -> CompactRegressor:
        """Return a small model for serving that takes the selected columns only.

        Returns
        -------
        CompactRegressor
            Takes K columns, in the order of ``selected_features_``, and predicts the same bits.
        """
        return CompactRegressor(*self._compact_parts(), self._fitted_loss)


def numbers(y: Any, name: str) -> F64:
    """Return targets as numbers that can be fit."""
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

    _limits_searches = True

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
        loss: Any = "squared_error",
        init: str = "best",
        max_bins: int = 255,
        categorical_features: Any = None,
        categorical: str = "category",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        early_stopping_rounds: int | None = None,
        validation_fraction: float = 0.1,
        eval_metric: Any = None,
        criterion: str = "residuals",
        subsample: float = 1.0,
        colsample: float = 1.0,
        monotone_constraints: Any = None,
        warm_start: bool = False,
        shortlist: float = 1.0,
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
        loss: Any = "squared_error",
        init: str = "best",
        max_bins: int = 255,
        categorical_features: Any = None,
        categorical: str = "category",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        early_stopping_rounds: int | None = None,
        validation_fraction: float = 0.1,
        eval_metric: Any = None,
        criterion: str = "residuals",
        subsample: float = 1.0,
        colsample: float = 1.0,
        monotone_constraints: Any = None,
        warm_start: bool = False,
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
        loss: Any = "squared_error",
        init: str = "best",
        max_bins: int = 255,
        categorical_features: Any = None,
        categorical: str = "category",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        early_stopping_rounds: int | None = None,
        validation_fraction: float = 0.1,
        eval_metric: Any = None,
        criterion: str = "residuals",
        subsample: float = 1.0,
        colsample: float = 1.0,
        monotone_constraints: Any = None,
        warm_start: bool = False,
    ) -> None:
        self._set_parameters(locals())
