"""Trains several tasks under one penalty on the features they own together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from time import perf_counter

import numpy as np

from gtgbm import _core
from gtgbm.boosting import AnyCallback, Callbacks, Fit, Fitted, Model, Progress, TaskParts, prepare
from gtgbm.data import CategoryColumn, encode_categories_of_tasks, issparse
from gtgbm.exact import F64
from gtgbm.losses import Loss
from gtgbm.multitask.common_trees import common_start, copy_of
from gtgbm.multitask.shared_columns import SharedTable
from gtgbm.multitask.task import Task
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
    loss: Loss,
    group_penalty: float,
    limit: int | None,
    *,
    seed: int,
    pool: _core.Pool,
    callbacks: Sequence[AnyCallback] = (),
    in_parallel: bool = False,
    n_common_rounds: int = 0,
) -> FittedTasks:
    """Fit models to tasks, one tree each per round: what one has bought is cheaper for the others.

    Parameters
    ----------
    group_penalty : float
        μ_G: what a feature costs on top that no task owns yet.
    limit : int or None
        Most features of all tasks together.
    in_parallel : bool
        Whether tasks learn of each other's features only after each round; see `Parallel`.
    n_common_rounds : int
        Rounds of `common_start`, which all tasks begin with.
    """
    start = perf_counter()
    categorical = _categories(tasks)
    d = tasks[0].table.shape[1]
    n_features = max([d, *(column.end_feature for column in categorical[0])])
    turns = (Parallel if in_parallel else Sequential)(len(tasks), n_features, limit, pool)
    whole = None
    if tasks[0].rows is not None:
        whole = SharedTable(tasks[0].table, pool, tasks[0].settings.max_bins, seed)
    is_sharing = group_penalty > 0.0 or (limit is not None and limit < n_features)

    common: Model | None = None
    if n_common_rounds:
        common = common_start(tasks, loss, group_penalty, limit, n_common_rounds, seed, pool)

    def ready(k: int) -> Fit:
        task = tasks[k]
        own = task.settings.penalty, task.settings.n_features_to_select
        costs = TaskCosts(turns.shared[k], own[0], group_penalty, own[1], is_sharing=is_sharing)
        columns = None if whole is None or task.rows is None else partial(whole.of_rows, task.rows)
        among = TaskParts(costs, categorical[k], columns)
        given = task.targets, loss, task.settings, seed, turns.pools[k], task.evaluated
        continued = None if common is None else copy_of(common)
        return prepare(task.own_table(), *given, continued, among=among)

    fits = turns.run(ready, range(len(tasks)))
    found = _take_rounds(fits, tasks, turns, callbacks)
    return FittedTasks(found, [_described(f, d, categorical[0]) for f in turns.owned], perf_counter() - start)


def _take_rounds(
    fits: Sequence[Fit], tasks: Sequence[Task], turns: Turns, callbacks: Sequence[AnyCallback]
) -> list[Fitted]:
    """Add rounds until all tasks are done, or a callback has had enough."""
    sizes = np.array([task.targets.y.shape[0] for task in tasks], dtype=np.float64)
    told = Callbacks(list(callbacks))
    told.start(_progress(fits, sizes, turns))
    stop = False
    while not stop and (active := [k for k, fit in enumerate(fits) if not fit.booster.is_done]):
        turns.run(lambda k: fits[k].booster.add_round(), active)
        stop = told.after_round(_progress(fits, sizes, turns))
    found = [Fitted(fit.booster.finish(), fit.search, fit.timings.summary()) for fit in fits]
    told.end(_progress(fits, sizes, turns))
    return found


def _categories(tasks: Sequence[Task]) -> list[list[CategoryColumn]]:
    """Encode the categorical columns of each task; a category is the same feature for all of them."""
    columns, d = list(tasks[0].settings.categorical), tasks[0].table.shape[1]
    if not columns:
        return [[] for _ in tasks]
    parts, rows, weights, fewest = [], [], [], []
    first = 0
    for task in tasks:
        values = task.table[:, columns] if task.rows is None else task.table[task.rows][:, columns]
        parts.append(np.asarray(values.toarray() if issparse(values) else values, dtype=np.float64))
        rows.append(slice(first, first + parts[-1].shape[0]))
        first = rows[-1].stop
        own = task.targets.weights
        weights.append(np.ones(own.n_rows, dtype=np.int64) if own.are_equal else own.cells)
        fewest.append(task.settings.limits(own).min_leaf)
    stacked = np.concatenate(parts), range(len(columns)), np.concatenate(weights)
    as_whole = tasks[0].settings.whole_categories
    found = encode_categories_of_tasks(*stacked, rows, fewest, d, as_whole)
    return [[one.of_column(columns[one.column]) for one in of_task] for of_task in found]


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
