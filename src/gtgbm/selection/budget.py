"""Chooses the features of a budget."""

from __future__ import annotations

import numpy as np

from gtgbm.selection.comparison import is_clearly_lower
from gtgbm.selection.features import FeatureForest
from gtgbm.selection.importance import Importance
from gtgbm.selection.judging import Judge, Stage

_PRICES = (0.2, 0.08, 0.03, 0.01, 0.003)
"""Prices of a feature of typical cost, as shares of the squared error at the root, at which features are
bought within a budget."""


def within_budget(judge: Judge, importance: list[Importance]) -> list[Importance]:
    """Choose the features of a budget, by the loss on unseen rows.

    Features that matter most for what they cost, or those that matter most; or those that models buy within
    the budget at prices in proportion to costs. A cheap feature that says the same as an expensive one
    matters little beside it, so only a model that has not bought the expensive one yet shows what it is
    worth.
    """
    limits = judge.problems.limits
    if limits.cost is None or limits.units.cost is None:
        return importance
    best = limits.cut(importance, judge.weights, limits.wanted)
    valuable = limits.cut(importance, judge.weights, limits.wanted, by_value=True)
    again = judge.folds.dealt_again(0, 1)
    losses = judge.losses(again, [best])
    for others in (*(_bought(judge, share) for share in _PRICES), valuable):
        if [set(of_task) for of_task in others] == [set(of_task) for of_task in best]:
            continue
        of_others = judge.losses(again, [others])
        if is_clearly_lower(of_others, losses, judge.weights):
            best, losses = others, of_others
    return best


def _bought(judge: Judge, share: float) -> list[Importance]:
    """Return the features that models buy at a price that is a share of the squared error at the root."""
    limits, rows = judge.problems.limits, judge.folds.training(0)
    judge.report(f"budget: price {share:g}")
    price = share * min(task.n_rows for task in rows)
    bought = []
    for model in judge.trainer(rows, Stage(price, limits.total, budget=limits.cost)):
        forest = FeatureForest.of(model)
        shares = forest.gains / max(forest.gains.sum(), np.finfo(np.float64).tiny)
        bought.append(judge.selectable(dict(zip(forest.features, shares.tolist(), strict=True))))
    return limits.cut(bought, judge.weights, limits.wanted)
