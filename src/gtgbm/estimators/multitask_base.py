"""What models of several tasks share: tasks from rows, fit, scores by task."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from gtgbm.boosting import AnyCallback, Evaluated, HistoryEntry, Problem, ProgressBar, train
from gtgbm.data import as_values, check_rows
from gtgbm.estimators.base import BaseGTGBM
from gtgbm.estimators.rows import Rows, checked_weight, listed, pairs_of
from gtgbm.estimators.rows_of_tasks import TaskRows, as_one_task, check_tasks, per_task, task_rows, with_task
from gtgbm.estimators.tables import read_columns, read_eval_table, read_table
from gtgbm.estimators.threads import make_pool, pool_for_rows
from gtgbm.exact import F64, I64, FitContext
from gtgbm.losses import Loss
from gtgbm.multitask import FittedTasks, Task, TaskSharing, train_tasks, used_features
from gtgbm.parameters import PARAMETERS, Context
from gtgbm.tree import importances

if TYPE_CHECKING:
    from typing_extensions import Self

_CHANCE_ROWS = 8.0
"""Rows' worth of squared error, about twice what a useless feature's best split gains by chance."""


class TaskTable(NamedTuple):
    """What the forest of a task reads.

    Attributes
    ----------
    task : object
    table : Table or CSR matrix, shape (m, c)
    columns : ndarray of int64
        Where the columns of the forest are in the table.
    place : index
        Where its scores stand among those of all tasks.
    """

    task: Any
    table: Any
    columns: I64
    place: Any


class BaseMultitask(BaseGTGBM):
    """Common base of the models of several tasks; not for direct use."""

    group_penalty: Any
    task_penalty: Any
    n_features_per_task: Any
    method: Any
    task_order: Any
    n_common_rounds: Any
    task_importances_: dict[Any, F64]
    # What BaseGTGBM reads, and tasks have in other forms or not at all.
    penalty = 0.0
    warm_start = False
    _limits_searches = True

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
    ) -> Self:
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
        X = read_table(self, X, anew=True)
        check_rows(X.shape[0])
        labels = task_rows(as_values(y), as_values(task), X.shape[0], "y", "task")
        check_tasks(labels)
        self._matrix_form, self.tasks_ = task is None, labels.names
        loss = self._prepare_targets(labels)
        weight = checked_weight(sample_weight, X.shape[0])
        for name, rows in zip(labels.names, labels.rows, strict=True):
            if weight is not None and not weight[rows].any():
                raise ValueError(f"sample_weight is zero for all rows of task {name!r}; leave the task out")
        evaluated = self._evaluated(eval_set, eval_task)
        random = check_random_state(self._checked("random_state"))
        seed = int(random.randint(np.iinfo(np.int32).max))
        X = X.tocsr() if issparse(X) else X
        self._is_single = self._checked("method") == "single-task"
        if self._is_single:
            X, labels, weight = as_one_task(X, labels, weight)
            evaluated = {}
        order = self._checked("task_order")
        tasks = [
            self._task(X, labels, k, weight, evaluated.get(labels.names[k]), seed, loss)
            for k in range(len(labels.names))
        ]
        group, _ = self._penalties(labels)
        settings = tasks[0].problem.settings
        limit = settings.prices.limit
        tasks = [self._with_own_limit(task) for task in tasks]
        n_common_rounds = self._checked(
            "n_common_rounds", Context(others={"n_estimators": settings.rounds.n_rounds})
        )
        if self._is_single:
            return self._fit_single(tasks[0], limit, callbacks)
        verbose = self._checked("verbose")
        with ProgressBar(verbose > 0, settings.rounds.n_rounds) as bar:
            is_apart = self.method == "independent"
            sharing = TaskSharing(
                group,
                None if is_apart else limit,
                order == "parallel",
                0 if is_apart else n_common_rounds,
            )
            callbacks = [bar.update, *listed(callbacks)]
            fitted = train_tasks(tasks, sharing, make_pool(self.n_jobs), callbacks)
        self._keep_tasks(labels.names, fitted, loss)
        return self

    def _fit_single(self, task: Task, limit: int | None, callbacks: Sequence[AnyCallback] | None) -> Self:
        """Fit one model to the rows of all tasks; its last column is the number of the task, a category."""
        columns = task.problem.settings.columns
        settings = replace(
            task.problem.settings.with_limit(limit),
            columns=replace(
                columns,
                categorical=[*columns.categorical, self.n_features_in_],
                monotone=[*columns.monotone, 0] if len(columns.monotone) else [],
            ),
        )
        problem, context = task.problem.with_settings(settings), FitContext(make_pool(self.n_jobs))
        fitted = train(problem, context, listed(callbacks))
        loss = problem.loss
        # The task itself is no feature.
        history = [entry for entry in fitted.model.history if entry.feature < self.n_features_in_]
        fitted = replace(fitted, model=replace(fitted.model, history=history))
        owned = [(entry.feature, entry.category) for entry in history]
        seconds = fitted.timings["total"]
        self._keep_tasks(self.tasks_, FittedTasks([fitted] * len(self.tasks_), owned, seconds), loss)
        self.timings_ = fitted.timings
        return self

    def _penalties(self, labels: TaskRows) -> tuple[float, list[float]]:
        """Return μ_G and each task's μ_t, as the method has them."""
        method = self._checked("method")
        group = self._checked("group_penalty")
        given = [
            PARAMETERS["task_penalty"].check(one)
            for one in per_task("task_penalty", self.task_penalty, labels.names)
        ]
        own = [
            _CHANCE_ROWS / (_CHANCE_ROWS + rows.shape[0]) if one == "auto" else one
            for one, rows in zip(given, labels.rows, strict=True)
        ]
        if group + max(own) >= 1.0:
            raise ValueError(
                f"group_penalty={group} and task_penalty={max(own)} add up to 1 or more: no feature could be "
                "bought; give less"
            )
        if method == "group-sparse":
            return group, [0.0] * len(own)
        return (group, own) if method == "multitask" else (0.0, [group + one for one in own])

    def _task(
        self,
        X: Any,
        labels: TaskRows,
        k: int,
        weight: F64 | None,
        evaluated: Rows | None,
        seed: int,
        loss: Loss,
    ) -> Task:
        rows, y = labels.rows[k], self._numbers_of(labels.y[k])
        group, own = self._penalties(labels)
        rate = per_task("learning_rate", self.learning_rate, labels.names)[k]
        settings = self._settings(self.n_features_in_, group + own[k], rate)
        settings = settings.with_prices(replace(settings.prices, penalty=own[k]))
        validations = [] if evaluated is None else [evaluated]
        if settings.rounds.patience is not None and evaluated is None:
            kept, held_out = self._hold_out(Rows(X, y), seed)
            at = rows[held_out]
            validations = [Rows(X[at], y[held_out], None if weight is None else weight[at])]
            rows, y = rows[kept], y[kept]
        # Targets by column have rows in common, whose columns are binned once. All rows: no copy.
        is_whole = self._matrix_form and not self._is_single and not issparse(X)
        table = X if is_whole or rows.shape[0] == X.shape[0] else X[rows]
        mine = Rows(table, y, None if weight is None else weight[rows])
        metrics = self._checked("eval_metric", Context(target=self._kind_of_target))
        evaluation = Evaluated(self._loss_name, metrics, [one.dataset() for one in validations])
        problem = Problem(mine.dataset(), loss, settings, seed, evaluation)
        return Task(problem, rows if is_whole else None)

    def _with_own_limit(self, task: Task) -> Task:
        settings = task.problem.settings
        most = None if settings.columns.categorical else self.n_features_in_
        limit = self._checked("n_features_per_task", Context(n_features=most))
        return replace(task, problem=task.problem.with_settings(settings.with_limit(limit)))

    def _evaluated(self, eval_set: Any, eval_task: Any) -> dict[Any, Rows]:
        if eval_set is None:
            return {}
        pairs = pairs_of(eval_set)
        if len(pairs) != 1:
            raise ValueError(f"eval_set holds {len(pairs)} pairs: give one, (X, y), with eval_task")
        ((X, y),) = pairs
        table = read_eval_table(self, X, 0)
        table = table.tocsr() if issparse(table) else table
        labels = task_rows(as_values(y), as_values(eval_task), table.shape[0], "eval_set: y", "eval_task")
        unknown = [name for name in labels.names if name not in self.tasks_]
        if unknown:
            raise ValueError(f"eval_task has {unknown[:5]!r}, which are no tasks of the training rows")
        return {
            name: Rows(table[rows], self._numbers_of(target))
            for name, rows, target in zip(labels.names, labels.rows, labels.y, strict=True)
        }

    def _keep_tasks(self, names: list[Any], fitted: FittedTasks, loss: Loss) -> None:
        models = dict(zip(names, (one.model for one in fitted.tasks), strict=True))
        self.tasks_ = names
        self._fitted_loss = loss
        self._forests = {name: model.forest() for name, model in models.items()}
        self.trees_ = {name: model.trees for name, model in models.items()}
        histories = {name: [self._labelled(one) for one in model.history] for name, model in models.items()}
        self._keep_features(histories, [(one, self._label(one, category)) for one, category in fitted.owned])
        d = self.n_features_in_
        # The single model's last column is the task.
        self.task_importances_ = {
            name: importances(model.trees, d + self._is_single)[:d] for name, model in models.items()
        }
        self.feature_importances_ = np.mean(list(self.task_importances_.values()), axis=0)
        self.evals_result_ = {name: self._results(model) for name, model in models.items()}
        self.n_iter_ = {name: model.n_rounds for name, model in models.items()}
        self.best_iteration_ = {name: model.best_round for name, model in models.items()}
        self.n_leaves_ = {
            name: np.array([tree.n_leaves for tree in model.trees], dtype=np.int64)
            for name, model in models.items()
        }
        self.search_ = {name: one.search for name, one in zip(names, fitted.tasks, strict=True)}
        stages = dict.fromkeys(stage for one in fitted.tasks for stage in one.timings)
        seconds = {stage: sum(one.timings.get(stage, 0.0) for one in fitted.tasks) for stage in stages}
        # Clocks of tasks run side by side.
        known = sum(value for stage, value in seconds.items() if stage not in ("other", "total"))
        self.timings_ = seconds | {"other": max(0.0, fitted.seconds - known), "total": fitted.seconds}

    def _keep_features(
        self, histories: dict[Any, list[HistoryEntry]], owned: Sequence[tuple[int, Any]]
    ) -> None:
        """Say which features are whose; early stopping may have dropped some of those once owned."""
        self.selection_history_, self._owned = histories, owned
        self.task_features_ = {
            name: np.array(list(dict.fromkeys(entry.feature for entry in history)), dtype=np.int64)
            for name, history in histories.items()
        }
        used = used_features(histories.values(), owned)
        selected = dict.fromkeys(one.column for one in used)
        shared = dict.fromkeys(one.column for one in used if one.n_tasks > 1)
        self.selected_features_ = np.array(list(selected), dtype=np.int64)
        self.shared_features_ = np.array(list(shared), dtype=np.int64)
        self.n_selected_features_ = len(used)
        self.selected_categories_ = categories_of((column, category) for column, category, _ in used)
        self.task_categories_ = {
            name: categories_of((entry.feature, entry.category) for entry in history)
            for name, history in histories.items()
        }

    def __setstate__(self, state: Any) -> None:
        # Unlike its parent's, this model keeps its forests, which pickle themselves.
        self.__dict__.update({name: value for name, value in state.items() if name != "_sklearn_version"})

    def _task_scores(self, X: Any, task: Any) -> F64:
        """Scores (n,), or (n, T) where there is no `task` and targets had columns."""
        shape, parts = self._read_tasks(X, task)
        scores = np.empty(shape)
        for part in parts:
            pool = pool_for_rows(self.n_jobs, part.table.shape[0])
            scores[part.place] = self._forests[part.task].scores(part.table, pool, part.columns)[0]
        return scores

    def _read_tasks(self, X: Any, task: Any) -> tuple[tuple[int, ...], list[TaskTable]]:
        """Return the shape of the scores, and what each task reads; of dataframes only columns in use."""
        check_is_fitted(self, "trees_")
        used = np.unique(np.concatenate([forest.columns for forest in self._forests.values()]))
        used = used[used < self.n_features_in_]
        X, places = read_columns(self, X, used)
        table = X.tocsr() if issparse(X) else X
        n = table.shape[0]
        if task is None:
            if not self._matrix_form:
                raise ValueError("task is missing: give the task of each row, as in predict(X, task=...)")
            found: list[tuple[Any, Any, Any]]
            found = [(name, table, (slice(None), k)) for k, name in enumerate(self.tasks_)]
            shape: tuple[int, ...] = (n, len(self.tasks_))
        else:
            labels = task_rows(np.zeros(n), as_values(task), n, "X", "task")
            unknown = [name for name in labels.names if name not in self._forests]
            if unknown:
                saw = self.tasks_[:10]
                raise ValueError(f"task has {unknown[:5]!r}, which fit did not see; it saw {saw!r}")
            found = [(one, table[at], (at,)) for one, at in zip(labels.names, labels.rows, strict=True)]
            shape = (n,)
        return shape, [self._task_table(name, part, place, used, places) for name, part, place in found]

    def _task_table(self, name: Any, table: Any, place: Any, used: I64, places: I64) -> TaskTable:
        columns = self._forests[name].columns
        if self._is_single:
            table = with_task(table, np.full(table.shape[0], self.tasks_.index(name)))
            # The task itself is the last column, wherever that is now.
            used = np.append(used, self.n_features_in_)
            places = np.append(places, table.shape[1] - 1)
        return TaskTable(name, table, places[np.searchsorted(used, columns)], place)

    def _mean_score(
        self, metric: Callable[..., float], X: Any, y: Any, task: Any, sample_weight: Any
    ) -> float:
        """Score of all rows, or mean of the tasks' scores where targets have columns."""
        predicted = self.predict(X, task=task)
        if task is not None:
            return float(metric(y, predicted, sample_weight=sample_weight))
        labels = task_rows(y, None, predicted.shape[0], "y", "task")
        weight = checked_weight(sample_weight, predicted.shape[0])
        weights = [None if weight is None else weight[rows] for rows in labels.rows]
        of_tasks = enumerate(zip(labels.rows, labels.y, weights, strict=True))
        return float(np.mean([metric(y, predicted[at, k], sample_weight=w) for k, (at, y, w) in of_tasks]))

    def predict(self, X: Any, task: Any = None) -> NDArray[Any]:
        """Predict targets."""
        raise NotImplementedError

    def _prepare_targets(self, labels: TaskRows) -> Loss:
        raise NotImplementedError

    def _numbers_of(self, y: NDArray[Any]) -> F64:
        raise NotImplementedError


def categories_of(features: Iterable[tuple[int, Any]]) -> dict[int, list[Any]]:
    """Categories among features, by column."""
    found: dict[int, list[Any]] = {}
    for column, category in features:
        if category is not None:
            found.setdefault(column, []).append(category)
    return found
