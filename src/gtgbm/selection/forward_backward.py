"""Forward-backward selection: buys more features than wanted, then drops those that matter least."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from gtgbm.selection.budget import within_budget
from gtgbm.selection.evidence import Evidence
from gtgbm.selection.importance import Importance, only, ranked
from gtgbm.selection.judging import Judge, Stage
from gtgbm.selection.limits import Limits, Size
from gtgbm.selection.noise_step import without_noise

_LOW_PRICE = 4.0
"""In row variances: about the gain by chance of a useless feature's best split."""
_LOWEST_PRICE = 1.0
"""The price if even the low one finds fewer features than wanted."""
_POOL = (2.0, 60)
"""Features that a model of the forward phase may buy: a multiple of those wanted, and at least so many."""
_CANDIDATES = (3.0, 20)
"""Features that the backward phase starts with: a multiple of those wanted, and at least so many more."""
_KEPT = 0.6
"""Share of the features that a step of the backward phase keeps."""
_MEMORY = 0.7
"""Weight of the importance in earlier steps, which had more features, against that in the last one."""


class ForwardBackward:
    """Selects features in two phases.

    Forward: in each fold, models are trained on the other folds; they buy more features than wanted, once at
    the price that the best of all useless features gains by chance, once at the price that a single one does,
    and once without the best features so far, which finds those that can take their place. The rows of the
    fold, which neither the purchases nor the trees have seen, tell how much the loss rises without each
    feature.

    Backward: the most important features of all folds are owned from the start and trained on again, and the
    least important ones are dropped, repeatedly, because the importance of a feature among many others says
    little about its importance among few. Each step deals the rows to other folds, so that no division of the
    rows decides alone.

    At last, features that show no signal are dropped if the loss on unseen rows is lower with fewer features.
    """

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._limits = judge.problems.limits

    def select(self) -> list[Importance]:
        """Return the features of each task with their importance, the most important first."""
        forward, limits = self._forward(), self._limits
        importance = self._backward(self._candidates(forward), limits)
        importance = within_budget(self._judge, importance)
        return [ranked(of_task) for of_task in without_noise(self._judge, importance, forward)]

    def path(self, sizes: Sequence[int]) -> Iterator[list[Importance]]:
        """Yield the features of each task for numbers of features of all tasks, given in descending order.

        The limit is the largest of them. One backward phase visits all sizes.
        """
        importance = self._candidates(self._forward())
        for size in sizes:
            importance = self._backward(importance, replace(self._limits, total=size))
            yield [ranked(of_task) for of_task in importance]

    def _forward(self) -> list[Evidence]:
        """Return the evidence for features that models bought."""
        factor, least = _POOL
        wanted = self._limits.n_wanted
        limit = int(max(least, factor * wanted))
        # The largest of d standard normal variables squared is about 2 log d.
        high = max(_LOW_PRICE, 2.0 * math.log(self._judge.folds.tasks[0].table.shape[1]))
        rows = self._judge.training_rows()
        evidence = self._judge.bought(Stage(high, limit), rows)
        # Models that buy all they may at a high price would only buy more noise at a lower one.
        for price, enough in ((_LOW_PRICE, limit), (_LOWEST_PRICE, wanted)):
            if all(len(of_task.rise) >= enough for of_task in evidence):
                break
            _add(evidence, self._judge.bought(Stage(price, limit), rows))
        substitutes = Stage(high, limit, without=self._best_columns(evidence))
        _add(evidence, self._judge.bought(substitutes, rows))
        return evidence

    def _best_columns(self, evidence: Sequence[Evidence]) -> frozenset[int]:
        """Return the columns of as many features as wanted: those with the largest importance so far."""
        importance = [self._judge.selectable(of_task.importance()) for of_task in evidence]
        best = self._limits.cut(importance, self._judge.weights, self._limits.wanted)
        return frozenset(feature.column for of_task in best for feature in of_task)

    def _candidates(self, forward: Sequence[Evidence]) -> list[Importance]:
        """Return the features that the backward phase starts with."""
        factor, more = _CANDIDATES
        wanted, typical = self._limits.wanted, self._limits.units.typical_cost
        size = Size(
            max(factor * wanted.total, wanted.total + more),
            max(factor * wanted.per_task, wanted.per_task + more),
            max(factor * wanted.cost, wanted.cost + more * typical),
        )
        importance = [self._judge.selectable(evidence.importance()) for evidence in forward]
        return self._cut(importance, size, self._limits)

    def _backward(self, importance: list[Importance], limits: Limits) -> list[Importance]:
        """Drop the least important features again and again until the limits are met."""
        while (size := limits.size(importance)).exceeds(limits.wanted):
            self._judge.report(f"backward: {size.total:.0f} features")
            new = self._judge.judged_again(int(size.total), importance)
            importance = [
                _updated(old, of_task.importance()) for old, of_task in zip(importance, new, strict=True)
            ]
            smaller = Size(_kept(size.total), _kept(size.per_task), _KEPT * size.cost)
            kept = self._cut(importance, smaller, limits)
            if limits.size(kept) == size:
                break
            importance = kept
        return importance

    def _cut(self, importance: Sequence[Importance], size: Size, limits: Limits) -> list[Importance]:
        """Keep the features that matter most for what they cost, as many as are wanted at least.

        With a budget, those that matter most whatever they cost stay until the end: many cheap features may
        leave too little for an expensive one that is worth more than all of them.
        """
        weights = self._judge.weights
        cut = limits.cut(importance, weights, size.at_least(limits.wanted))
        if limits.cost is None or limits.units.cost is None:
            return cut
        valuable = limits.cut(importance, weights, limits.wanted, by_value=True)
        return only(importance, [set(one) | set(other) for one, other in zip(cut, valuable, strict=True)])


def _add(evidence: Sequence[Evidence], others: Sequence[Evidence]) -> None:
    for of_task, new in zip(evidence, others, strict=True):
        of_task.add(new)


def _updated(old: Importance, new: Importance) -> Importance:
    """Mix the importance in earlier steps into that of the last one; both add up to 1."""
    total = sum(old.values())
    return {
        feature: new.get(feature, 0.0) + (_MEMORY * value / total if total > 0.0 else 0.0)
        for feature, value in old.items()
    }


def _kept(n: float) -> float:
    return min(n - 1, math.ceil(_KEPT * n - 1e-9))
