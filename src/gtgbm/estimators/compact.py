"""Models for serving, which take the selected columns only."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_array

from gtgbm.data import FrameSchema, as_frame, as_table, listed
from gtgbm.estimators.outcomes import decisions, labels, probabilities
from gtgbm.estimators.threads import pool_for_rows
from gtgbm.exact import F64, I64
from gtgbm.losses import Loss
from gtgbm.tree import Forest


@dataclass(frozen=True, eq=False, repr=False)
class CompactModel:
    """Common base of the models for serving: the columns they take."""

    _forest: Any
    _n_jobs: int | None
    features_: I64
    _schema: FrameSchema | None
    _loss: Loss

    def __post_init__(self) -> None:
        self.features_.flags.writeable = False

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(getattr(self, field.name) for field in fields(self))

    def __repr__(self) -> str:
        return f"{type(self).__name__}(n_features_in_={self.n_features_in_}, n_trees={self._forest.n_trees})"

    @property
    def n_features_in_(self) -> int:
        """Columns the model takes."""
        return int(self.features_.shape[0])

    @property
    def feature_names_(self) -> NDArray[Any] | None:
        """Names of the columns the model takes, if the training table had any."""
        if self._schema is None or not self._schema.is_named:
            return None
        return np.array([column.name for column in self._schema.columns], dtype=object)

    def _table(self, X: Any) -> tuple[Any, bool]:
        """Return rows as a table of K columns, and whether `X` was a single row."""
        if type(X) is not np.ndarray or X.dtype.kind not in "fiub":
            X = self._to_numbers(X)
        is_row = X.ndim == 1
        table = X[None] if is_row else X
        if table.ndim != 2 or table.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has shape {X.shape}; {self._expected()} are needed: give (rows, {self.n_features_in_}), "
                f"or ({self.n_features_in_},) for a single row"
            )
        return as_table(table) if isinstance(table, np.ndarray) else table, is_row

    def _to_numbers(self, X: Any) -> Any:
        """Pick the columns of a dataframe (or the entries of one of its rows) by name; make an array."""
        schema = self._schema
        if schema is not None:
            if self.n_features_in_ == 0 and hasattr(X, "columns"):
                # Nothing was selected: only the number of a dataframe's rows counts.
                return np.empty((len(X), 0))
            found = as_frame(X)
            if found is not None:
                schema.check_width(found[0])
                return schema.table(found[0])
            if schema.is_named and hasattr(X, "keys"):
                return schema.row(X)
            if schema.categorical:
                raise ValueError(
                    f"X must be a dataframe or a row of one by name: {self._expected()} are needed"
                )
        return check_array(
            X,
            accept_sparse=("csr", "csc"),
            dtype="numeric",
            ensure_all_finite=False,
            ensure_2d=False,
            ensure_min_samples=0,
            ensure_min_features=0,
        )

    def _expected(self) -> str:
        if self.feature_names_ is not None:
            return f"{self.n_features_in_} columns ({listed(self.feature_names_.tolist())})"
        return f"{self.n_features_in_} columns ({listed(self.features_.tolist())} of the training table)"


@dataclass(frozen=True, eq=False, repr=False)
class _CompactForest(CompactModel):
    """A model of one task."""

    _forest: Forest

    def _scores(self, X: Any) -> tuple[F64, bool]:
        """Scores (k, n), and whether `X` was a single row."""
        table, is_row = self._table(X)
        return self._forest.scores(table, pool_for_rows(self._n_jobs, table.shape[0])), is_row


@dataclass(frozen=True, eq=False, repr=False)
class CompactRegressor(_CompactForest):
    """A fitted regressor or ranker that takes only the columns it selected; predicts the same bits.

    Every method takes ``X`` of shape (n, K): an array with the columns in the order of ``features_``, a
    sparse matrix, or a dataframe, whose columns are picked by name if the estimator was fitted on one. A
    single row of shape (K,) gives the result of that row, one dimension less. The model cannot be changed.

    Attributes
    ----------
    features_ : ndarray of int64, shape (K,)
        Columns of the training table to give, in this order: the estimator's ``selected_features_``.
    feature_names_ : ndarray of str, shape (K,), or None
        Their names, if the training table had any.
    n_features_in_ : int
        K.
    """

    def predict(self, X: Any) -> Any:
        """Predict targets, or scores to rank by.

        Parameters
        ----------
        X : array-like, shape (n, K) or (K,)

        Returns
        -------
        ndarray of float64, shape (n,), or a float for a single row
        """
        scores, is_row = self._scores(X)
        predicted = self._loss.predict(scores)
        return predicted[0] if is_row else predicted


@dataclass(frozen=True, eq=False, repr=False)
class CompactClassifier(_CompactForest):
    """A fitted classifier that takes only the columns it selected; predicts the same bits.

    Every method takes ``X`` of shape (n, K): an array with the columns in the order of ``features_``, a
    sparse matrix, or a dataframe, whose columns are picked by name if the estimator was fitted on one. A
    single row of shape (K,) gives the result of that row, one dimension less. The model cannot be changed.

    Attributes
    ----------
    features_ : ndarray of int64, shape (K,)
        Columns of the training table to give, in this order: the estimator's ``selected_features_``.
    feature_names_ : ndarray of str, shape (K,), or None
        Their names, if the training table had any.
    n_features_in_ : int
        K.
    classes_ : ndarray
        Class labels.
    """

    classes_: NDArray[Any]

    def __post_init__(self) -> None:
        super().__post_init__()
        self.classes_.flags.writeable = False

    def decision_function(self, X: Any) -> Any:
        """Scores of rows: above 0 for the second of two classes; one column per class for more.

        Parameters
        ----------
        X : array-like, shape (n, K) or (K,)

        Returns
        -------
        ndarray of float64, shape (n,) or (n, classes); a float or shape (classes,) for a single row
        """
        scores, is_row = self._scores(X)
        decided = decisions(scores, self._loss)
        return decided[0] if is_row else decided

    def predict_proba(self, X: Any) -> F64:
        """Probability of each class.

        Parameters
        ----------
        X : array-like, shape (n, K) or (K,)

        Returns
        -------
        ndarray of float64, shape (n, classes), or (classes,) for a single row
        """
        scores, is_row = self._scores(X)
        p = probabilities(scores, self._loss)
        return np.asarray(p[0]) if is_row else p

    def predict(self, X: Any) -> Any:
        """Most probable class.

        Parameters
        ----------
        X : array-like, shape (n, K) or (K,)

        Returns
        -------
        ndarray, shape (n,), or a label for a single row
        """
        scores, is_row = self._scores(X)
        predicted = labels(decisions(scores, self._loss), self.classes_)
        return predicted[0] if is_row else predicted
