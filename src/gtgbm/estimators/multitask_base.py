"""The common base of the multitask estimators: rows by task, fit, scores by task."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted

from gtgbm.boosting import AnyCallback, Checkpoint, Fitted, ProgressBar, Settings
from gtgbm.data import FrameSchema, as_values, check_rows
from gtgbm.estimators.base import BaseGTGBM
from gtgbm.estimators.checkpoints import open_checkpoint
from gtgbm.estimators.compact_tasks import TaskForests
from gtgbm.estimators.fitted import categories_of, columns_of
from gtgbm.estimators.rows import (
    Rows,
    check_all_have_offsets,
    checked_weight,
    finite,
    listed,
    offset_values,
)
from gtgbm.estimators.rows_of_tasks import (
    ALL_TASKS,
    TaskPlaces,
    check_tasks,
    per_task,
    task_offsets,
    task_rows,
    together,
    with_task,
)
from gtgbm.estimators.settings import NO_CONTEXT
from gtgbm.estimators.tables import TableRead, read_columns, read_table
from gtgbm.estimators.target_values import target_values
from gtgbm.estimators.threads import make_pool, pool_for_rows
from gtgbm.exact import F64, I64
from gtgbm.losses import Loss, WithOffset
from gtgbm.multitask import FittedTasks, Task, TaskSharing, UsedFeature, charge
from gtgbm.parameters import PARAMETERS, Context
from gtgbm.pricing import Units
from gtgbm.selection import train_path, train_selecting, train_tasks_path, train_tasks_selecting
from gtgbm.tree import Tree

if TYPE_CHECKING:
    from typing_extensions import Self

_CHANCE_ROWS = 8.0
"""Squared error in units of rows: about twice the gain by chance of an irrelevant feature's best split."""


