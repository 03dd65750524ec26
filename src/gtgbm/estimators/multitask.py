"""Models of several tasks that share features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from gtgbm.arrays import F64
from gtgbm.callbacks import AnyCallback
from gtgbm.data.input import as_table, check_rows
from gtgbm.estimators import parameters as check
from gtgbm.estimators.base import INPUT, BaseGTGBM, check_eval_table
from gtgbm.estimators.documentation import TASK_ATTRIBUTES, documented
from gtgbm.estimators.outcomes import decisions, probabilities
from gtgbm.estimators.regressors import LOSSES, numbers
from gtgbm.estimators.rows import Rows, checked_weight, listed, pairs_of
from gtgbm.estimators.task_rows import TaskRows, as_one_task, check_tasks, per_task, task_rows, with_task
from gtgbm.estimators.threads import make_pool, pool_for_rows
from gtgbm.evaluation import Validation
from gtgbm.losses.base import Loss
from gtgbm.losses.classic import LogLoss, SquaredError
from gtgbm.losses.pointwise import Pointwise
from gtgbm.metrics import TargetKind
from gtgbm.multitask import FittedTasks, Task, train_tasks
from gtgbm.progress import ProgressBar
from gtgbm.training import Evaluated, train
from gtgbm.tree import importances

METHODS = ("multitask", "group-sparse", "independent", "single-task")


class _Multitask(BaseGTGBM):
    group_penalty: Any
    task_penalty: Any
    n_features_per_task: Any
    method: Any
    task_importances_: dict[Any, F64]
    # What BaseGTGBM reads, and tasks have in other forms or not at all.
    penalty = 0.0
    categorical_features = None
    warm_start = False
    _looks_seldom = True

    def fit(
        self,
        X: Any,
        y: Any,
        task: Any = None,
        sample_weight: Any = None,
        eval_set: Any = None,
        callbacks: Sequence[AnyCallback] | None = None,
        *,
        eval_task: Any = None,
    ) -> Any:
        """Fit the models of all tasks.

        Parameters
        ----------
        X : array-like or scipy CSR or CSC matrix, shape (n, d)
            As in ``GTGBMClassifier.fit``. A column missing in all rows of a task is never bought for it.
        y : array-like, shape (n,) or (n, T)
            Targets, with `task`; or one column of targets per task, NaN where a row has none.
        task : array-like, shape (n,)
            The task of each row, of any type; absent for targets of shape (n, T).
        sample_weight : array-like, shape (n,), optional
            Weights of at least 0.
        eval_set : (X, y), optional
            Data on which each task's early stopping is decided.
        callbacks : sequence of Callback or callables, optional
            Told of the start, of each round of all tasks and of the end; may stop training.
        eval_task : array-like, optional
            The task of each row of the eval set.

        Returns
        -------
        self
        """
        self._forget()
        X = validate_data(self, X, **INPUT, ensure_min_samples=2)
        check_rows(X.shape[0])
        labels = task_rows(y, task, X.shape[0], "y", "task")
        check_tasks(labels)
        self._matrix_form, self.tasks_ = task is None, labels.names
        loss = self._prepare_targets(labels)
        weight = checked_weight(sample_weight, X.shape[0])
        for name, rows in zip(labels.names, labels.rows, strict=True):
            if weight is not None and not weight[rows].any():
                raise ValueError(f"sample_weight is zero for all rows of task {name!r}; leave the task out")
        evaluated = self._evaluated(eval_set, eval_task)
        random = check_random_state(self.random_state)
        seed = int(random.randint(np.iinfo(np.int32).max))
        X = X.tocsr() if issparse(X) else X
        self._is_single = check.option("method", self.method, METHODS) == "single-task"
        if self._is_single:
            X, labels, weight = as_one_task(X, labels, weight)
            evaluated = {}
        tasks = [
            self._task(X, labels, k, weight, evaluated.get(labels.names[k]), seed)
            for k in range(len(labels.names))
        ]
        group, _ = self._penalties(labels.names)
        limit = check.optional_count(
            "n_features_to_select", self.n_features_to_select, low=1, high=X.shape[1]
        )
        if self._is_single:
            return self._fit_single(tasks[0], loss, limit, seed, callbacks)
        verbose = check.count("verbose", int(self.verbose), low=0)
        with ProgressBar(verbose > 0, tasks[0].settings.n_estimators) as bar:
            fitted = train_tasks(
                tasks,
                loss,
                group,
                None if self.method == "independent" else limit,
                seed=seed,
                pool=make_pool(self.n_jobs),
                callbacks=[bar.update, *listed(callbacks)],
            )
        self._keep_tasks(labels.names, fitted, loss, X.shape[1])
        return self

    def _fit_single(
        self, task: Task, loss: Loss, limit: int | None, seed: int, callbacks: Sequence[AnyCallback] | None
    ) -> Any:
        """Fit one model to the rows of all tasks; its last column is the number of the task, a category."""
        settings = replace(
            task.settings,
            n_features_to_select=limit,
            categorical=[task.table.shape[1] - 1],
            monotone=[*task.settings.monotone, 0] if len(task.settings.monotone) else [],
        )
        fitted = train(
            task.table,
            task.targets,
            loss,
            settings,
            seed=seed,
            pool=make_pool(self.n_jobs),
            evaluated=task.evaluated,
            callbacks=listed(callbacks),
        )
        history = fitted.model.history
        owned = list(dict.fromkeys(entry.feature for entry in history if entry.category is None))
        all_tasks = FittedTasks([fitted] * len(self.tasks_), owned)
        self._keep_tasks(self.tasks_, all_tasks, loss, self.n_features_in_ + 1)
        # The task itself is no feature.
        self.task_features_ = {name: np.array(owned, dtype=np.int64) for name in self.tasks_}
        self.task_importances_ = {name: one[:-1] for name, one in self.task_importances_.items()}
        self.feature_importances_ = self.feature_importances_[:-1]
        self.timings_ = fitted.timings
        return self

    def _penalties(self, names: list[Any]) -> tuple[float, list[float]]:
        """Return μ_G and each task's μ_t, as the method has them."""
        method = check.option("method", self.method, METHODS)
        group = check.number("group_penalty", self.group_penalty, low=0, high=1, high_open=True)
        own = per_task("task_penalty", self.task_penalty, names)
        own = [check.number("task_penalty", one, low=0, high=1, high_open=True) for one in own]
        if group + max(own) >= 1.0:
            raise ValueError(
                f"group_penalty={group} and task_penalty={max(own)} add up to 1 or more: no feature could be "
                "bought; give less"
            )
        if method == "group-sparse":
            return group, [0.0] * len(names)
        return (group, own) if method == "multitask" else (0.0, [group + one for one in own])

    def _task(
        self, X: Any, labels: TaskRows, k: int, weight: F64 | None, evaluated: Rows | None, seed: int
    ) -> Task:
        rows = labels.rows[k]
        group, own = self._penalties(labels.names)
        rate = per_task("learning_rate", self.learning_rate, labels.names)[k]
        settings = replace(
            self._settings(self.n_features_in_, group + own[k], rate),
            penalty=own[k],
            n_features_to_select=check.optional_count(
                "n_features_per_task", self.n_features_per_task, low=1, high=self.n_features_in_
            ),
        )
        # All rows: the table itself, not a copy.
        table = X if rows.shape[0] == X.shape[0] else X[rows]
        mine = Rows(table, self._numbers_of(labels.y[k]), None if weight is None else weight[rows])
        validations = [] if evaluated is None else [evaluated]
        if settings.early_stopping_rounds is not None and evaluated is None:
            kept, held_out = self._hold_out(mine, seed)
            mine, validations = mine.at(kept), [mine.at(held_out)]
        metrics = check.metrics("eval_metric", self.eval_metric, self._kind_of_target)
        followed = [Validation(one.as_table(), one.targets()) for one in validations]
        return Task(mine.as_table(), mine.targets(), settings, Evaluated(self._loss_name, metrics, followed))

    def _evaluated(self, eval_set: Any, eval_task: Any) -> dict[Any, Rows]:
        if eval_set is None:
            return {}
        pairs = pairs_of(eval_set)
        if len(pairs) != 1:
            raise ValueError(f"eval_set holds {len(pairs)} pairs: give one, (X, y), with eval_task")
        ((X, y),) = pairs
        table = check_eval_table(self, X, 0)
        table = table.tocsr() if issparse(table) else table
        labels = task_rows(y, eval_task, table.shape[0], "eval_set: y", "eval_task")
        unknown = [name for name in labels.names if name not in self.tasks_]
        if unknown:
            raise ValueError(f"eval_task has {unknown[:5]!r}, which are no tasks of the training rows")
        return {
            name: Rows(table[rows], self._numbers_of(target))
            for name, rows, target in zip(labels.names, labels.rows, labels.y, strict=True)
        }

    def _keep_tasks(self, names: list[Any], fitted: Any, loss: Loss, n_features: int) -> None:
        models = [one.model for one in fitted.tasks]
        self.tasks_ = names
        self._fitted_loss = loss
        self._forests = {name: model.forest() for name, model in zip(names, models, strict=True)}
        self.selection_history_ = {name: model.history for name, model in zip(names, models, strict=True)}
        self.task_features_ = {
            name: np.array([entry.feature for entry in history], dtype=np.int64)
            for name, history in self.selection_history_.items()
        }
        used = np.zeros(n_features, dtype=np.int64)
        for features in self.task_features_.values():
            used[features] += 1
        owned = np.array(fitted.owned, dtype=np.int64)
        self.selected_features_ = owned[used[owned] > 0]
        self.shared_features_ = owned[used[owned] > 1]
        self.n_selected_features_ = int(self.selected_features_.shape[0])
        self.task_importances_ = {
            name: importances(model.trees, n_features) for name, model in zip(names, models, strict=True)
        }
        self.feature_importances_ = np.mean(list(self.task_importances_.values()), axis=0)
        self.evals_result_ = {name: self._results(model) for name, model in zip(names, models, strict=True)}
        self.n_iter_ = {name: model.n_rounds for name, model in zip(names, models, strict=True)}
        self.best_iteration_ = {name: model.best_round for name, model in zip(names, models, strict=True)}
        self.n_leaves_ = {
            name: np.array([tree.n_leaves for tree in model.trees], dtype=np.int64)
            for name, model in zip(names, models, strict=True)
        }
        self.search_ = {name: one.search for name, one in zip(names, fitted.tasks, strict=True)}
        self.timings_ = {
            stage: sum(one.timings[stage] for one in fitted.tasks if stage in one.timings)
            for stage in fitted.tasks[0].timings
        }
        self.trees_ = {name: model.trees for name, model in zip(names, models, strict=True)}

    def __setstate__(self, state: Any) -> None:
        # Unlike its parent's, this model keeps its forests, which pickle themselves.
        self.__dict__.update({name: value for name, value in state.items() if name != "_sklearn_version"})

    def _task_scores(self, X: Any, task: Any) -> F64:
        """Scores (n,), or (n, T) where there is no `task` and targets had columns."""
        check_is_fitted(self, "trees_")
        X = validate_data(self, X, **INPUT, reset=False)
        table = X.tocsr() if issparse(X) else as_table(X)
        if task is None:
            if not self._matrix_form:
                raise ValueError("task is missing: give the task of each row, as in predict(X, task=...)")
            return np.stack([self._scores_of(name, table) for name in self.tasks_], axis=1)
        labels = task_rows(np.zeros(table.shape[0]), task, table.shape[0], "X", "task")
        unknown = [name for name in labels.names if name not in self._forests]
        if unknown:
            raise ValueError(f"task has {unknown[:5]!r}, which fit did not see; it saw {self.tasks_[:10]!r}")
        scores = np.empty(table.shape[0])
        for name, rows in zip(labels.names, labels.rows, strict=True):
            scores[rows] = self._scores_of(name, table[rows])
        return scores

    def _scores_of(self, name: Any, table: Any) -> F64:
        if self._is_single:
            table = with_task(table, np.full(table.shape[0], self.tasks_.index(name)))
        scores: F64 = self._forests[name].scores(table, pool_for_rows(self.n_jobs, table.shape[0]))[0]
        return scores

    def _prepare_targets(self, labels: TaskRows) -> Loss:
        raise NotImplementedError

    def _numbers_of(self, y: NDArray[Any]) -> F64:
        raise NotImplementedError


