"""Trains several tasks under one penalty on the features they own together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from time import perf_counter

import numpy as np

from gtgbm import _core
from gtgbm.boosting import AnyCallback, Callbacks, Fit, Fitted, Model, Progress, TaskParts, assemble
from gtgbm.data import CategoryColumn, encode_categories_of_tasks, issparse
from gtgbm.exact import F64, FitContext
from gtgbm.multitask.common_trees import common_trees
from gtgbm.multitask.shared_columns import SharedTable
from gtgbm.multitask.task import Task, TaskSharing
from gtgbm.multitask.task_prices import TaskCosts
from gtgbm.multitask.turns import Parallel, Sequential, Turns


@dataclass(frozen=True)
class FittedTasks:
    """Result of a fit.

    Attributes
    ----------
    tasks : list of Fitted
        One model per task.
    owned : list of (int, float or None)
        Columns, with the category if it is one, of the features of all tasks, in the order they were bought.
    seconds : float
    """

    tasks: list[Fitted]
    owned: list[tuple[int, float | None]]
    seconds: float


def train_tasks(
    tasks: Sequence[Task],
    sharing: TaskSharing,
    pool: _core.Pool,
    callbacks: Sequence[AnyCallback] = (),
) -> FittedTasks:
    """Fit models to tasks, one tree each per round: what one has bought is cheaper for the others."""
    start = perf_counter()
    categorical = _categories(tasks)
    problem = tasks[0].problem
    d = problem.data.table.shape[1]
    n_features = max([d, *(column.end_feature for column in categorical[0])])
    turns = (Parallel if sharing.in_parallel else Sequential)(len(tasks), n_features, sharing.limit, pool)
    whole = None
    if tasks[0].rows is not None:
        whole = SharedTable(problem.data.table, pool, problem.settings.columns.max_bins, problem.seed)
    is_sharing = sharing.group_penalty > 0.0 or (sharing.limit is not None and sharing.limit < n_features)
    common: Model | None = common_trees(tasks, sharing, pool) if sharing.n_common_rounds else None

    def ready(k: int) -> Fit:
        task, own = tasks[k], tasks[k].problem.settings.prices
        costs = TaskCosts(
            turns.shared[k], own.penalty, sharing.group_penalty, own.limit, is_sharing=is_sharing
        )
        columns = None if whole is None or task.rows is None else partial(whole.of_rows, task.rows)
        among = TaskParts(costs, categorical[k], columns)
        continued = None if common is None else common.copy()
        return assemble(task.own_problem(), FitContext(turns.pools[k]), continued, among)

    fits = turns.run(ready, range(len(tasks)))
    found = _take_rounds(fits, tasks, turns, callbacks)
    return FittedTasks(found, [_described(f, d, categorical[0]) for f in turns.owned], perf_counter() - start)


def _take_rounds(
    fits: Sequence[Fit], tasks: Sequence[Task], turns: Turns, callbacks: Sequence[AnyCallback]
) -> list[Fitted]:
    """Add rounds until all tasks are done, or a callback asks to stop."""
    sizes = np.array([task.n_rows for task in tasks], dtype=np.float64)
    listeners = Callbacks(list(callbacks))
    listeners.start(_progress(fits, sizes, turns))
    stop = False
    while not stop and (active := [k for k, fit in enumerate(fits) if not fit.booster.is_done]):
        turns.run(lambda k: fits[k].booster.add_round(), active)
        stop = listeners.after_round(_progress(fits, sizes, turns))
    found = [fit.finished(fit.booster.finish()) for fit in fits]
    listeners.end(_progress(fits, sizes, turns))
    return found


def _categories(tasks: Sequence[Task]) -> list[list[CategoryColumn]]:
    """Encode the categorical columns of each task; a category is the same feature for all of them."""
    settings, d = tasks[0].problem.settings, tasks[0].problem.data.table.shape[1]
    columns = list(settings.columns.categorical)
    if not columns:
        return [[] for _ in tasks]
    parts, rows, weights, fewest = [], [], [], []
    first = 0
    for task in tasks:
        table = task.problem.data.table
        values = table[:, columns] if task.rows is None else table[task.rows][:, columns]
        parts.append(np.asarray(values.toarray() if issparse(values) else values, dtype=np.float64))
        rows.append(slice(first, first + parts[-1].shape[0]))
        first = rows[-1].stop
        own = task.problem.data.targets.weights
        weights.append(np.ones(own.n_rows, dtype=np.int64) if own.are_equal else own.cells)
        fewest.append(task.problem.settings.tree.limits(own).min_leaf)
    stacked = np.concatenate(parts), range(len(columns)), np.concatenate(weights)
    found = encode_categories_of_tasks(*stacked, rows, fewest, d, settings.columns.whole_categories)
    return [[column.of_column(columns[column.column]) for column in of_task] for of_task in found]


def _described(
    feature: int, n_columns: int, categorical: Sequence[CategoryColumn]
) -> tuple[int, float | None]:
    if feature < n_columns:
        return feature, None
    (column,) = [one for one in categorical if one.first_feature <= feature < one.end_feature]
    return column.column, float(column.values[feature - column.first_feature])


def _progress(fits: Sequence[Fit], sizes: F64, turns: Turns) -> Progress:
    """Tell the rounds of the task that is furthest, and the mean of the losses, by rows."""
    each = [fit.booster.progress() for fit in fits]
    loss = float(np.average([one.training_loss for one in each], weights=sizes))
    return Progress(max(one.round for one in each), each[0].n_rounds, loss, len(turns.owned), None, {})
