"""Forward-backward selection: buys more features than wanted, then drops those that matter least."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gtgbm.boosting import Dataset, Model
from gtgbm.exact import F64, FitContext
from gtgbm.losses import Loss
from gtgbm.selection.evidence import Evidence, HeldOut
from gtgbm.selection.features import Feature, FeatureForest
from gtgbm.selection.folds import N_FOLDS, Folds
from gtgbm.selection.importance import Importance, only, ranked
from gtgbm.selection.limits import Limits, Size
from gtgbm.selection.noise import doubts

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
_FEW_ROWS = 5000
"""Tasks with fewer rows are dealt to folds twice in each step: one division of few rows says little."""
_PRICES_OF_BUDGETS = (0.2, 0.08, 0.03, 0.01, 0.003)
"""Prices of a feature of typical cost, as shares of the squared error at the root, at which features are
bought within a budget."""
_WORTH_THE_COST = 2.0
"""Standard errors by which the loss must be lower with other features of a budget than with those that matter
most for what they cost."""
_CLEARLY = 1.0
"""Standard errors by which the loss must be lower without features in doubt for them to be dropped."""


@dataclass(frozen=True)
class Stage:
    """What the models of one stage may use.

    Attributes
    ----------
    price : float
        Price of a feature, in row variances.
    limit : int
        Most features that the model of a task buys.
    owned : sequence of sequence of Feature, or None
        The features of each task, of which none is bought then; None: features are bought.
    budget : float or None
        Total cost of the features that are bought; the price is then that of a typical cost, and others cost
        in proportion. None: there is no budget, and no feature is cheaper than usual.
    """

    price: float
    limit: int | None
    owned: Sequence[Sequence[Feature]] | None = None
    budget: float | None = None


Trainer = Callable[[Sequence[Dataset], Stage], list[Model]]
"""``trainer(rows_of_tasks, stage)`` fits a model per task, each from its constant score on."""


@dataclass(frozen=True)
class Problems:
    """What selection knows of the problems of tasks.

    Attributes
    ----------
    loss : Loss
    starts : list of ndarray of float64, shape (k,)
        Constant scores of each task.
    limits : Limits
    given : sequence of int
        Columns that are owned without being selected.
    """

    loss: Loss
    starts: list[F64]
    limits: Limits
    given: Sequence[int] = ()


class ForwardBackward:
    """Selects features in two phases.

    Forward: in each fold, models are trained on the other folds; they buy more features than wanted, once at
    the price that the best of all useless features gains by chance, and once at the price that a single one
    does. The rows of the fold, which neither the purchases nor the trees have seen, tell how much the loss
    rises without each feature.

    Backward: the most important features of all folds are owned from the start and trained on again, and the
    least important ones are dropped, repeatedly, because the importance of a feature among many others says
    little about its importance among few. Each step deals the rows to other folds, so that no division of the
    rows decides alone.

    At last, features that show no signal are dropped, unless the loss on unseen rows speaks for them.

    Parameters
    ----------
    report : callable
        ``report(text)`` is told each phase.
    """

    def __init__(
        self,
        folds: Folds,
        trainer: Trainer,
        problems: Problems,
        context: FitContext,
        report: Callable[[str], None],
    ) -> None:
        self._folds = folds
        self._trainer = trainer
        self._problems = problems
        self._context = context
        self._report = report
        sizes = np.array([task.n_rows for task in folds.tasks], dtype=np.float64)
        self._weights: list[float] = (sizes / sizes.sum()).tolist()

    def select(self) -> list[Importance]:
        """Return the features of each task with their importance, the most important first."""
        forward, limits = self._forward(), self._problems.limits
        given = {*self._problems.given, *limits.units.fixed}
        importance = [
            {
                feature: value
                for feature, value in evidence.importance().items()
                if feature.column not in given
            }
            for evidence in forward
        ]
        importance = self._cut(importance, self._first_size())
        while (size := limits.size(importance)).exceeds(limits.wanted):
            self._report(f"backward: {size.total:.0f} features")
            new = self._judged_again(int(size.total), importance)
            importance = [
                _updated(old, of_task.importance()) for old, of_task in zip(importance, new, strict=True)
            ]
            kept = self._cut(importance, Size(_kept(size.total), _kept(size.per_task), _KEPT * size.cost))
            if limits.size(kept) == size:
                break
            importance = kept
        importance = self._within_budget(importance)
        return [ranked(of_task) for of_task in self._without_noise(importance, forward)]

    def _first_size(self) -> Size:
        factor, more = _CANDIDATES
        wanted, typical = self._problems.limits.wanted, self._problems.limits.units.typical_cost
        return Size(
            max(factor * wanted.total, wanted.total + more),
            max(factor * wanted.per_task, wanted.per_task + more),
            max(factor * wanted.cost, wanted.cost + more * typical),
        )

    def _forward(self) -> list[Evidence]:
        """Return the evidence for features that models bought."""
        factor, least = _POOL
        wanted = self._problems.limits.n_wanted
        limit = int(max(least, factor * wanted))
        # The largest of d standard normal variables squared is about 2 log d.
        high = max(_LOW_PRICE, 2.0 * math.log(self._folds.tasks[0].table.shape[1]))
        evidence = self._bought(Stage(high, limit))
        # Models that buy all they may at a high price would only buy more noise at a lower one.
        for price, enough in ((_LOW_PRICE, limit), (_LOWEST_PRICE, wanted)):
            if all(len(of_task.gain) >= enough for of_task in evidence):
                break
            for known, new in zip(evidence, self._bought(Stage(price, limit)), strict=True):
                known.add(new)
        return evidence

    def _bought(self, stage: Stage) -> list[Evidence]:
        """Return the evidence of models that buy features at a price."""
        evidence = [Evidence() for _ in self._weights]
        for fold in range(N_FOLDS):
            self._report(f"forward: price {stage.price:.1f}, fold {fold + 1} of {N_FOLDS}")
            self._fold(self._folds, evidence, fold, stage)
        return evidence

    def _fold(self, folds: Folds, evidence: Sequence[Evidence], fold: int, stage: Stage) -> None:
        """Train models outside a fold and add the evidence of its rows."""
        for k, model, rows in self._trained(folds, fold, stage):
            evidence[k].add_fold(model, rows, self._problems.loss, self._context, [fold, k])

    def _trained(self, folds: Folds, fold: int, stage: Stage) -> Iterator[tuple[int, Model, Dataset]]:
        """Train models outside a fold; yield the number of each task, its model and its rows of the fold."""
        models = self._trainer(folds.training(fold), stage)
        yield from zip(range(len(models)), models, folds.held_out(fold), strict=True)

    def _judged_again(self, number: int, features: Sequence[Importance]) -> list[Evidence]:
        """Return the evidence of models on rows dealt to other folds; few rows are dealt twice."""
        evidence = self._judged(self._folds.dealt_again(number, 0), features)
        if min(task.n_rows for task in self._folds.tasks) < _FEW_ROWS:
            other = self._judged(self._folds.dealt_again(number, 1), features)
            for of_task, of_other in zip(evidence, other, strict=True):
                of_task.add(of_other)
        return evidence

    def _judged(self, folds: Folds, features: Sequence[Importance]) -> list[Evidence]:
        """Return the evidence for some features of each task, by models that own no others."""
        evidence = [Evidence() for _ in self._weights]
        for fold in range(N_FOLDS):
            self._fold(folds, evidence, fold, _owning(features))
        return evidence

    def _cut(self, importance: Sequence[Importance], size: Size) -> list[Importance]:
        """Keep the features that matter most for what they cost, as many as are wanted at least.

        With a budget, those that matter most whatever they cost stay until the end: many cheap features may
        leave too little for an expensive one that is worth more than all of them.
        """
        limits = self._problems.limits
        cut = limits.cut(importance, self._weights, size.at_least(limits.wanted))
        if limits.cost is None or limits.units.cost is None:
            return cut
        valuable = limits.cut(importance, self._weights, limits.wanted, by_value=True)
        return only(importance, [set(one) | set(other) for one, other in zip(cut, valuable, strict=True)])

    def _within_budget(self, importance: list[Importance]) -> list[Importance]:
        """Choose the features of a budget, by the loss on unseen rows.

        Features that matter most for what they cost, or those that matter most; or those that models buy
        within the budget at prices in proportion to costs. A cheap feature that says the same as an
        expensive one matters little beside it, so only a model that has not bought the expensive one yet
        shows what it is worth.
        """
        limits = self._problems.limits
        if limits.cost is None or limits.units.cost is None:
            return importance
        best = limits.cut(importance, self._weights, limits.wanted)
        valuable = limits.cut(importance, self._weights, limits.wanted, by_value=True)
        again = self._folds.dealt_again(0, 1)
        losses = self._losses(again, best)
        bought = [self._bought_within_budget(share) for share in _PRICES_OF_BUDGETS]
        for others in (*bought, valuable):
            if [set(of_task) for of_task in others] == [set(of_task) for of_task in best]:
                continue
            of_others = self._losses(again, others)
            if self._is_lower(list(zip(of_others, losses, strict=True)), _WORTH_THE_COST):
                best, losses = others, of_others
        return best

    def _bought_within_budget(self, share: float) -> list[Importance]:
        """Return the features that models buy at a price that is a share of the squared error at the root."""
        limits, rows = self._problems.limits, self._folds.training(0)
        self._report(f"budget: price {share:g}")
        price = share * min(task.n_rows for task in rows)
        models = self._trainer(rows, Stage(price, limits.total, budget=limits.cost))
        given, bought = {*self._problems.given, *limits.units.fixed}, []
        for forest in map(FeatureForest.of, models):
            shares = (forest.gains / max(forest.gains.sum(), np.finfo(np.float64).tiny)).tolist()
            of_model = zip(forest.features, shares, strict=True)
            bought.append({feature: share for feature, share in of_model if feature.column not in given})
        return limits.cut(bought, self._weights, limits.wanted)

    def _without_noise(self, importance: list[Importance], forward: Sequence[Evidence]) -> list[Importance]:
        """Drop features without any signal unless the loss on unseen rows is higher without them."""
        problems = self._problems
        of_tasks = [
            doubts(of_task, evidence, rows, start, problems.loss, self._context)
            for of_task, evidence, rows, start in zip(
                importance, forward, self._folds.tasks, problems.starts, strict=True
            )
        ]
        of_tasks = [
            replace(doubt, features=problems.limits.whole(of_task, doubt.features))
            for of_task, doubt in zip(importance, of_tasks, strict=True)
        ]
        if not any(task.anything for task in of_tasks) and not self._is_better_than_constants(forward):
            return [{} for _ in importance]
        if not any(of_task.features for of_task in of_tasks):
            return importance
        self._report("noise")
        importance = _own(importance, [of_task.features for of_task in of_tasks])
        clear = [set(of_task) - doubt.features for of_task, doubt in zip(importance, of_tasks, strict=True)]
        without, again = only(importance, clear), self._folds.dealt_again(0, 0)
        losses = [self._losses(again, features) for features in (without, importance)]
        return without if self._is_lower(list(zip(*losses, strict=True))) else importance

    def _losses(self, folds: Folds, features: Sequence[Importance]) -> list[list[F64]]:
        """Return by task and fold what held-out rows add to the loss of models that own some features."""
        losses: list[list[F64]] = [[] for _ in self._weights]
        for fold in range(N_FOLDS):
            for k, model, rows in self._trained(folds, fold, _owning(features)):
                forest = FeatureForest.of(model)
                losses[k].append(HeldOut.of(forest, rows, self._problems.loss, self._context).losses)
        return losses

    def _is_better_than_constants(self, evidence: Sequence[Evidence]) -> bool:
        return self._is_lower([(of_task.unit_losses, of_task.constant_losses) for of_task in evidence])

    def _is_lower(
        self, pairs: Sequence[tuple[list[F64], list[F64]]], standard_errors: float = _CLEARLY
    ) -> bool:
        """Whether mean losses are clearly lower than others, given by task and model, and by unit."""
        mean, variance = 0.0, 0.0
        for (ones, others), weight in zip(pairs, self._weights, strict=True):
            differences = np.concatenate(ones) - np.concatenate(others)
            mean += weight * float(differences.sum()) / len(ones)
            # Models of the same fold have the same rows: only different folds are independent.
            variance += weight**2 * float(differences @ differences) / (len(ones) * N_FOLDS)
        return mean < -standard_errors * math.sqrt(variance)


def _owning(features: Sequence[Importance]) -> Stage:
    """Return a stage whose models own some features and buy none."""
    return Stage(0.0, 0, [list(of_task) for of_task in features])


def _own(importance: Sequence[Importance], doubted: Sequence[set[Feature]]) -> list[Importance]:
    """Drop features that a task doubts and another one does not: they are selected, but not for this task."""
    clear = set().union(*(set(of_task) - doubt for of_task, doubt in zip(importance, doubted, strict=True)))
    return only(
        importance,
        [set(of_task) - (doubt & clear) for of_task, doubt in zip(importance, doubted, strict=True)],
    )


def _updated(old: Importance, new: Importance) -> Importance:
    """Mix the importance in earlier steps into that of the last one; both add up to 1."""
    total = sum(old.values())
    return {
        feature: new.get(feature, 0.0) + (_MEMORY * value / total if total > 0.0 else 0.0)
        for feature, value in old.items()
    }


def _kept(n: float) -> float:
    return min(n - 1, math.ceil(_KEPT * n - 1e-9))
