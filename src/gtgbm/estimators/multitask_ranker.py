"""The multitask ranker."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from gtgbm.boosting import AnyCallback
from gtgbm.data import as_values
from gtgbm.estimators.compact_tasks import CompactTasksRegressor
from gtgbm.estimators.documentation import TASK_ATTRIBUTES, documented
from gtgbm.estimators.multitask_base import BaseMultitask
from gtgbm.estimators.multitask_input import RowColumns
from gtgbm.estimators.rows import EvalSets, checked_qid, listed
from gtgbm.estimators.rows_of_tasks import queries_of_rows, task_rows
from gtgbm.estimators.targets import RelevanceTargets
from gtgbm.exact import F64
from gtgbm.metrics import METRICS

if TYPE_CHECKING:
    from typing_extensions import Self


@documented(**TASK_ATTRIBUTES)
class MultitaskGTGBMRanker(RelevanceTargets, BaseMultitask):
    """Multitask GT-GBM ranker: ranks the documents of queries of several tasks, which share features.

    A feature that no task has selected yet costs a task ``group_penalty + task_penalty``, a feature that
    another task has selected costs ``task_penalty``, and the task's own features are free. Documents are
    ranked within a query and task: rows of two tasks with the same query id are two queries.
    """

    _ranks = True

    def __init__(
        self,
        *,
        n_estimators: int = 100,
        learning_rate: Any = 0.1,
        group_penalty: float = 0.001,
        task_penalty: Any = "auto",
        method: str = "multitask",
        task_order: str = "sequential",
        n_common_rounds: int = 0,
        n_features_to_select: int | str | None = None,
        selection: str = "auto",
        feature_costs: Any = None,
        feature_groups: Any = None,
        fixed_features: Any = None,
        cost_budget: float | None = None,
        n_features_per_task: int | None = None,
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
        truncation_level: int = 30,
    ) -> None:
        self._set_parameters(locals())

    def fit(  # type: ignore[override]  # qid is as much part of the data as y
        self,
        X: Any,
        y: Any,
        task: Any = None,
        sample_weight: Any = None,
        eval_set: Any = None,
        qid: Any = None,
        callbacks: Sequence[AnyCallback] | None = None,
        *,
        eval_task: Any = None,
        eval_qid: Any = None,
        eval_sample_weight: Any = None,
        offset: Any = None,
        eval_offset: Any = None,
        checkpoint: str | PathLike[str] | None = None,
    ) -> Self:
        """Fit the models of all tasks.

        Parameters
        ----------
        X : array-like or scipy CSR or CSC matrix, shape (n, d)
            As in ``GTGBMRanker.fit``. A task never selects a column that is missing in all its rows.
        y : array-like, shape (n,) or (n, T)
            Relevance of each document, integers from 0, together with `task`; or one column per task, with
            NaN where a document has no relevance for a task.
        task : array-like, shape (n,)
            Task of each row, of any hashable type. Omit it for targets of shape (n, T).
        sample_weight : array-like, shape (n,), optional
            Weights of at least 0, the same for all rows of a query and task. Rows of weight 0 are dropped.
        eval_set : (X, y), optional
            Rows on which loss and metrics of each task are evaluated; they decide early stopping.
        qid : array-like, shape (n,)
            Query of each row, in any order.
        callbacks : sequence of Callback or callables, optional
            ``Callback`` objects are called at the start, after each round of all tasks and at the end, plain
            callables after each round; both get a ``Progress`` and may stop training.
        eval_task : array-like, optional
            Task of each row of the eval set.
        eval_qid : array-like, optional
            Query of each row of the eval set.
        eval_sample_weight : array-like, optional
            Weights of the rows of the eval set.
        offset : array-like, shape of `y`, optional
            Known part of the score of each document, which trees are added to, such as the score of another
            model. Give that of new documents to `predict`.
        eval_offset : array-like, shape of the targets of the eval set, optional
            Offsets of the rows of the eval set.
        checkpoint : str or path, optional
            File that holds the state of training after a round of all tasks, written every second. If the
            fit is interrupted, the same call goes on from the file, to the same models. A finished fit
            removes it.

        Returns
        -------
        self
        """
        given = RowColumns(task, sample_weight, qid, offset)
        sets = EvalSets(eval_set, eval_sample_weight, eval_qid, eval_offset, eval_task)
        self._fit(X, y, given, sets, listed(callbacks), checkpoint)
        return self

    def predict(self, X: Any, task: Any = None, *, n_rounds: int | None = None, offset: Any = None) -> F64:
        """Predict scores to rank by; better documents of a query have higher scores.

        Parameters
        ----------
        X : array-like, shape (n, d)
        task : array-like, shape (n,)
            Task of each row. Omit it if the training targets had one column per task.
        n_rounds : int, optional
            Use only the trees of the first rounds.
        offset : array-like, as in `fit`, optional
            What is added to the scores.

        Returns
        -------
        ndarray of float64, shape (n,), or (n, T) without `task`
        """
        return self._predicted(self._task_scores(X, task, n_rounds, offset))

    def score(self, X: Any, y: Any, qid: Any, *, task: Any = None) -> float:
        """Return the mean NDCG of the queries of all tasks; without `task`, the mean over tasks.

        Parameters
        ----------
        X, y, qid, task
            As in `fit`.

        Returns
        -------
        float
        """
        n_rows = np.shape(y)[0]
        ids = checked_qid(qid, n_rows)
        if task is not None:
            labels = task_rows(y, as_values(task), n_rows, "y", "task")
            ids = queries_of_rows(ids, labels.rows)
        return self._mean_score(_ndcg, X, y, task, qid=ids)

    def compact(self) -> CompactTasksRegressor:
        """Return a small model for serving: the fitted trees only, without training data.

        Returns
        -------
        CompactTasksRegressor
            Takes the K columns selected by any task, in the order of ``selected_features_``; its predictions
            are identical to those of the estimator.
        """
        return CompactTasksRegressor(*self._compact_parts())


def _ndcg(y: Any, predicted: F64, qid: Any) -> float:
    return METRICS["ndcg"](y, predicted, None, qid)