class BaseMultitask(BaseGTGBM):
    """Common base of the multitask estimators; not for direct use."""

    group_penalty: Any
    task_penalty: Any
    n_features_per_task: Any
    method: Any
    task_order: Any
    n_common_rounds: Any
    # Parameters of single-task models that multitask models replace or do not have.
    penalty = 0.0
    warm_start = False
    _limits_searches = True
    # Whether the targets had one column per task; whether all tasks have one model (method="single-task").
    _by_column: bool
    _is_single: bool

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
        eval_sample_weight: Any = None,
        offset: Any = None,
        eval_offset: Any = None,
        checkpoint: str | PathLike[str] | None = None,
    ) -> Self:
        """Fit the models of all tasks.

        Parameters
        ----------
        X : array-like or scipy CSR or CSC matrix, shape (n, d)
            As in ``GTGBMClassifier.fit``. A task never selects a column that is missing in all its rows.
        y : array-like, shape (n,) or (n, T)
            Targets, together with `task`; or one column per task, with NaN where a row has no target.
        task : array-like, shape (n,)
            Task of each row, of any hashable type. Omit it for targets of shape (n, T).
        sample_weight : array-like, shape (n,), optional
            Weights of at least 0. Rows of weight 0 are dropped.
        eval_set : (X, y), optional
            Rows on which loss and metrics of each task are evaluated; they decide early stopping.
        callbacks : sequence of Callback or callables, optional
            ``Callback`` objects are called at the start, after each round of all tasks and at the end, plain
            callables after each round; both get a ``Progress`` and may stop training.
        eval_task : array-like, optional
            Task of each row of the eval set.
        eval_sample_weight : array-like, optional
            Weights of the rows of the eval set.
        offset : array-like, shape of `y`, optional
            Known part of each score, which trees are added to, such as the logarithm of an exposure or the
            score of another model. Give that of new rows to `predict`.
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
        self._discard_fit()
        X = read_table(self, X, reset=True)
        check_rows(X.shape[0])
        self._choose_size(X, y, sample_weight, offset=offset, task=task)
        rows = self._rows_by_task(X, y, task, checked_weight(sample_weight, X.shape[0]), offset)
        self._learn_targets({name: of_task.y for name, of_task in rows.items()}, reset=True)
        rows = self._with_numbers(rows)
        validations = self._validations(eval_set, eval_sample_weight, eval_task, eval_offset)
        if validations:
            check_all_have_offsets(offset is not None, eval_offset, "eval_offset")
        self._is_single = self._checked("method") == "single-task"
        if self._is_single:
            rows = {ALL_TASKS: together(rows, self.tasks_)}
            validations = {ALL_TASKS: together(validations, self.tasks_)} if validations else {}
        by_task = {name: [of_task] for name, of_task in validations.items()}
        kept = open_checkpoint(checkpoint, self, rows, by_task)
        tasks = self._tasks(rows, validations, kept.stage("seed", int, self._new_seed))
        callbacks = listed(callbacks)
        fits = (self._fit_single if self._is_single else self._fit_tasks)(tasks, callbacks, kept)
        units = tasks[0].problem.settings.prices.units
        if self._sizes:
            self._by_size = [self._fitted_copy(fitted, units, len(rows)) for fitted in fits]
            return self
        self._keep_fit(fits[0], units, len(rows))
        kept.remove()
        if any(np.any(one.y != one.y[0]) for one in rows.values()):
            # Where each task has a limit too, fewer features of all tasks are as asked for.
            is_total = self.method != "independent" and self.n_features_per_task is None
            limit = self._most_features(NO_CONTEXT) if is_total else None
            prices = ["group_penalty", "task_penalty"][: 1 if self.method == "group-sparse" else 2]
            self._warn_of_few(limit, prices, self._drops(), stacklevel=3)
        return self

    def _fitted_copy(self, fitted: FittedTasks, units: Units, n_fits: int) -> Self:
        """Return a copy of the estimator that keeps the models of tasks."""
        model = copy(self)
        model._keep_fit(fitted, units, n_fits)
        return model

    def _keep_fit(self, fitted: FittedTasks, units: Units, n_fits: int) -> None:
        """Set the attributes of a fitted model."""
        for of_task in fitted.tasks:
            charge(of_task.model, units)
        # A new loss object: the one used for training refers to the training rows.
        self._keep(dict(zip(self.tasks_, fitted.tasks, strict=True)), fitted.owned, self._make_loss())
        self.timings_ = _timings(fitted, n_fits)

    def _rows_by_task(self, X: Any, y: Any, task: Any, weight: F64 | None, offset: Any) -> dict[Any, Rows]:
        """Group rows by task and drop rows of weight 0."""
        y = target_values(y, "y", is_numeric=self._y_is_numeric)
        labels = task_rows(y, as_values(task), X.shape[0], "y", "task")
        check_tasks(labels)
        self._by_column, self.tasks_ = task is None, labels.names
        offsets = task_offsets(offset, labels, np.shape(y), "offset")
        table, rows_by_task = X.tocsr() if issparse(X) else X, {}
        parts = zip(labels.names, labels.rows, labels.y, offsets, strict=True)
        for name, rows, targets, of_task in parts:
            if weight is not None and not weight[rows].any():
                raise ValueError(f"sample_weight is zero for all rows of task {name!r}; leave the task out")
            task_weight = None if weight is None else weight[rows]
            task_part = Rows(table, targets, task_weight, shared=rows, offset=of_task)
            rows_by_task[name] = task_part.with_weight()
        return rows_by_task

    def _with_numbers(self, rows: Mapping[Any, Rows]) -> dict[Any, Rows]:
        """Convert the targets of all tasks to numbers."""
        converted = {
            name: replace(of_task, y=self._numbers_of(of_task.y, "y")) for name, of_task in rows.items()
        }
        for name, of_task in converted.items():
            self._warn_of(of_task.y, name)
        return converted

    def _validations(
        self, eval_set: Any, eval_sample_weight: Any, eval_task: Any, eval_offset: Any
    ) -> dict[Any, Rows]:
        """Read the eval set of each task."""
        sets = self._eval_rows(eval_set, eval_sample_weight)
        if len(sets) > 1:
            raise ValueError(f"eval_set holds {len(sets)} pairs: give one pair (X, y), with eval_task")
        if not sets:
            return {}
        (rows,) = sets
        table = rows.table.tocsr() if issparse(rows.table) else rows.table
        y = target_values(rows.y, "eval_set: y", is_numeric=self._y_is_numeric)
        labels = task_rows(y, as_values(eval_task), table.shape[0], "eval_set: y", "eval_task")
        unknown = [name for name in labels.names if name not in self.tasks_]
        if unknown:
            raise ValueError(f"eval_task has {unknown[:5]!r}, which are not tasks of the training rows")
        offsets = task_offsets(eval_offset, labels, np.shape(y), "eval_offset")
        validations = {}
        for name, at, y, offset in zip(labels.names, labels.rows, labels.y, offsets, strict=True):
            weight = None if rows.weight is None else rows.weight[at]
            validations[name] = Rows(table[at], self._numbers_of(y, "eval_set: y"), weight, offset=offset)
        return validations

    def _tasks(self, rows: Mapping[Any, Rows], validations: Mapping[Any, Rows], seed: int) -> list[Task]:
        """Return the input of the fit of each task."""
        loss = self._make_loss()
        if any(one.offset is not None for one in rows.values()):
            loss = WithOffset(loss)
        for name, one in rows.items():
            self._check_weight(one, None if self._is_single else name)
        group, own = self._penalties(rows)
        rates = per_task("learning_rate", self.learning_rate, list(rows))
        return [
            self._task(rows[name], validations.get(name), loss, (group, own[k], rates[k]), seed)
            for k, name in enumerate(rows)
        ]

    def _task(
        self,
        rows: Rows,
        validation: Rows | None,
        loss: Loss,
        prices: tuple[float, float, Any],
        seed: int,
    ) -> Task:
        group, own, rate = prices
        settings = self._settings(self.n_features_in_, group + own, rate)
        settings = settings.with_prices(replace(settings.prices, penalty=own))
        rows, validations = self._split_off(rows, [] if validation is None else [validation], seed)
        # With one target column per task, tasks share rows: the columns of the table are binned once.
        is_shared = self._by_column and not self._is_single and not issparse(rows.table)
        rows = rows if is_shared else rows.own()
        return Task(self._problem(rows, validations, loss, settings, seed), rows.shared)

    def _penalties(self, rows: Mapping[Any, Rows]) -> tuple[float, list[float]]:
        """Return μ_G and the μ_t of each task, as the method uses them."""
        method = self._checked("method")
        group = self._checked("group_penalty")
        penalties = [
            PARAMETERS["task_penalty"].check(penalty)
            for penalty in per_task("task_penalty", self.task_penalty, list(rows))
        ]
        own = [
            _CHANCE_ROWS / (_CHANCE_ROWS + of_task.y.shape[0]) if penalty == "auto" else penalty
            for penalty, of_task in zip(penalties, rows.values(), strict=True)
        ]
        if group + max(own) >= 1.0:
            raise ValueError(
                f"group_penalty={group} and task_penalty={max(own)} add up to 1 or more, so that no feature "
                "could be selected: give smaller penalties"
            )
        if method == "group-sparse":
            return group, [0.0] * len(own)
        return (group, own) if method == "multitask" else (0.0, [group + penalty for penalty in own])

    def _fit_tasks(
        self, tasks: Sequence[Task], callbacks: Sequence[AnyCallback], checkpoint: Checkpoint
    ) -> list[FittedTasks]:
        """Fit one model per task; for a path, for each size."""
        settings = tasks[0].problem.settings
        is_independent, limits = self.method == "independent", settings.prices.limits
        group = 0.0 if is_independent else self._checked("group_penalty")
        n_common_rounds = self._checked(
            "n_common_rounds", Context(others={"n_estimators": settings.rounds.n_rounds})
        )
        sharing = TaskSharing(
            group,
            replace(limits, count=None) if is_independent else limits,
            self._checked("task_order") == "parallel",
            0 if is_independent else n_common_rounds,
        )
        tasks = [self._with_own_limit(task) for task in tasks]
        with ProgressBar(self._checked("verbose") > 0, settings.rounds.n_rounds) as bar:
            pool = make_pool(self.n_jobs)
            if self._sizes:
                return train_tasks_path(tasks, sharing, pool, self._sizes, bar.phase)
            listeners = [bar.update, *callbacks]
            return [train_tasks_selecting(tasks, sharing, pool, listeners, bar.phase, checkpoint)]

    def _is_limited(self) -> bool:
        return super()._is_limited() or self.n_features_per_task is not None

    def _with_own_limit(self, task: Task) -> Task:
        settings = task.problem.settings
        limit = self._limit_per_task(settings)
        return replace(task, problem=task.problem.with_settings(settings.with_limit(limit)))

    def _limit_per_task(self, settings: Settings) -> int | None:
        most = None if settings.columns.categorical else self.n_features_in_
        limit: int | None = self._checked("n_features_per_task", Context(n_features=most))
        return limit

    def _fit_single(
        self, tasks: Sequence[Task], callbacks: Sequence[AnyCallback], checkpoint: Checkpoint
    ) -> list[FittedTasks]:
        """Fit one model to the rows of all tasks; the task is an additional categorical column, the last.

        It is always known, so it is no feature of the user's table: it costs nothing and counts towards no
        limit.
        """
        (task,) = tasks
        settings, columns = task.problem.settings, task.problem.settings.columns
        # The features of the one model are those of every task.
        limits = [settings.prices.limits.count, self._limit_per_task(settings)]
        settings = settings.with_limit(min((one for one in limits if one is not None), default=None))
        columns = replace(
            columns,
            categorical=[*columns.categorical, self.n_features_in_],
            monotone=[*columns.monotone, 0] if len(columns.monotone) else [],
            given=[self.n_features_in_],
        )
        prices = replace(settings.prices, units=settings.prices.units.with_given_column())
        problem = task.problem.with_settings(replace(settings, columns=columns, prices=prices))
        with ProgressBar(self._checked("verbose") > 0, settings.rounds.n_rounds) as bar:
            pool = make_pool(self.n_jobs)
            if self._sizes:
                fits = train_path(problem, pool, self._sizes, bar.phase)
            else:
                listeners = [bar.update, *callbacks]
                fits = [train_selecting(problem, pool, listeners, None, bar.phase, checkpoint)]
        return [self._of_all_tasks(fitted) for fitted in fits]

    def _of_all_tasks(self, fitted: Fitted) -> FittedTasks:
        """Return a model as that of each task."""
        owned = [(entry.feature, entry.category) for entry in fitted.model.history]
        return FittedTasks([fitted] * len(self.tasks_), owned, fitted.timings["total"])

    def _by_task(self, values: Mapping[Any, Any]) -> Any:
        return dict(values)

    @property
    def _n_columns_read(self) -> int:
        # method="single-task" trains on an additional last column: the task.
        return self.n_features_in_ + self._is_single

    def _keep_features(self, used: Sequence[UsedFeature]) -> None:
        """Set the attributes about selected features, of all tasks and by task."""
        super()._keep_features(used)
        histories = self.selection_history_
        self.shared_features_ = columns_of(feature.column for feature in used if feature.n_tasks > 1)
        self.task_features_ = {
            name: columns_of(entry.feature for entry in history) for name, history in histories.items()
        }
        self.task_categories_ = {
            name: categories_of((entry.feature, entry.category) for entry in history)
            for name, history in histories.items()
        }
        self.task_importances_ = {name: self._importances(model) for name, model in self._models.items()}

    def _task_scores(self, X: Any, task: Any, n_rounds: int | None = None, offset: Any = None) -> F64:
        """Return scores of shape (n,), or (n, T) without `task`."""
        shape, reads = self._read_tables(X, task)
        scores = [
            self._forests[read.task].scores(
                read.table,
                pool_for_rows(self.n_jobs, read.table.shape[0]),
                read.columns,
                self._first_trees(read.task, n_rounds),
            )
            for read in reads
        ]
        return self._with_offset(self._combined(shape, reads, scores), offset)

    def _with_offset(self, scores: F64, offset: Any) -> F64:
        if offset is None:
            return scores
        return scores + finite(offset_values(offset, scores.shape, "offset"), "offset")

    def _combined(self, shape: tuple[int, ...], reads: Sequence[TableRead], scores: Sequence[F64]) -> F64:
        combined = np.empty(shape)
        for read, of_part in zip(reads, scores, strict=True):
            combined[read.place] = of_part[0]
        return combined

    def _shape_of_rows(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return shape

    def _trees_of(self, task: Any) -> list[Tree]:
        trees = super()._trees_of(task)
        if not self._is_single:
            return trees
        # Their last column is the number of the task, counted from 1.
        return [tree.knowing(self.n_features_in_, self.tasks_.index(task) + 1.0) for tree in trees]

    def _read_tables(self, X: Any, task: Any) -> tuple[tuple[int, ...], list[TableRead]]:
        """Return the shape of the scores, and the table that the forest of each task reads.

        Only the columns in use are read from a dataframe.
        """
        check_is_fitted(self, "trees_")
        used = np.unique(np.concatenate([forest.columns for forest in self._forests.values()]))
        used = used[used < self.n_features_in_]
        X, places = read_columns(self, X, used)
        table = X.tocsr() if issparse(X) else X
        where = TaskPlaces.of(as_values(task), table.shape[0], self.tasks_, by_column=self._by_column)
        if self._is_single:
            # The task is the last column, whose position depends on how many columns were read.
            used, places = np.append(used, self.n_features_in_), np.append(places, table.shape[1])
        tables = []
        for name, part, place in where.parts(table):
            if self._is_single:
                part = with_task(part, np.full(part.shape[0], self.tasks_.index(name)))
            columns: I64 = places[np.searchsorted(used, self._forests[name].columns)]
            tables.append(TableRead(name, part, columns, place))
        return where.shape, tables

    def _compact_parts(self) -> tuple[TaskForests, int | None, I64, FrameSchema | None, Loss]:
        features, schema = self._compact_columns()
        taken = np.append(features, self.n_features_in_) if self._is_single else features
        forests = {name: forest.over(taken) for name, forest in self._forests.items()}
        task_forests = TaskForests(forests, self._by_column, self._is_single)
        return task_forests, self.n_jobs, features, schema, self._fitted_loss

    def _mean_score(
        self, metric: Callable[..., float], X: Any, y: Any, task: Any, sample_weight: Any
    ) -> float:
        """Return the metric of all rows; for one target column per task, the mean over tasks."""
        predicted = self.predict(X, task=task)
        if task is not None:
            return float(metric(y, predicted, sample_weight=sample_weight))
        labels = task_rows(y, None, predicted.shape[0], "y", "task")
        weight = checked_weight(sample_weight, predicted.shape[0])
        weights = [None if weight is None else weight[rows] for rows in labels.rows]
        of_tasks = enumerate(zip(labels.rows, labels.y, weights, strict=True))
        return float(np.mean([metric(y, predicted[at, k], sample_weight=w) for k, (at, y, w) in of_tasks]))

    def predict(
        self, X: Any, task: Any = None, *, n_rounds: int | None = None, offset: Any = None
    ) -> NDArray[Any]:
        """Predict targets."""
        raise NotImplementedError


def _timings(fitted: FittedTasks, n_fits: int) -> dict[str, float]:
    """Return seconds per stage, summed over fits."""
    fits: list[Fitted] = fitted.tasks[:n_fits]
    stages = dict.fromkeys(stage for fit in fits for stage in fit.timings)
    seconds = {stage: sum(fit.timings.get(stage, 0.0) for fit in fits) for stage in stages}
    # The seconds of tasks that were fitted in parallel may add up to more than the total.
    known = sum(value for stage, value in seconds.items() if stage not in ("other", "total"))
    return seconds | {"other": max(0.0, fitted.seconds - known), "total": fitted.seconds}
