"""Trains the models of several tasks, after selecting their features if the settings ask for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from time import perf_counter

import numpy as np

from gtgbm import _core
from gtgbm.boosting import (
    NO_CHECKPOINT,
    AnyCallback,
    Checkpoint,
    Dataset,
    Fitted,
    HistoryEntry,
    Model,
    Problem,
    empty_model,
)
from gtgbm.exact import FitContext
from gtgbm.multitask import FittedTasks, Task, TaskSharing, train_tasks
from gtgbm.pricing import SpendingLimits
from gtgbm.selection.features import Feature
from gtgbm.selection.folds import MOST_ROWS, Folds, drawn_rows
from gtgbm.selection.forward_backward import ForwardBackward
from gtgbm.selection.importance import Importance, over_tasks
from gtgbm.selection.judging import Judge, Problems, Stage
from gtgbm.selection.kept import kept_models, selected
from gtgbm.selection.limits import Limits
from gtgbm.selection.stages import (
    ignore,
    stage_settings,
    too_few_rows,
    with_one_search,
    with_used_features,
)

_FEWEST_ROWS = 2000
"""Rows that each of many tasks is selected on, if it has so many."""


def train_tasks_selecting(
    tasks: Sequence[Task],
    sharing: TaskSharing,
    pool: _core.Pool,
    callbacks: Sequence[AnyCallback] = (),
    report: Callable[[str], None] = ignore,
    checkpoint: Checkpoint = NO_CHECKPOINT,
) -> FittedTasks:
    """Fit a model per task; with forward-backward selection, their features are selected first.

    Parameters
    ----------
    report : callable
        ``report(text)`` is told each phase of the selection.
    checkpoint : Checkpoint
        Models of the selection and rounds of the last fit are kept there, and taken from there.
    """
    begin, limits = perf_counter(), _limits(tasks, sharing)
    folds = None
    if tasks[0].problem.settings.prices.drops and not limits.is_none:
        folds = _folds(tasks)
    if folds is None:
        return train_tasks(tasks, sharing, pool, callbacks, checkpoint=checkpoint)
    judge = _judge(tasks, folds, sharing, pool, report, checkpoint)
    found = selected(judge, [task.problem for task in tasks], checkpoint)
    report("")
    last = [replace(task, problem=found.last(task.problem)) for task in tasks]
    fitted = _train_owning(last, found.features, sharing, pool, callbacks, checkpoint)
    return replace(fitted, seconds=perf_counter() - begin)


def train_tasks_path(
    tasks: Sequence[Task],
    sharing: TaskSharing,
    pool: _core.Pool,
    sizes: Sequence[int],
    callbacks: Sequence[AnyCallback] = (),
    report: Callable[[str], None] = ignore,
) -> list[FittedTasks]:
    """Fit a model per task for each number of features of all tasks, the largest first; see `train_path`."""
    folds = _folds(tasks)
    if folds is None:
        raise ValueError(too_few_rows(min(task.n_rows for task in tasks)))
    path = ForwardBackward(_judge(tasks, folds, sharing, pool, report)).path(sizes)
    return [_train_owning(tasks, importance, sharing, pool, callbacks) for importance in path]


def _limits(tasks: Sequence[Task], sharing: TaskSharing) -> Limits:
    prices = tasks[0].problem.settings.prices
    return Limits(sharing.limits.count, prices.limits.count, sharing.limits.cost, prices.units)


def _train_owning(
    tasks: Sequence[Task],
    importance: Sequence[Importance],
    sharing: TaskSharing,
    pool: _core.Pool,
    callbacks: Sequence[AnyCallback],
    checkpoint: Checkpoint = NO_CHECKPOINT,
) -> FittedTasks:
    """Fit models that own features from the start and buy no others."""
    begin, limits = perf_counter(), _limits(tasks, sharing)
    if sharing.n_common_rounds:
        importance = [_for_all(importance, limits, tasks)] * len(tasks)
    owned = [[feature.entry(value) for feature, value in of_task.items()] for of_task in importance]
    fitted = train_tasks(tasks, sharing, pool, callbacks, owned, checkpoint=checkpoint)
    fixed = limits.units.fixed
    models = [with_used_features(*pair, fixed) for pair in zip(fitted.tasks, importance, strict=True)]
    return FittedTasks(models, _selected(models), perf_counter() - begin)


def _folds(tasks: Sequence[Task]) -> Folds | None:
    """Deal the rows of tasks to folds; of many tasks, fewer rows each."""
    rng, most_rows = np.random.default_rng(0), _most_rows(len(tasks))
    datasets = []
    for task in tasks:
        table, targets = task.problem.data.table, task.problem.data.targets
        if task.rows is None:
            datasets.append(task.problem.data)
            continue
        # The table is that of all tasks: only the rows in use are copied.
        drawn = drawn_rows(targets, most_rows, rng)
        datasets.append(Dataset(table[task.rows[drawn]], targets.of_rows(drawn)))
    return Folds.of(datasets, most_rows)


def _most_rows(n_tasks: int) -> int:
    return max(_FEWEST_ROWS, MOST_ROWS // n_tasks)


def _judge(
    tasks: Sequence[Task],
    folds: Folds,
    sharing: TaskSharing,
    pool: _core.Pool,
    report: Callable[[str], None],
    checkpoint: Checkpoint = NO_CHECKPOINT,
) -> Judge:
    """Return what judges features by models of folds."""
    context = FitContext(pool)
    starts = [empty_model(task.problem, context).start for task in tasks]
    problems = [
        with_one_search(task.problem, rows, context) for task, rows in zip(tasks, folds.tasks, strict=True)
    ]

    def trained(rows: Sequence[Dataset], stage: Stage) -> list[Model]:
        of_stage = []
        for problem, data in zip(problems, rows, strict=True):
            settings = stage_settings(problem.settings, stage, problem.loss.n_scores, data)
            of_stage.append(Task(Problem(data, problem.loss, settings, problem.seed), None))
        owned: list[list[HistoryEntry]] | None = None
        if stage.owned is not None:
            owned = [[feature.entry(0.0) for feature in of_task] for of_task in stage.owned]
        alone = TaskSharing(0.0, SpendingLimits(cost=stage.budget), sharing.in_parallel)
        # Starts of all rows: those of a part may all have the same class, which has no log-odds.
        return [fitted.model for fitted in train_tasks(of_stage, alone, pool, (), owned, starts).tasks]

    known = Problems([task.problem.loss for task in tasks], starts, _limits(tasks, sharing))
    return Judge(folds, kept_models(trained, checkpoint), known, context, report)


def _for_all(importance: Sequence[Importance], limits: Limits, tasks: Sequence[Task]) -> Importance:
    """Return the features that all tasks own, because they have common trees."""
    wanted = limits.wanted
    of_all = over_tasks(importance, [task.n_rows for task in tasks])
    return limits.first(of_all, min(wanted.total, wanted.per_task), wanted.cost)


def _selected(fitted: Sequence[Fitted]) -> list[tuple[int, float | None]]:
    """Return column and category of the features of all tasks, each once."""
    features = {
        Feature.of(entry.feature, entry.category): (entry.feature, entry.category)
        for of_task in fitted
        for entry in of_task.model.history
    }
    return list(features.values())
