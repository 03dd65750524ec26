"""The regressors."""

from __future__ import annotations

from typing import Any

from gtgbm.estimators.compact import CompactRegressor
from gtgbm.estimators.documentation import documented
from gtgbm.estimators.single_task import SingleTask
from gtgbm.estimators.targets import NumberTargets
from gtgbm.exact import F64


class _Regressor(NumberTargets, SingleTask):
    def predict(self, X: Any, *, n_rounds: int | None = None, offset: Any = None) -> F64:
        """Predict targets.

        Parameters
        ----------
        X : array-like, shape (n, d)
        n_rounds : int, optional
            Use only the trees of the first rounds.
        offset : array-like, as in `fit`, optional
            What is added to the scores.

        Returns
        -------
        ndarray of float64, shape (n,)
        """
        return self._predicted(self._scores(X, n_rounds, offset))

    def compact(self) -> CompactRegressor:
        """Return a small model for serving: the fitted trees only, without training data.

        Returns
        -------
        CompactRegressor
            Takes the K selected columns, in the order of ``selected_features_``; its predictions are
            identical to those of the estimator.
        """
        return CompactRegressor(*self._compact_parts(), self._fitted_loss)


@documented()
class GTGBMRegressor(_Regressor):
    """GT-GBM regressor: boosted trees that select few features, searched for by group testing."""

    _limits_searches = True

    def __init__(
        self,
        *,
        n_estimators: int = 100,
        learning_rate: float = 0.1,
        penalty: float | str = 0.001,
        penalty_scale: str = "root",
        n_features_to_select: int | str | None = None,
        selection: str = "auto",
        feature_costs: Any = None,
        feature_groups: Any = None,
        fixed_features: Any = None,
        cost_budget: float | None = None,
        min_node_fraction: float = 0.02,
        min_samples_leaf: int | None = None,
        max_depth: int | None = None,
        max_leaf_nodes: int | str | None = "auto",
        l2_regularization: float = 0.0,
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
        memory_limit: int | str | None = None,
    ) -> None:
        self._set_parameters(locals())


@documented()
class AGBMRegressor(_Regressor):
    """A-GBM regressor: boosted trees that select few features; every node searches all features."""

    def __init__(
        self,
        *,
        n_estimators: int = 100,
        learning_rate: float = 0.1,
        penalty: float = 0.001,
        n_features_to_select: int | str | None = None,
        feature_costs: Any = None,
        feature_groups: Any = None,
        fixed_features: Any = None,
        cost_budget: float | None = None,
        min_node_fraction: float = 0.02,
        min_samples_leaf: int | None = None,
        max_depth: int | None = None,
        max_leaf_nodes: int | str | None = "auto",
        l2_regularization: float = 0.0,
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
        memory_limit: int | str | None = None,
    ) -> None:
        self._set_parameters(locals())


@documented()
class GBFSRegressor(_Regressor):
    """GBFS regressor: like A-GBM, but with the penalty in absolute units of the squared error."""

    penalty_scale = "absolute"

    def __init__(
        self,
        *,
        n_estimators: int = 100,
        learning_rate: float = 0.1,
        penalty: float = 1.0,
        n_features_to_select: int | str | None = None,
        feature_costs: Any = None,
        feature_groups: Any = None,
        fixed_features: Any = None,
        cost_budget: float | None = None,
        min_node_fraction: float = 0.02,
        min_samples_leaf: int | None = None,
        max_depth: int | None = None,
        max_leaf_nodes: int | str | None = "auto",
        l2_regularization: float = 0.0,
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
        memory_limit: int | str | None = None,
    ) -> None:
        self._set_parameters(locals())
