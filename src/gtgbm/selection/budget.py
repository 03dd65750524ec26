"""Chooses the features of a budget."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gtgbm.boosting import Dataset
from gtgbm.selection.comparison import difference
from gtgbm.selection.features import FeatureForest
from gtgbm.selection.importance import Importance
from gtgbm.selection.judging import Judge, Stage

_PRICES = (0.2, 0.08, 0.03, 0.01, 0.003)
"""Prices of a feature of typical cost, as shares of the squared error at the root, at which features are
bought within a budget."""
_BETTER, _WORSE = 3.0, 1.0
"""Standard errors by which the loss must be lower with features that cost more, and may be higher with those
that cost less."""


def within_budget(judge: Judge, importance: list[Importance]) -> list[Importance]:
    """Choose the features of a budget, by the loss on unseen rows and their cost.

    Features that matter most for what they cost, or those that matter most; or those that models buy within
    the budget at prices in proportion to costs. A cheap feature that says the same as an expensive one
    matters little beside it, so only a model that has not bought the expensive one yet shows what it is
    worth.
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
    again, (best, *others) = judge.folds.dealt_again(0, 1), different.values()
    lowest = judge.losses(again, [best])
    for one in others:
        losses = judge.losses(again, [one])
        mean, error = difference(losses, lowest, judge.weights)
        is_cheaper = limits.size(one).cost < limits.size(best).cost
        if mean < (_WORSE if is_cheaper else -_BETTER) * error:
            best, lowest = one, losses
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
