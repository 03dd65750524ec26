"""The classifiers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d, validate_data

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
from gtgbm.estimators.compact import CompactClassifier
from gtgbm.estimators.documentation import documented
from gtgbm.estimators.outcomes import decisions, labels, probabilities
from gtgbm.losses import LogLoss, Loss, MultinomialLoss, SquaredError


class _Classifier(ClassifierMixin, BaseGTGBM):
    def fit(self, X: Any, y: Any, eval_set: Any = None, callbacks: Sequence[Callback] | None = None) -> Any:
        """Fit the model.

        Parameters
        ----------
        X : array-like or scipy CSR or CSC matrix, shape (n, d)
            Any float or integer dtype, either memory order; NaN is missing. A dense array is not copied, a
            sparse one not made dense.
        y : array-like, shape (n,)
            Class labels.
        eval_set : (X, y) or list of such pairs, optional
            Data whose loss is followed in ``evals_result_``; the last one decides early stopping.
        callbacks : sequence of callables, optional
            Called after each round with a ``Progress``; returning True stops training.

        Returns
        -------
        self
        """
        self._forget()
        X, y = validate_data(self, X, y, **INPUT, ensure_min_samples=2)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        loss = self._make_loss(self.classes_.shape[0])
        pairs = []
        for k, (Xv, yv) in enumerate(pairs_of(eval_set)):
            table = check_eval_table(self, Xv, k)
            pairs.append((table, self._codes_of(table, yv, k)))
        self._fit(X, codes.astype(np.float64), loss, pairs, listed(callbacks))
        return self

    def decision_function(self, X: Any) -> F64:
        """Scores of rows: above 0 for the second of two classes; one column per class for more.

        Parameters
        ----------
        X : array-like, shape (n, d)

        Returns
        -------
        ndarray of float64, shape (n,) or (n, classes)
        """
        return decisions(self._scores(X), self._fitted_loss)

    def predict_proba(self, X: Any) -> F64:
        """Probability of each class.

        Parameters
        ----------
        X : array-like, shape (n, d)

        Returns
        -------
        ndarray of float64, shape (n, classes)
        """
        return probabilities(self._scores(X), self._fitted_loss)

    def predict(self, X: Any) -> NDArray[Any]:
        """Most probable class.

        Parameters
        ----------
        X : array-like, shape (n, d)

        Returns
        -------
        ndarray, shape (n,)
        """
        return labels(self.decision_function(X), self.classes_)

    def compact(self) -> CompactClassifier:
        """Return a small model for serving that takes the selected columns only.

        Returns
        -------
        CompactClassifier
            Takes K columns, in the order of ``selected_features_``, and predicts the same bits.
        """
        return CompactClassifier(*self._compact_parts(), self._fitted_loss, self.classes_.copy())

    def _make_loss(self, n_classes: int) -> Loss:
        name = check.option("loss", self.loss, ("log_loss", "squared_error"))
        if n_classes < 2:
            raise ValueError(
                f"y has one class only ({self.classes_[0]}): a classifier needs at least two classes"
            )
        if name == "log_loss":
            return LogLoss() if n_classes == 2 else MultinomialLoss(n_classes)
        if n_classes > 2:
            raise ValueError(
                f"loss='squared_error' is for two classes, y has {n_classes}: use loss='log_loss'"
            )
        return SquaredError()

    def _codes_of(self, X: NDArray[Any], y: Any, k: int) -> F64:
        y = column_or_1d(y)
        check_lengths(X, y, k)
        unknown = np.setdiff1d(y, self.classes_)
        if unknown.shape[0]:
            raise ValueError(
                f"eval_set[{k}]: y has classes that training did not see: {unknown[:5].tolist()}"
            )
        return np.asarray(np.searchsorted(self.classes_, y), dtype=np.float64)


_CLASSES = {"classes_": ("ndarray", "Class labels.")}


@documented(**_CLASSES)
class GTGBMClassifier(_Classifier):
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
        loss: str = "log_loss",
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


@documented(**_CLASSES)
class AGBMClassifier(_Classifier):
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
        loss: str = "log_loss",
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


@documented(**_CLASSES)
class GBFSClassifier(_Classifier):
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
        loss: str = "log_loss",
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
