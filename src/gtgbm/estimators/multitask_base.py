"""The common base of the multitask estimators: from the rows of tasks to their models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse

from gtgbm.boosting import AnyCallback, Checkpoint, Fitted, ProgressBar, Settings
from gtgbm.data import ParquetTable, check_rows
from gtgbm.estimators.checkpoints import open_checkpoint
from gtgbm.estimators.multitask_input import RowColumns, TaskInput
from gtgbm.estimators.multitask_prediction import TaskPredictions
from gtgbm.estimators.rows import EvalSets, Rows, listed
from gtgbm.estimators.rows_of_tasks import ALL_TASKS, per_task, together
from gtgbm.estimators.settings import NO_CONTEXT
from gtgbm.estimators.tables import read_table
from gtgbm.estimators.threads import make_pool
from gtgbm.exact import FitContext
from gtgbm.losses import WithOffset
from gtgbm.multitask import FittedTasks, Task, TaskSharing, charge
from gtgbm.parameters import PARAMETERS, Context
from gtgbm.pricing import Units
from gtgbm.selection import train_path, train_selecting, train_tasks_path, train_tasks_selecting

if TYPE_CHECKING:
    from typing_extensions import Self

_CHANCE_ROWS = 8.0
"""Squared error in units of rows: about twice the gain by chance of an irrelevant feature's best split."""


class BaseMultitask(TaskInput, TaskPredictions):
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
        given = RowColumns(task, sample_weight, offset=offset)
        sets = EvalSets(eval_set, eval_sample_weight, offset=eval_offset, task=eval_task)
        self._fit(X, y, given, sets, listed(callbacks), checkpoint)
        return self

    def _fit(
        self,
        X: Any,
        y: Any,
        given: RowColumns,
        eval_sets: EvalSets,
        callbacks: Sequence[AnyCallback],
        checkpoint: str | PathLike[str] | None,
    ) -> None:
        """Fit to rows and eval sets as the user gave them."""
        if isinstance(X, ParquetTable):
            raise TypeError("X is a ParquetTable, which multitask models do not take: give a dataframe")
        self._discard_fit()
        self._is_single = self._checked("method") == "single-task"
        X = read_table(self, X, reset=True)
        check_rows(X.shape[0])
        self._choose_size(X, y, given.weight, offset=given.offset, qid=given.qid, task=given.task)
        rows = self._training_rows(X, y, given)
        for name, of_task in rows.items():
            self._warn_of(of_task.y, name)
        validations = self._validations(eval_sets, has_offset=given.offset is not None)
        if self._is_single:
            rows = {ALL_TASKS: together(rows, self.tasks_)}
            validations = {ALL_TASKS: together(validations, self.tasks_)} if validations else {}
        by_task = {name: [of_task] for name, of_task in validations.items()}
        kept = open_checkpoint(checkpoint, self, rows, by_task)
        tasks = self._tasks(rows, validations, kept.stage("seed", int, self._new_seed))
        fits = (self._fit_single if self._is_single else self._fit_tasks)(tasks, callbacks, kept)
        units = tasks[0].problem.settings.prices.units
        if self._sizes:
            self._by_size = [self._fitted_copy(fitted, units, len(rows)) for fitted in fits]
            return
        self._keep_fit(fits[0], units, len(rows))
        kept.remove()
        if any(np.any(one.y != one.y[0]) for one in rows.values()):
            # Where each task has a limit too, fewer features of all tasks are as asked for.
            is_total = self.method != "independent" and self.n_features_per_task is None
            limit = self._most_features(NO_CONTEXT) if is_total else None
            prices = ["group_penalty", "task_penalty"][: 1 if self.method == "group-sparse" else 2]
            self._warn_of_few(limit, prices, self._drops(), stacklevel=4)

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

    def _tasks(self, rows: Mapping[Any, Rows], validations: Mapping[Any, Rows], seed: int) -> list[Task]:
        """Return the input of the fit of each task."""
        group, own = self._penalties(rows)
        rates = per_task("learning_rate", self.learning_rate, list(rows))
        return [
            self._task(name, rows[name], validations.get(name), (group, own[k], rates[k]), seed)
            for k, name in enumerate(rows)
        ]

    def _task(
        self, name: Any, rows: Rows, validation: Rows | None, prices: tuple[float, float, Any], seed: int
    ) -> Task:
        group, own, rate = prices
        settings = self._settings(self.n_features_in_, group + own, rate)
        settings = settings.with_prices(replace(settings.prices, penalty=own))
        loss = self._make_loss(name)
        if rows.offset is not None:
            loss = WithOffset(loss)
        given = [] if validation is None else [validation]
        rows, validations = self._split_off(rows, given, seed, FitContext.serial())
        # With one target column per task, tasks share rows: the columns of the table are binned once.
        is_shared = self._by_column and not self._is_single and not issparse(rows.table)
        rows = rows if is_shared else rows.own()
        task = None if self._is_single else name
        return Task(self._problem(rows, validations, loss, settings, seed, task), rows.shared)

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
        if n_common_rounds:
            self._check_common_trees()
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
                return train_tasks_path(tasks, sharing, pool, self._sizes, [bar.update], bar.phase)
            listeners = [bar.update, *callbacks]
            return [train_tasks_selecting(tasks, sharing, pool, listeners, bar.phase, checkpoint)]

    def _check_common_trees(self) -> None:
        """Raise an error if tasks cannot start with common trees."""

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
                fits = train_path(problem, pool, self._sizes, [bar.update], bar.phase)
            else:
                listeners = [bar.update, *callbacks]
                context = FitContext(pool)
                fits = [train_selecting(problem, context, listeners, None, bar.phase, checkpoint)]
        return [self._of_all_tasks(fitted) for fitted in fits]

    def _of_all_tasks(self, fitted: Fitted) -> FittedTasks:
        """Return a model as that of each task."""
        owned = [(entry.feature, entry.category) for entry in fitted.model.history]
        return FittedTasks([fitted] * len(self.tasks_), owned, fitted.timings["total"])


def _timings(fitted: FittedTasks, n_fits: int) -> dict[str, float]:
    """Return seconds per stage, summed over fits."""
    fits: list[Fitted] = fitted.tasks[:n_fits]
    stages = dict.fromkeys(stage for fit in fits for stage in fit.timings)
    seconds = {stage: sum(fit.timings.get(stage, 0.0) for fit in fits) for stage in stages}
    # The seconds of tasks that were fitted in parallel may add up to more than the total.
    known = sum(value for stage, value in seconds.items() if stage not in ("other", "total"))
    return seconds | {"other": max(0.0, fitted.seconds - known), "total": fitted.seconds}