@documented(**TASK_ATTRIBUTES, classes_=("ndarray, shape (2,)", "Class labels."))
class MultitaskGTGBMClassifier(ClassifierMixin, _Multitask):
    """GT-GBM of several tasks with two classes each: features new to all cost most, those of others less."""

    def __init__(
        self,
        *,
        n_estimators: int = 100,
        learning_rate: Any = 0.1,
        group_penalty: float = 0.001,
        task_penalty: Any = 0.001,
        method: str = "multitask",
        n_features_to_select: int | None = None,
        n_features_per_task: int | None = None,
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
    ) -> None:
        self._set_parameters(locals())

    _kind_of_target: TargetKind = "binary"

    def predict_proba(self, X: Any, task: Any = None) -> F64:
        """Probability of each class.

        Parameters
        ----------
        X : array-like, shape (n, d)
        task : array-like, shape (n,)
            The task of each row; absent where targets had one column per task.

        Returns
        -------
        ndarray of float64, shape (n, 2); or (n, T), the probabilities of the second class, without `task`
        """
        scores = self._task_scores(X, task)
        p = probabilities(scores.reshape(1, -1), self._fitted_loss)
        return p if task is not None else p[:, 1].reshape(scores.shape)

    def decision_function(self, X: Any, task: Any = None) -> F64:
        """Scores of rows, above 0 for the second class; shape (n,), or (n, T) without `task`."""
        scores = self._task_scores(X, task)
        return decisions(scores.reshape(1, -1), self._fitted_loss).reshape(scores.shape)

    def predict(self, X: Any, task: Any = None) -> NDArray[Any]:
        """Most probable class; shape (n,), or (n, T) without `task`."""
        return np.asarray(self.classes_[(self.decision_function(X, task) > 0).astype(np.int64)])

    def _prepare_targets(self, labels: TaskRows) -> Loss:
        self.classes_ = np.unique(np.concatenate(labels.y))
        if self.classes_.shape[0] != 2:
            raise ValueError(f"y has {self.classes_.shape[0]} classes: tasks have two classes each")
        for name, y in zip(labels.names, labels.y, strict=True):
            if np.unique(y).shape[0] < 2:
                raise ValueError(
                    f"task {name!r} has one class only ({y[0]}): leave it out, or give more rows"
                )
        return check.loss("loss", self.loss, {"log_loss": LogLoss(), "squared_error": SquaredError()})

    def _numbers_of(self, y: NDArray[Any]) -> F64:
        unknown = np.setdiff1d(y, self.classes_)
        if unknown.shape[0]:
            raise ValueError(f"eval_set: y has classes that training did not see: {unknown[:5].tolist()}")
        return np.asarray(np.searchsorted(self.classes_, y), dtype=np.float64)


