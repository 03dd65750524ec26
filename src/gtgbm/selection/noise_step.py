"""Drops features that may be noise, if models of fewer features are better."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gtgbm.selection.comparison import Losses, difference, is_clearly_lower
from gtgbm.selection.evidence import Evidence
from gtgbm.selection.features import Feature
from gtgbm.selection.folds import N_FOLDS
from gtgbm.selection.importance import Importance, only, over_tasks, ranked
from gtgbm.selection.judging import Judge
from gtgbm.selection.noise import Doubts, doubts


def without_noise(
    judge: Judge, importance: list[Importance], forward: Sequence[Evidence]
) -> list[Importance]:
    """Drop features without any signal if models of fewer features have a lower loss on unseen rows.

    Parameters
    ----------
    importance : list of dict from Feature to float
        The selected features of each task.
    forward : sequence of Evidence
        Of models that bought their features without seeing the rows they are judged on.
    """
    of_tasks = _doubts(judge, importance, forward)
    if not any(task.anything for task in of_tasks) and not _is_better_than_constants(judge, forward):
        return [{} for _ in importance]
    importance = _own(importance, [of_task.features for of_task in of_tasks])
    in_doubt = set().union(*(of_task.features for of_task in of_tasks))
    by_rank = ranked(over_tasks(importance, judge.weights))
    doubted = [feature for feature in by_rank if feature in in_doubt]
    if not doubted:
        return importance
    judge.report("noise")
    chosen, everything = importance, _losses(judge, forward, importance)
    lowest = everything
    for n_kept in _halves(len(doubted)):
        dropped = set(doubted[n_kept:])
        fewer = only(importance, [set(of_task) - dropped for of_task in importance])
        losses = _losses(judge, forward, fewer)
        if is_clearly_lower(lowest, losses, judge.weights):
            break  # Features that help are missing: with even fewer the loss would rise further.
        if difference(losses, lowest, judge.weights)[0] < 0.0:
            chosen, lowest = fewer, losses
    return chosen if is_clearly_lower(lowest, everything, judge.weights) else importance


def _doubts(judge: Judge, importance: list[Importance], forward: Sequence[Evidence]) -> list[Doubts]:
    """Return the doubts of each task; units of purchase are in doubt as a whole or not at all."""
    problems, found = judge.problems, []
    for of_task, evidence, rows, start, loss in zip(
        importance, forward, judge.folds.tasks, problems.starts, problems.losses, strict=True
    ):
        doubt = doubts(of_task, evidence, rows, start, loss, judge.context)
        found.append(replace(doubt, features=problems.limits.whole(of_task, doubt.features)))
    return found


def _is_better_than_constants(judge: Judge, evidence: Sequence[Evidence]) -> bool:
    losses = [of_task.unit_losses for of_task in evidence]
    return is_clearly_lower(losses, [of_task.constant_losses for of_task in evidence], judge.weights)


def _losses(judge: Judge, forward: Sequence[Evidence], features: Sequence[Importance]) -> Losses:
    """Return the losses of models that own as many features as given.

    Which ones is decided in each fold by what its models bought, because the given features were selected on
    all rows: on any of these, models of few such features look better than they are.
    """
    limits = judge.problems.limits
    owned = [
        [
            limits.first(judge.selectable(evidence.gain_shares(fold)), limits.size([of_task]).total)
            for evidence, of_task in zip(forward, features, strict=True)
        ]
        for fold in range(N_FOLDS)
    ]
    return judge.losses(judge.folds, owned)


def _own(importance: Sequence[Importance], doubted: Sequence[set[Feature]]) -> list[Importance]:
    """Drop features that a task doubts and another one does not: they are selected, but not for this task."""
    clear = set().union(*(set(of_task) - doubt for of_task, doubt in zip(importance, doubted, strict=True)))
    return only(
        importance,
        [set(of_task) - (doubt & clear) for of_task, doubt in zip(importance, doubted, strict=True)],
    )


def _halves(n: int) -> list[int]:
    """Return half of a number, half of that and so on, and 0."""
    return [n // 2**k for k in range(1, n.bit_length() + 1)]
