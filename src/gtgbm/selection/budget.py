"""Chooses the features of a budget."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gtgbm.boosting import Dataset
from gtgbm.selection.comparison import Losses, difference
from gtgbm.selection.features import FeatureForest
from gtgbm.selection.importance import Importance
from gtgbm.selection.judging import Judge, Stage

_PRICES = (0.2, 0.08, 0.03, 0.01, 0.003)
"""Prices of a feature of typical cost, as shares of the squared error at the root, at which features are
bought within a budget."""
_WORSE = 3.0
"""Standard errors by which the loss may be higher, times the share of the cost that is saved."""


def within_budget(judge: Judge, importance: list[Importance]) -> list[Importance]:
    """Choose the features of a budget by the loss on unseen rows, and others that cost clearly less.

    Compared are the features that matter most for what they cost, those that matter most, and those that
    models buy within the budget at prices in proportion to costs. A cheap feature that says the same as an
    expensive one matters little beside it, so only a model that has not bought the expensive one yet shows
    what it is worth. The more of the budget is saved, the more the loss may be higher by chance.
    """
    limits = judge.problems.limits
    if limits.cost is None or limits.units.cost is None:
        return importance
    rows = judge.folds.training(0, keeps=True)
    sets = [
        limits.cut(importance, judge.weights, limits.wanted),
        *(_bought(judge, rows, share) for share in _PRICES),
        limits.cut(importance, judge.weights, limits.wanted, by_value=True),
    ]
    different = {tuple(frozenset(of_task) for of_task in one): one for one in sets}
    again = judge.folds.dealt_again(0, 1)
    judged = list(different.values())
    losses = [judge.losses(again, [one]) for one in judged]
    return judged[chosen(losses, [limits.size(one).cost for one in judged], judge.weights)]


def chosen(losses: Sequence[Losses], costs: Sequence[float], weights: Sequence[float]) -> int:
    """Return which of several sets of features to take, by their losses on unseen rows and their costs.

    The one with the lowest loss, or the cheapest of those whose loss is higher by so little that the cost
    which they save is worth more. Two sets that say the same differ by chance only.

    Parameters
    ----------
    losses : sequence of Losses
        Of models of each set.
    weights : sequence of float
        Weight of each task.
    """
    means = [difference(one, losses[0], weights)[0] for one in losses]
    lowest = means.index(min(means))
    best = lowest
    for k, cost in enumerate(costs):
        mean, error = difference(losses[k], losses[lowest], weights)
        if cost < costs[best] and mean <= _WORSE * (1.0 - cost / costs[lowest]) * error:
            best = k
    return best


def _bought(judge: Judge, rows: Sequence[Dataset], share: float) -> list[Importance]:
    """Return the features that models buy at a price that is a share of the squared error at the root."""
    limits = judge.problems.limits
    judge.report(f"budget: price {share:g}")
    price = share * min(task.n_rows for task in rows)
    bought = []
    for model in judge.trainer(rows, Stage(price, limits.total, budget=limits.cost)):
        forest = FeatureForest.of(model)
        shares = forest.gains / max(forest.gains.sum(), np.finfo(np.float64).tiny)
        bought.append(judge.selectable(dict(zip(forest.features, shares.tolist(), strict=True))))
    return limits.cut(bought, judge.weights, limits.wanted)
