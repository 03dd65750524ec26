"""The ranker."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_array, column_or_1d

from gtgbm.boosting import AnyCallback
from gtgbm.estimators.base import BaseGTGBM
from gtgbm.estimators.compact import CompactRegressor
from gtgbm.estimators.documentation import documented
from gtgbm.estimators.rows import Rows, checked_qid, checked_weight, listed, weight_of_queries, with_weight
from gtgbm.estimators.tables import read_training
from gtgbm.exact import F64, I64
from gtgbm.losses import Loss, RankingLoss
from gtgbm.metrics import METRICS, TargetKind
from gtgbm.parameters import Context

if TYPE_CHECKING:
    from typing_extensions import Self

_MOST_RELEVANT = 31
"""Gains are 2 ** relevance - 1."""


@documented()
class GTGBMRanker(BaseGTGBM):
    """GT-GBM for rankings: sorts the documents of a query, and picks few features to do so."""

    _limits_searches = True
    _ranks = True
    _kind_of_target: TargetKind = "relevance"
    truncation_level: Any

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
        loss: Any = "lambdarank",
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
        criterion: str = "newton",
        subsample: float = 1.0,
        colsample: float = 1.0,
        monotone_constraints: Any = None,
        warm_start: bool = False,
        shortlist: float = 1.0,
        truncation_level: int = 30,
    ) -> None:
        self._set_parameters(locals())

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        eval_set: Any = None,
        qid: Any = None,
        callbacks: Sequence[AnyCallback] | None = None,
        *,
        eval_qid: Any = None,
        eval_sample_weight: Any = None,
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like or scipy CSR or CSC matrix, shape (n, d)
            Any float or integer dtype, either memory order; NaN is missing. A dense array is not copied, a
            sparse one not made dense.
        y : array-like of int, shape (n,)
            Relevance, from 0.
        sample_weight : array-like, shape (n,), optional
            Weights of at least 0, the same for all rows of a query: one of weight 2 counts as two queries.
        eval_set : (X, y) or list of such pairs, optional
            Data to follow loss and metrics on, in ``evals_result_``; the last one decides early stopping.
        qid : array-like, shape (n,)
            The query of each row; rows of a query need not stand together.
        callbacks : sequence of Callback or callables, optional
            Told of the start, of each round and of the end, with a ``Progress``; may stop training.
        eval_qid : array-like or list of such, optional
            Queries of the rows of each eval set.
        eval_sample_weight : array-like or list of such, optional
            Weights of the rows of each eval set.

        Returns
        -------
        self
        """
        anew = self._begins_anew()
        X, y = read_training(self, X, y, anew=anew, y_numeric=True)
        ids = checked_qid(qid, X.shape[0])
        weight = weight_of_queries(checked_weight(sample_weight, X.shape[0]), ids, "sample_weight")
        weight, X, y, ids = with_weight(weight, X, y, ids)
        relevance = _relevance(y, "y")
        validations = self._validation_rows(eval_set, eval_sample_weight, eval_qid, _relevance)
        self._fit(Rows(X, relevance, weight, ids), self._make_loss(), validations, listed(callbacks))
        return self

    def predict(self, X: Any) -> F64:
        """Scores by which to sort documents, the best ones highest.

        Parameters
        ----------
        X : array-like, shape (n, d)

        Returns
        -------
        ndarray of float64, shape (n,)
        """
        scores = self._scores(X)
        return self._fitted_loss.predict(scores)

    def score(self, X: Any, y: Any, qid: Any) -> float:
        """Mean NDCG of queries.

        Parameters
        ----------
        X : array-like, shape (n, d)
        y : array-like of int, shape (n,)
        qid : array-like, shape (n,)

        Returns
        -------
        float
        """
        relevance = _relevance(y, "y")
        return METRICS["ndcg"](relevance, self.predict(X), None, checked_qid(qid, relevance.shape[0]))

    def compact(self) -> CompactRegressor:
        """Return a small model for serving that takes the selected columns only.

        Returns
        -------
        CompactRegressor
            Takes K columns, in the order of ``selected_features_``, and predicts the same bits.
        """
        return CompactRegressor(*self._compact_parts(), self._fitted_loss)

    def _make_loss(self) -> Loss:
        truncation = self._checked("truncation_level")
        known = {"lambdarank": RankingLoss(True, truncation), "pairwise": RankingLoss(False, truncation)}
        loss: Loss = self._checked("loss", Context(losses=known, target="relevance"))
        return loss

    def _hold_out(self, rows: Rows, seed: int) -> tuple[I64, I64]:
        """Draw whole queries to validate with."""
        assert rows.qid is not None
        fraction = self._checked("validation_fraction")
        known = np.unique(rows.qid)
        count = round(fraction * known.shape[0])
        if not 0 < count < known.shape[0]:
            raise ValueError(
                f"validation_fraction={fraction} of {known.shape[0]} queries leaves none to train on or none "
                "to validate with: give another fraction, more queries or an eval_set"
            )
        drawn = np.random.default_rng(seed).choice(known, count, replace=False)
        is_held_out = np.isin(rows.qid, drawn)
        return np.flatnonzero(~is_held_out), np.flatnonzero(is_held_out)


def _relevance(y: Any, name: str) -> F64:
    relevance: F64 = column_or_1d(
        check_array(y, ensure_2d=False, dtype=np.float64, input_name=name), warn=True
    )
    wrong = (relevance < 0) | (relevance > _MOST_RELEVANT) | (relevance != np.rint(relevance))
    if wrong.any():
        raise ValueError(
            f"{name} holds {relevance[wrong][0]:g}: relevance must be a whole number, 0 to {_MOST_RELEVANT}"
        )
    return relevance
