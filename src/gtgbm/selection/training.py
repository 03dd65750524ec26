"""Trains one model, after selecting its features if the settings ask for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gtgbm import _core
from gtgbm.boosting import (
    NO_CHECKPOINT,
    AnyCallback,
    Checkpoint,
    Dataset,
    Fitted,
    Model,
    Problem,
    empty_model,
    train,
)
from gtgbm.exact import FitContext
from gtgbm.selection.features import owning
from gtgbm.selection.folds import Folds
from gtgbm.selection.forward_backward import ForwardBackward
from gtgbm.selection.importance import Importance
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


def train_selecting(
    problem: Problem,
    context: FitContext,
    callbacks: Sequence[AnyCallback] = (),
    continued: Model | None = None,
    report: Callable[[str], None] = ignore,
    checkpoint: Checkpoint = NO_CHECKPOINT,
) -> Fitted:
    """Fit a model; with forward-backward selection, its features are selected first.

    Parameters
    ----------
    report : callable
        ``report(text)`` is told each phase of the selection.
    checkpoint : Checkpoint
        Models of the selection and rounds of the last fit are kept there, and taken from there.
    """
    folds = None
    if problem.settings.prices.drops and continued is None:
        folds = Folds.of([problem.data], context=context)
    if folds is None:
        # A continued fit keeps its features, and a few rows say nothing about rows not trained on.
        return train(problem, context, callbacks, continued, checkpoint)
    with context.timings.stage("selection"):
        judge = _judge(problem, folds, context, report, checkpoint)
        found = selected(judge, [problem], checkpoint)
    report("")
    (importance,) = found.features
    return _train_owning(found.last(problem), importance, context, callbacks, checkpoint)


def train_path(
    problem: Problem,
    pool: _core.Pool,
    sizes: Sequence[int],
    callbacks: Sequence[AnyCallback] = (),
    report: Callable[[str], None] = ignore,
) -> list[Fitted]:
    """Fit a model for each number of features; one backward phase selects the features of all of them.

    Parameters
    ----------
    problem : Problem
        Its limit is the largest size.
    sizes : sequence of int
        In descending order.
    callbacks : sequence of Callback or callables
        They are told the rounds of the model of each size.
    """
    context, folds = FitContext(pool), Folds.of([problem.data])
    if folds is None:
        raise ValueError(too_few_rows(problem.data.n_rows))
    path = ForwardBackward(_judge(problem, folds, context, report)).path(sizes)
    return [_train_owning(problem, importance, FitContext(pool), callbacks) for (importance,) in path]


def _train_owning(
    problem: Problem,
    importance: Importance,
    context: FitContext,
    callbacks: Sequence[AnyCallback],
    checkpoint: Checkpoint = NO_CHECKPOINT,
) -> Fitted:
    """Fit a model that owns features from the start and buys no others."""
    last = problem.with_settings(problem.settings.buying_nothing())
    owned = owning(empty_model(problem, context).start, importance)
    fitted = train(last, context, callbacks, owned, checkpoint)
    return with_used_features(fitted, importance, problem.settings.prices.units.fixed)


def _judge(
    problem: Problem,
    folds: Folds,
    context: FitContext,
    report: Callable[[str], None],
    checkpoint: Checkpoint = NO_CHECKPOINT,
) -> Judge:
    """Return what judges features by models of folds."""
    empty, problem = empty_model(problem, context), with_one_search(problem, folds.tasks[0], context)

    def trained(rows: Sequence[Dataset], stage: Stage) -> list[Model]:
        (data,) = rows
        settings = stage_settings(problem.settings, stage, problem.loss.n_scores, data)
        owned = empty.copy() if stage.owned is None else owning(empty.start, stage.owned[0])
        if stage.owned is not None:
            settings = settings.buying_nothing()
        of_stage = Problem(data, problem.loss, settings, problem.seed)
        return [train(of_stage, FitContext(context.pool), (), owned).model]

    prices = problem.settings.prices
    limits = Limits(prices.limits.count, None, prices.limits.cost, prices.units)
    problems = Problems([problem.loss], [empty.start], limits, problem.settings.columns.given)
    # Workers have the same rows of folds, and each of them comes to the same features.
    return Judge(folds, kept_models(trained, checkpoint), problems, FitContext(context.pool), report)
