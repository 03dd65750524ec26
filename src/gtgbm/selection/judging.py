"""Trains models on all folds but one, and judges features on that one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from gtgbm.boosting import Dataset, Model
from gtgbm.exact import F64, FitContext
from gtgbm.losses import Loss
from gtgbm.selection.comparison import Losses
from gtgbm.selection.evidence import Evidence, HeldOut
from gtgbm.selection.features import Feature, FeatureForest
from gtgbm.selection.folds import N_FOLDS, Folds
from gtgbm.selection.importance import Importance
from gtgbm.selection.limits import Limits

_FEW_ROWS = 5000
"""Tasks with fewer rows are dealt to folds twice in each step: one division of few rows says little."""


@dataclass(frozen=True)
class Stage:
    """What the models of one stage may use.

    Attributes
    ----------
    price : float
        Price of a feature, in row variances.
    limit : int or None
        Most features that the model of a task buys; None: no limit.
    owned : sequence of sequence of Feature, or None
        The features of each task, of which none is bought then; None: features are bought.
    without : frozenset of int
        Columns that must not be bought.
    budget : float or None
        Total cost of the features that are bought; the price is then that of a typical cost, and others cost
        in proportion. None: there is no budget, and no feature is cheaper than usual.
    """

    price: float
    limit: int | None
    owned: Sequence[Sequence[Feature]] | None = None
    without: frozenset[int] = frozenset()
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


class Judge:
    """Judges features by models of folds.

    Attributes
    ----------
    weights : list of float
        Share of each task in all rows.

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
        self.folds = folds
        self.problems = problems
        self.context = context
        self.report = report
        self.trainer = trainer
        sizes = np.array([task.n_rows for task in folds.tasks], dtype=np.float64)
        self.weights: list[float] = (sizes / sizes.sum()).tolist()

    def selectable(self, importance: Importance) -> Importance:
        """Return what is known of features that are not owned anyway."""
        owned = {*self.problems.given, *self.problems.limits.units.fixed}
        return {feature: value for feature, value in importance.items() if feature.column not in owned}

    def bought(self, stage: Stage) -> list[Evidence]:
        """Return the evidence of models that buy features."""
        evidence = [Evidence() for _ in self.weights]
        for fold in range(N_FOLDS):
            what = "substitutes" if stage.without else f"price {stage.price:.1f}"
            self.report(f"forward: {what}, fold {fold + 1} of {N_FOLDS}")
            self._add(evidence, self.folds, fold, stage)
        return evidence

    def judged_again(self, number: int, features: Sequence[Importance]) -> list[Evidence]:
        """Return the evidence of models that own features, on rows dealt to other folds.

        Few rows are dealt twice.
        """
        n_deals = 2 if min(task.n_rows for task in self.folds.tasks) < _FEW_ROWS else 1
        evidence = [Evidence() for _ in self.weights]
        for deal in range(n_deals):
            folds = self.folds.dealt_again(number, deal)
            for fold in range(N_FOLDS):
                self._add(evidence, folds, fold, _owning(features))
        return evidence

    def losses(self, folds: Folds, features: Sequence[Sequence[Importance]]) -> Losses:
        """Return the losses of models that own features, on the rows of each fold.

        Parameters
        ----------
        features : sequence of sequence of dict from Feature to float
            The features of each task, for each fold or once for all folds.
        """
        losses: list[list[F64]] = [[] for _ in self.weights]
        for fold in range(N_FOLDS):
            for k, model, rows in self._trained(folds, fold, _owning(features[fold % len(features)])):
                forest = FeatureForest.of(model)
                losses[k].append(HeldOut.of(forest, rows, self.problems.loss, self.context).losses)
        return losses

    def _add(self, evidence: Sequence[Evidence], folds: Folds, fold: int, stage: Stage) -> None:
        """Train models outside a fold and add the evidence of its rows."""
        for k, model, rows in self._trained(folds, fold, stage):
            evidence[k].add_fold(model, rows, self.problems.loss, self.context, [fold, k])

    def _trained(self, folds: Folds, fold: int, stage: Stage) -> Iterator[tuple[int, Model, Dataset]]:
        """Train models outside a fold; yield the number of each task, its model and its rows of the fold."""
        models = self.trainer(folds.training(fold), stage)
        yield from zip(range(len(models)), models, folds.held_out(fold), strict=True)


def _owning(features: Sequence[Importance]) -> Stage:
    """Return a stage whose models own some features and buy none."""
    return Stage(0.0, 0, [list(of_task) for of_task in features])
