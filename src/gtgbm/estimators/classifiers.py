"""The classifiers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from gtgbm.boosting import AnyCallback
from gtgbm.estimators.base import BaseGTGBM
from gtgbm.estimators.compact import CompactClassifier
from gtgbm.estimators.documentation import documented
from gtgbm.estimators.outcomes import decisions, labels, probabilities
from gtgbm.estimators.rows import Rows, checked_weight, listed, with_weight
from gtgbm.estimators.tables import read_training
from gtgbm.exact import F64
from gtgbm.losses import NOT_OF_CLASSES, LogLoss, Loss, MultinomialLoss, Pointwise, SquaredError
from gtgbm.metrics import TargetKind
from gtgbm.parameters import Context

LOSSES_OF_CLASSES: dict[str, Loss] = {"log_loss": LogLoss(), "squared_error": SquaredError()}

if TYPE_CHECKING:
    from typing_extensions import Self


class _Classifier(ClassifierMixin, BaseGTGBM):
    class_weight: Any

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
            Class labels.
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
        X, y = read_training(self, X, y, anew=anew)
        check_classification_targets(y)
        weight = checked_weight(sample_weight, X.shape[0])
        weight, X, y = with_weight(weight, X, y)
        weight, X, y = with_weight(self._with_class_weight(y, weight), X, y)
        if anew:
            self.classes_ = np.unique(y)
        codes = self._codes_of(y, "y")
        loss = self._make_loss()
        validations = self._validation_rows(eval_set, eval_sample_weight, None, self._codes_of)
        self._fit(Rows(X, codes, weight), loss, validations, listed(callbacks))
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

    def _make_loss(self) -> Loss:
        n_classes = self.classes_.shape[0]
        if n_classes < 2:
            raise ValueError(
                f"y has one class only ({self.classes_[0]}): a classifier needs at least two classes"
            )
        function: Loss = self._checked("loss", Context(losses=LOSSES_OF_CLASSES))
        if n_classes == 2 and isinstance(function, Pointwise):
            if isinstance(self.loss, NOT_OF_CLASSES):
                raise ValueError(f"loss={self.loss!r} is for regressors: use 'log_loss' or one of your own")
            return function.of_classes()
        if n_classes == 2:
            return function
        if self.loss != "log_loss":
            raise ValueError(f"loss={self.loss!r} is for two classes, y has {n_classes}: use loss='log_loss'")
        if self.monotone_constraints is not None:
            raise ValueError(
                f"monotone_constraints are for two classes, y has {n_classes}: one probability among many "
                "cannot be bound to rise; use None"
            )
        return MultinomialLoss(n_classes)

    @property
    def _kind_of_target(self) -> TargetKind:
        return "binary" if self.classes_.shape[0] == 2 else "multiclass"

    def _codes_of(self, y: Any, name: str) -> F64:
        y = column_or_1d(y)
        unknown = np.setdiff1d(y, self.classes_)
        if unknown.shape[0]:
            raise ValueError(f"{name} has classes that training did not see: {unknown[:5].tolist()}")
        return np.asarray(np.searchsorted(self.classes_, y), dtype=np.float64)

    def _with_class_weight(self, y: Any, weight: F64 | None) -> F64 | None:
        if self._checked("class_weight") is None:
            return weight
        try:
            by_class = compute_sample_weight(self.class_weight, y)
        except ValueError as error:
            raise ValueError(f"class_weight={self.class_weight!r}: {error}") from error
        return checked_weight(by_class if weight is None else by_class * weight, y.shape[0], "class_weight")


_CLASSES = {"classes_": ("ndarray", "Class labels.")}


@documented(**_CLASSES)
class GTGBMClassifier(_Classifier):
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
        shortlist: float = 1.0,
        class_weight: Any = None,
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
    ) -> None:
        self._set_parameters(locals())
