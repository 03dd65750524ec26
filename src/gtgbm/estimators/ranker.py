"""The ranker."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

from gtgbm.boosting import AnyCallback
from gtgbm.estimators.compact import CompactRegressor
from gtgbm.estimators.documentation import documented
from gtgbm.estimators.rows import (
    EvalSets,
    Rows,
    checked_offset,
    checked_qid,
    checked_weight,
    listed,
    weight_of_queries,
)
from gtgbm.estimators.single_task import SingleTask
from gtgbm.estimators.tables import read_training
from gtgbm.estimators.targets import RelevanceTargets
from gtgbm.exact import F64
from gtgbm.metrics import METRICS

if TYPE_CHECKING:
    from typing_extensions import Self


@documented()
class GTGBMRanker(RelevanceTargets, SingleTask):
    """GT-GBM ranker: boosted trees that rank the documents of queries and select few features."""

    _limits_searches = True
    _ranks = True

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
        truncation_level: int = 30,
        memory_limit: int | str | None = None,
    ) -> None:
        self._set_parameters(locals())

    def fit(  # type: ignore[override]  # qid is as much part of the data as y
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
        offset: Any = None,
        eval_offset: Any = None,
        checkpoint: str | PathLike[str] | None = None,
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like or scipy CSR or CSC matrix, shape (n, d)
            Any float or integer dtype, in either memory order; NaN is a missing value. Dense arrays are not
            copied, sparse matrices are not made dense. Dataframes are accepted as well.
        y : array-like of int, shape (n,)
            Relevance of each document: integers from 0.
        sample_weight : array-like, shape (n,), optional
            Weights of at least 0, the same for all rows of a query: a query of weight 2 counts as two.
        eval_set : (X, y) or list of such pairs, optional
            Rows on which loss and metrics are evaluated after each round (``evals_result_``). The last pair
            decides early stopping.
        qid : array-like, shape (n,)
            Query of each row, in any order.
        callbacks : sequence of Callback or callables, optional
            ``Callback`` objects are called at the start, after each round and at the end, plain callables
            after each round; both get a ``Progress`` and may stop training.
        eval_qid : array-like or list of array-like, optional
            Query of each row of each eval set.
        eval_sample_weight : array-like or list of array-like, optional
            Weights of the rows of each eval set.
        offset : array-like, shape (n,), optional
            Known part of the score of each document, which trees are added to, such as the score of another
            model. Give that of new documents to `predict`.
        eval_offset : array-like or list of array-like, optional
            Offsets of the rows of each eval set.
        checkpoint : str or path, optional
            File that holds the state of training after a round, written every second. If the fit is
            interrupted, the same call goes on from the file, to the same model. A finished fit removes it.

        Returns
        -------
        self
        """
        reset = self._is_reset()
        X, y = read_training(self, X, y, reset=reset, y_numeric=self._y_is_numeric)
        ids = checked_qid(qid, X.shape[0])
        self._choose_size(X, y, sample_weight, reset=reset, offset=offset, qid=ids)
        weight = weight_of_queries(checked_weight(sample_weight, X.shape[0]), ids, "sample_weight")
        rows = Rows(X, y, weight, ids, offset=checked_offset(offset, X.shape[0])).with_weight()
        sets = EvalSets(eval_set, eval_sample_weight, eval_qid, eval_offset)
        self._fit(rows, sets, listed(callbacks), checkpoint, reset=reset)
        return self

    def predict(self, X: Any, *, n_rounds: int | None = None, offset: Any = None) -> F64:
        """Predict scores to rank by; better documents have higher scores.

        Parameters
        ----------
        X : array-like, shape (n, d)
        n_rounds : int, optional
            Use only the trees of the first rounds.
        offset : array-like, shape (n,), optional
            What is added to the scores.

        Returns
        -------
        ndarray of float64, shape (n,)
        """
        return self._predicted(self._scores(X, n_rounds, offset))

    def score(self, X: Any, y: Any, qid: Any) -> float:
        """Return the mean NDCG of the queries.

        Parameters
        ----------
        X : array-like, shape (n, d)
        y : array-like of int, shape (n,)
        qid : array-like, shape (n,)

        Returns
        -------
        float
        """
        relevance = self._numbers_of(y, "y")
        return METRICS["ndcg"](relevance, self.predict(X), None, checked_qid(qid, relevance.shape[0]))

    def compact(self) -> CompactRegressor:
        """Return a small model for serving: the fitted trees only, without training data.

        Returns
        -------
        CompactRegressor
            Takes the K selected columns, in the order of ``selected_features_``; its predictions are
            identical to those of the estimator.
        """
        return CompactRegressor(*self._compact_parts(), self._fitted_loss)
