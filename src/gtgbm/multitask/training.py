"""Trains several tasks with a common penalty on the features that they own together."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from time import perf_counter

import numpy as np

from gtgbm import _core
from gtgbm.boosting import (
    NO_CHECKPOINT,
    AnyCallback,
    BoosterState,
    Callbacks,
    Checkpoint,
    Fit,
    Fitted,
    HistoryEntry,
    Model,
    Progress,
    TaskParts,
    assemble,
    empty_model,
)
from gtgbm.data import CategoryColumn, columns_of_features, encode_categories_of_tasks, issparse
from gtgbm.exact import F64, FitContext
from gtgbm.multitask.common_trees import common_trees
from gtgbm.multitask.shared_columns import SharedTable
from gtgbm.multitask.task import Task, TaskSharing
from gtgbm.multitask.task_prices import TaskCosts
from gtgbm.multitask.turns import Parallel, Sequential, Turns, TurnsState

Evaluations = Mapping[str, Mapping[str, float]]
"""Losses and metrics after a round, by validation set and name."""


@dataclass(frozen=True)
class FittedTasks:
    """Result of a multitask fit.

    Attributes
    ----------
    tasks : list of Fitted
        One result per task.
    owned : list of (int, float or None)
        Column and category, or None, of the features of all tasks, in the order of purchase.
    seconds : float
    """

    tasks: list[Fitted]
    owned: list[tuple[int, float | None]]
    seconds: float


@dataclass(frozen=True)
class _TasksState:
    """State of a multitask fit between two rounds, from which it can go on."""

    tasks: list[BoosterState]
    turns: TurnsState


def train_tasks(
    tasks: Sequence[Task],
    sharing: TaskSharing,
    pool: _core.Pool,
    callbacks: Sequence[AnyCallback] = (),
    owned: Sequence[Sequence[HistoryEntry]] | None = None,
    starts: Sequence[F64] | None = None,
    checkpoint: Checkpoint = NO_CHECKPOINT,
) -> FittedTasks:
    """Fit a model per task, one round of all tasks at a time; purchases become cheaper for other tasks.

    Parameters
    ----------
    owned : sequence of sequence of HistoryEntry, or None
        Features that each task owns before the first round, of which tasks buy no more; None: tasks buy
        features.
    starts : sequence of ndarray of float64, shape (k,), or None
        Constant scores that each task begins with; None: the best of its rows.
    checkpoint : Checkpoint
        Rounds are kept there; if it has rounds of the same fit, the fit goes on from them.
    """
    begin = perf_counter()
    categorical = _categories(tasks)
    problem = tasks[0].problem
    d = problem.data.table.shape[1]
    units = problem.settings.prices.units.of_features(*columns_of_features(d, categorical[0]))
    turns = (Parallel if sharing.in_parallel else Sequential)(len(tasks), units, sharing.limits, pool)
    shared_table = None
    if tasks[0].rows is not None:
        shared_table = SharedTable(problem.data.table, pool, problem.settings.columns.max_bins, problem.seed)
    limit = sharing.limits.count
    # Under a limit on all tasks, a task may buy what others own when it may buy nothing else.
    is_limited = sharing.limits.cost is not None or (limit is not None and limit < units.n_features)
    is_sharing = sharing.group_penalty > 0.0 or is_limited
    common: Model | None = None
    if sharing.n_common_rounds:
        common = checkpoint.stage(
            "common trees", Model, lambda: common_trees(tasks, sharing, pool, owned, checkpoint)
        )
    saved = checkpoint.last_round(_TasksState)

    def assemble_task(k: int) -> Fit:
        task, prices = tasks[k], tasks[k].problem.settings.prices
        limit = prices.limits.count if owned is None else 0
        costs = TaskCosts(
            turns.shared[k], prices.penalty, sharing.group_penalty, limit, is_sharing=is_sharing
        )
        columns = (
            None if shared_table is None or task.rows is None else partial(shared_table.of_rows, task.rows)
        )
        among = TaskParts(costs, categorical[k], columns)
        problem, context = task.own_problem(), FitContext(turns.pools[k])
        continued = None if common is None else common.copy()
        if continued is None and starts is not None:
            continued = Model(starts[k].copy())
        if owned is not None:
            problem = problem.with_settings(problem.settings.buying_nothing())
            continued = empty_model(problem, context) if continued is None else continued
            continued.history = list(owned[k])
        return assemble(problem, context, continued, among, None if saved is None else saved.tasks[k])

    fits = turns.run(assemble_task, range(len(tasks)))
    if saved is not None:
        turns.restore(saved.turns)
    fitted = _run_rounds(fits, tasks, turns, callbacks, checkpoint)
    bought = [_described(feature, d, categorical[0]) for feature in turns.owned]
    return FittedTasks(fitted, _with_used(bought, fitted), perf_counter() - begin)


def _run_rounds(
    fits: Sequence[Fit],
    tasks: Sequence[Task],
    turns: Turns,
    callbacks: Sequence[AnyCallback],
    checkpoint: Checkpoint,
) -> list[Fitted]:
    """Run rounds until all tasks are done, or a callback stops training."""
    sizes = np.array([task.n_rows for task in tasks], dtype=np.float64)
    listeners = Callbacks(list(callbacks))
    listeners.start(_progress(fits, sizes, turns))
    while active := [k for k, fit in enumerate(fits) if not fit.booster.is_done]:
        turns.run(lambda k: fits[k].booster.add_round(), active)
        if listeners.after_round(_progress(fits, sizes, turns)):
            for fit in fits:
                fit.booster.is_done = True
        checkpoint.keep_round(lambda: _TasksState([fit.booster.state() for fit in fits], turns.state()))
    fitted = [fit.finished(fit.booster.finish()) for fit in fits]
    listeners.end(_progress(fits, sizes, turns))
    return fitted


def _categories(tasks: Sequence[Task]) -> list[list[CategoryColumn]]:
    """Encode the categorical columns of each task; a category is the same feature for all tasks."""
    settings, d = tasks[0].problem.settings, tasks[0].problem.data.table.shape[1]
    columns = settings.categorical
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
        task_weights = task.problem.data.targets.weights
        ones = np.ones(task_weights.n_rows, dtype=np.int64)
        weights.append(ones if task_weights.are_equal else task_weights.cells)
        fewest.append(task.problem.settings.tree.limits(task_weights).min_leaf)
    stacked = np.concatenate(parts), range(len(columns)), np.concatenate(weights)
    encoded = encode_categories_of_tasks(*stacked, rows, fewest, d, settings.columns.whole_categories)
    return [[column.of_column(columns[column.column]) for column in of_task] for of_task in encoded]


def _described(
    feature: int, n_columns: int, categorical: Sequence[CategoryColumn]
) -> tuple[int, float | None]:
    if feature < n_columns:
        return feature, None
    (column,) = [known for known in categorical if known.first_feature <= feature < known.end_feature]
    return column.column, float(column.values[feature - column.first_feature])


def _with_used(
    bought: list[tuple[int, float | None]], fitted: Sequence[Fitted]
) -> list[tuple[int, float | None]]:
    """Add the features that tasks use without having bought them: fixed ones, and others of a group."""
    # As text, since NaN is a category too and does not equal itself.
    features = {(column, str(category)): (column, category) for column, category in bought}
    for of_task in fitted:
        for entry in of_task.model.history:
            features.setdefault((entry.feature, str(entry.category)), (entry.feature, entry.category))
    return list(features.values())


def _progress(fits: Sequence[Fit], sizes: F64, turns: Turns) -> Progress:
    """Return the most rounds of any task, and means of losses and metrics, weighted by training rows."""
    progress = [fit.booster.progress() for fit in fits]
    loss = float(np.average([of_task.training_loss for of_task in progress], weights=sizes))
    n_done = max(of_task.round for of_task in progress)
    evaluations = _mean_evaluations([of_task.evaluations for of_task in progress], sizes)
    return Progress(n_done, progress[0].n_rounds, loss, len(turns.owned), None, evaluations)


def _mean_evaluations(of_tasks: Sequence[Evaluations], sizes: F64) -> Evaluations:
    """Return the means over the tasks that have validation rows; metrics that are NaN are left out."""
    known: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for of_task, size in zip(of_tasks, sizes.tolist(), strict=True):
        for of_set, values in of_task.items():
            for name, value in values.items():
                known.setdefault(of_set, {}).setdefault(name, []).append((value, size))
    return {
        of_set: {name: _mean(values) for name, values in named.items()} for of_set, named in known.items()
    }


def _mean(values: Sequence[tuple[float, float]]) -> float:
    numbers = [(value, size) for value, size in values if not math.isnan(value)]
    total = sum(size for _, size in numbers)
    return sum(value * size for value, size in numbers) / total if numbers else math.nan
