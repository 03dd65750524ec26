"""The classifiers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.class_weight import compute_sample_weight

from gtgbm.estimators.compact import CompactClassifier
from gtgbm.estimators.documentation import documented
from gtgbm.estimators.rows import Rows, checked_weight
from gtgbm.estimators.single_task import SingleTask
from gtgbm.estimators.staged_classes import StagedClasses
from gtgbm.estimators.targets import ClassTargets
from gtgbm.exact import ALONE, F64, Communicator, union


class _Classifier(StagedClasses, ClassTargets, SingleTask):
    class_weight: Any

    def decision_function(self, X: Any, *, n_rounds: int | None = None, offset: Any = None) -> F64:
        """Return decision scores.

        For two classes a score above 0 predicts the second class; otherwise there is one column per class.

        Parameters
        ----------
        X : array-like, shape (n, d)
        n_rounds : int, optional
            Use only the trees of the first rounds.
        offset : array-like, as in `fit`, optional
            What is added to the scores.

        Returns
        -------
        ndarray of float64, shape (n,) or (n, classes)
        """
        return self._decisions(self._scores(X, n_rounds, offset))

    def predict_proba(self, X: Any, *, n_rounds: int | None = None, offset: Any = None) -> F64:
        """Predict the probability of each class, in the order of ``classes_``.

        Parameters
        ----------
        X : array-like, shape (n, d)
        n_rounds : int, optional
            Use only the trees of the first rounds.
        offset : array-like, as in `fit`, optional
            What is added to the scores.

        Returns
        -------
        ndarray of float64, shape (n, classes)
        """
        return self._probabilities(self._scores(X, n_rounds, offset))

    def predict(self, X: Any, *, n_rounds: int | None = None, offset: Any = None) -> NDArray[Any]:
        """Predict the most probable class.

        Parameters
        ----------
        X : array-like, shape (n, d)
        n_rounds : int, optional
            Use only the trees of the first rounds.
        offset : array-like, as in `fit`, optional
            What is added to the scores.

        Returns
        -------
        ndarray, shape (n,)
        """
        return self._predicted(self._scores(X, n_rounds, offset))

    def compact(self) -> CompactClassifier:
        """Return a small model for serving: the fitted trees only, without training data.

        Returns
        -------
        CompactClassifier
            Takes the K selected columns, in the order of ``selected_features_``; its predictions are
            identical to those of the estimator.
        """
        return CompactClassifier(*self._compact_parts(), self._fitted_loss, self.classes_.copy())

    def _with_class_weight(self, rows: Rows, communicator: Communicator = ALONE) -> Rows:
        if self._checked("class_weight") is None:
            return rows
        labels = union(rows.y, communicator)
        number = np.searchsorted(labels, rows.y)
        counts = communicator.sum(np.bincount(number, minlength=labels.shape[0]).astype(np.int64))
        if self.class_weight == "balanced":
            of_class = counts.sum() / (labels.shape[0] * counts.astype(np.float64))
        else:
            try:
                of_class = compute_sample_weight(self.class_weight, labels)
            except ValueError as error:
                raise ValueError(f"class_weight={self.class_weight!r}: {error}") from error
        weight = of_class[number] if rows.weight is None else of_class[number] * rows.weight
        checked = checked_weight(weight, rows.y.shape[0], "class_weight", communicator)
        return replace(rows, weight=checked).with_weight(communicator)


_CLASSES = {"classes_": ("ndarray", "Class labels.")}


@documented(**_CLASSES)
class GTGBMClassifier(_Classifier):
    """GT-GBM classifier: boosted trees that select few features, searched for by group testing."""

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
        loss: Any = "log_loss",
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
        class_weight: Any = None,
        memory_limit: int | str | None = None,
    ) -> None:
        self._set_parameters(locals())


@documented(**_CLASSES)
class AGBMClassifier(_Classifier):
    """A-GBM classifier: boosted trees that select few features; every node searches all features."""

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
        loss: Any = "log_loss",
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
        class_weight: Any = None,
        memory_limit: int | str | None = None,
    ) -> None:
        self._set_parameters(locals())


@documented(**_CLASSES)
class GBFSClassifier(_Classifier):
    """GBFS classifier: like A-GBM, but with the penalty in absolute units of the squared error."""

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
        loss: Any = "log_loss",
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
        class_weight: Any = None,
        memory_limit: int | str | None = None,
    ) -> None:
        self._set_parameters(locals())
