"""Trains one model, after selecting its features if the settings ask for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gtgbm import _core
from gtgbm.boosting import AnyCallback, Dataset, Fitted, Model, Problem, empty_model, train
from gtgbm.exact import FitContext
from gtgbm.selection.features import owning
from gtgbm.selection.folds import Folds
from gtgbm.selection.forward_backward import ForwardBackward
from gtgbm.selection.importance import Importance
from gtgbm.selection.judging import Judge, Problems, Stage
from gtgbm.selection.limits import Limits
from gtgbm.selection.stages import ignore, stage_settings, with_used_features


def train_selecting(
    problem: Problem,
    pool: _core.Pool,
    callbacks: Sequence[AnyCallback] = (),
    continued: Model | None = None,
    report: Callable[[str], None] = ignore,
) -> Fitted:
    """Fit a model; with forward-backward selection, its features are selected first.

    Parameters
    ----------
    report : callable
        ``report(text)`` is told each phase of the selection.
    """
    context, settings = FitContext(pool), problem.settings
    folds = None
    if settings.prices.drops and continued is None:
        folds = Folds.of([problem.data])
    if folds is None:
        # A continued fit keeps its features, and a few rows say nothing about rows not trained on.
        return train(problem, context, callbacks, continued)
    empty = empty_model(problem, context)
    with context.timings.stage("selection"):
        importance = _select(problem, folds, empty, context, report)
    report("")
    last = problem.with_settings(settings.buying_nothing())
    fitted = train(last, context, callbacks, owning(empty.start, importance))
    return with_used_features(fitted, importance, settings.prices.units.fixed)


def _select(
    problem: Problem, folds: Folds, empty: Model, context: FitContext, report: Callable[[str], None]
) -> Importance:
    """Return the selected features with their importance, the most important first."""

    def trained(rows: Sequence[Dataset], stage: Stage) -> list[Model]:
        (data,) = rows
        settings = stage_settings(problem.settings, stage, problem.loss.n_scores, data)
        owned = empty.copy() if stage.owned is None else owning(empty.start, stage.owned[0])
        if stage.owned is not None:
            settings = settings.buying_nothing()
        return [
            train(
                Problem(data, problem.loss, settings, problem.seed), FitContext(context.pool), (), owned
            ).model
        ]

    prices = problem.settings.prices
    limits = Limits(prices.limits.count, None, prices.limits.cost, prices.units)
    problems = Problems(problem.loss, [empty.start], limits, problem.settings.columns.given)
    return ForwardBackward(Judge(folds, trained, problems, context, report)).select()[0]