@documented(**TASK_ATTRIBUTES)
class MultitaskGTGBMRegressor(RegressorMixin, _Multitask):
    """GT-GBM of several tasks of regression: features new to all cost most, those of others less."""

    def __init__(
        self,
        *,
        n_estimators: int = 100,
        learning_rate: Any = 0.1,
        group_penalty: float = 0.001,
        task_penalty: Any = 0.001,
        method: str = "multitask",
        n_features_to_select: int | None = None,
        n_features_per_task: int | None = None,
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
    ) -> None:
        self._set_parameters(locals())

    _kind_of_target: TargetKind = "numbers"

    def predict(self, X: Any, task: Any = None) -> F64:
        """Predict targets; shape (n,), or (n, T) without `task`.

        Parameters
        ----------
        X : array-like, shape (n, d)
        task : array-like, shape (n,)
            The task of each row; absent where targets had one column per task.

        Returns
        -------
        ndarray of float64
        """
        scores = self._task_scores(X, task)
        return self._fitted_loss.predict(scores.reshape(1, -1)).reshape(scores.shape)

    def _prepare_targets(self, labels: TaskRows) -> Loss:
        loss = check.loss("loss", self.loss, LOSSES)
        if isinstance(loss, Pointwise):
            for y in labels.y:
                loss.check_target(numbers(y, "y"), "y")
        return loss

    def _numbers_of(self, y: NDArray[Any]) -> F64:
        return numbers(y, "y")
