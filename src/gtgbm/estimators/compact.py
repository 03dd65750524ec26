"""Compact models for serving, which take the selected columns only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_array

from gtgbm import _core
from gtgbm.data import FrameSchema, as_frame, as_table, check_sparse, listed, unmasked
from gtgbm.estimators.outcomes import decisions, labels, probabilities
from gtgbm.estimators.threads import pool_for_rows
from gtgbm.exact import F64, I64
from gtgbm.losses import Loss
from gtgbm.tree import Forest

_NATIVE_LINKS = {
    "identity": _core.RowScorer.Link.identity,
    "logistic": _core.RowScorer.Link.logistic,
    "exponential": _core.RowScorer.Link.exponential,
}
"""Link functions that native code computes with the bits of the losses."""


@dataclass(frozen=True, eq=False, repr=False)
class CompactModel:
    """Common base of the compact models: reading tables and rows of the selected columns."""

    _forest: Any
    _n_jobs: int | None
    features_: I64
    _schema: FrameSchema | None
    _loss: Loss
    _takes_arrays: ClassVar[bool]

    def __post_init__(self) -> None:
        self.features_.flags.writeable = False
        # An array has no text: its numbers would be taken for codes of categories.
        is_numeric = self._schema is None or not self._schema.categorical
        object.__setattr__(self, "_takes_arrays", is_numeric)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(getattr(self, field.name) for field in fields(self))

    def __repr__(self) -> str:
        return f"{type(self).__name__}(n_features_in_={self.n_features_in_}, n_trees={self._forest.n_trees})"

    @property
    def n_features_in_(self) -> int:
        """Number of columns the model takes."""
        return int(self.features_.shape[0])

    @property
    def feature_names_(self) -> NDArray[Any] | None:
        """Names of the columns the model takes, if the training table had any."""
        if self._schema is None or not self._schema.is_named:
            return None
        return np.array([column.name for column in self._schema.columns], dtype=object)

    def _table(self, X: Any) -> tuple[Any, bool]:
        """Return `X` as a table of K columns, and whether it was a single row."""
        if type(X) is not np.ndarray or X.dtype.kind not in "fiub" or not self._takes_arrays:
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
        """Return the columns of a dataframe, or the entries of a row by name, as an array."""
        schema, X = self._schema, unmasked(X)
        if schema is not None:
            if self.n_features_in_ == 0 and hasattr(X, "columns"):
                # Nothing was selected: only the number of a dataframe's rows counts.
                return np.empty((len(X), 0))
            frame = as_frame(X)
            if frame is not None:
                schema.check_width(frame[0])
                return schema.table(frame[0])
            if schema.is_named and hasattr(X, "keys"):
                return schema.row(X)
            if schema.categorical:
                raise ValueError(
                    "X is not a dataframe, but the model was trained on one with columns of text or "
                    f"categories ({listed(schema.text_names)}): give a dataframe, or a row of one by name"
                )
        check_sparse(X)
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
    """A compact model of one task."""

    _forest: Forest

    def _scores(self, X: Any) -> tuple[F64, bool]:
        """Return scores of shape (k, n), and whether `X` was a single row."""
        table, is_row = self._table(X)
        return self._forest.scores(table, pool_for_rows(self._n_jobs, table.shape[0])), is_row

    def _prepared(self, convert: Callable[[F64], Any], *, keeps_link: bool) -> Callable[[NDArray[Any]], Any]:
        """Return a function of one row.

        Parameters
        ----------
        convert : callable
            Converts scores of shape (k, 1) to the prediction of the row.
        keeps_link : bool
            Whether the prediction is the link function of the loss, which native code may then compute.
        """
        if not self._takes_arrays:
            assert self._schema is not None
            raise ValueError(
                "prepare() is for rows of numbers, but the model was trained on columns of text or "
                f"categories ({listed(self._schema.text_names)}): call the methods of the model with a row "
                "by name"
            )
        if keeps_link and self._loss.link in _NATIVE_LINKS:
            return self._forest.row_scorer(self.n_features_in_, _NATIVE_LINKS[self._loss.link]).predict
        scorer = self._forest.row_scorer(self.n_features_in_, _core.RowScorer.Link.identity)
        n_scores = self._forest.start.shape[0]

        def predict(row: NDArray[Any]) -> Any:
            scores = np.empty(n_scores)
            scorer.scores(row, scores)
            return convert(scores[:, None])

        return predict


@dataclass(frozen=True, eq=False, repr=False)
class CompactRegressor(_CompactForest):
    """The trees of a fitted regressor or ranker, over the selected columns only.

    Predictions are identical to those of the estimator. Every method takes ``X`` of shape (n, K): an array
    or a sparse matrix with the columns in the order of ``features_``, or a dataframe, whose columns are found
    by name if the estimator was fitted on a dataframe. For a single row of shape (K,) the result has one
    dimension less. The model is immutable.

    Attributes
    ----------
    features_ : ndarray of int64, shape (K,)
        The columns of the training table that ``X`` must hold, in this order: the ``selected_features_`` of
        the estimator.
    feature_names_ : ndarray of str, shape (K,), or None
        Their names, if the training table had names.
    n_features_in_ : int
        K, the number of columns of ``X``.
    """

    def predict(self, X: Any) -> Any:
        """Predict targets, or the scores of a ranker.

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

    def prepare(self) -> Callable[[NDArray[Any]], float]:
        """Return a function that predicts single rows as fast as possible.

        It checks the shape and the dtype of the row, and nothing else.

        Returns
        -------
        callable
            Takes an ndarray of float64 or float32, shape (K,); returns what `predict` does, bit for bit, as a
            float.
        """
        return self._prepared(lambda scores: float(self._loss.predict(scores)[0]), keeps_link=True)


@dataclass(frozen=True, eq=False, repr=False)
class CompactClassifier(_CompactForest):
    """The trees of a fitted classifier, over the selected columns only.

    Predictions are identical to those of the estimator. Every method takes ``X`` of shape (n, K): an array
    or a sparse matrix with the columns in the order of ``features_``, or a dataframe, whose columns are found
    by name if the estimator was fitted on a dataframe. For a single row of shape (K,) the result has one
    dimension less. The model is immutable.

    Attributes
    ----------
    features_ : ndarray of int64, shape (K,)
        The columns of the training table that ``X`` must hold, in this order: the ``selected_features_`` of
        the estimator.
    feature_names_ : ndarray of str, shape (K,), or None
        Their names, if the training table had names.
    n_features_in_ : int
        K, the number of columns of ``X``.
    classes_ : ndarray
        Class labels.
    """

    classes_: NDArray[Any]

    def __post_init__(self) -> None:
        super().__post_init__()
        self.classes_.flags.writeable = False

    def decision_function(self, X: Any) -> Any:
        """Return decision scores.

        For two classes a score above 0 predicts the second class; otherwise there is one column per class.

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
        """Predict the probability of each class, in the order of ``classes_``.

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
        """Predict the most probable class.

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

    def prepare(self) -> Callable[[NDArray[Any]], Any]:
        """Return a function that predicts single rows as fast as possible.

        It checks the shape and the dtype of the row, and nothing else.

        Returns
        -------
        callable
            Takes an ndarray of float64 or float32, shape (K,). Returns the probability of the second of two
            classes as a float, or the probabilities of more classes, an ndarray of shape (classes,): those of
            `predict_proba`, bit for bit.
        """

        def probability(scores: F64) -> Any:
            p = probabilities(scores, self._loss)[0]
            return p if scores.shape[0] > 1 else float(p[1])

        return self._prepared(probability, keeps_link=self._loss.link == "logistic")
