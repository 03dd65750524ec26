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
"""Tasks with fewer rows are divided more often for each question: one division of few rows says little."""


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
    max_leaf_nodes : int or None
        Most leaves of trees that are as deep as those of the last fit. None: trees are shallow.
    """

    price: float
    limit: int | None
    owned: Sequence[Sequence[Feature]] | None = None
    without: frozenset[int] = frozenset()
    budget: float | None = None
    max_leaf_nodes: int | None = None


Trainer = Callable[[Sequence[Dataset], Stage], list[Model]]
"""``trainer(rows_of_tasks, stage)`` fits a model per task, each from its constant score on."""


@dataclass(frozen=True)
class Problems:
    """What selection knows of the problems of tasks.

    Attributes
    ----------
    losses : list of Loss
        The loss of each task.
    starts : list of ndarray of float64, shape (k,)
        Constant scores of each task.
    limits : Limits
    given : sequence of int
        Columns that are owned without being selected.
    """

    losses: list[Loss]
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

    def training_rows(self) -> list[list[Dataset]]:
        """Return the rows of each task outside each fold, for several models that buy features."""
        return [self.folds.training(fold, keeps=True) for fold in range(N_FOLDS)]

    def bought(self, stage: Stage, rows: Sequence[Sequence[Dataset]]) -> list[Evidence]:
        """Return the evidence of models that buy features.

        Parameters
        ----------
        rows : sequence of sequence of Dataset
            The result of `training_rows`.
        """
        evidence = [Evidence() for _ in self.weights]
        for fold in range(N_FOLDS):
            what = "substitutes" if stage.without else f"price {stage.price:.1f}"
            self.report(f"forward: {what}, fold {fold + 1} of {N_FOLDS}")
            self._add(evidence, self.folds, fold, self.trainer(rows[fold], stage))
        return evidence

    def judged_again(self, number: int, features: Sequence[Importance]) -> list[Evidence]:
        """Return the evidence of models that own features, on rows dealt to other folds.

        Few rows are dealt twice.
        """
        n_deals = 2 if self._has_few_rows else 1
        evidence = [Evidence() for _ in self.weights]
        for deal in range(n_deals):
            folds = self.folds.dealt_again(number, deal)
            for fold in range(N_FOLDS):
                self._add(evidence, folds, fold, self._owning(folds, fold, features))
        return evidence

    def losses(self, folds: Folds, features: Sequence[Sequence[Importance]]) -> Losses:
        """Return the losses of models that own features, on the rows of each fold.

        Parameters
        ----------
        features : sequence of sequence of dict from Feature to float
            The features of each task, for each fold or once for all folds.
        """
        of_folds = [
            self._losses(folds, fold, self._owning(folds, fold, features[fold % len(features)]))
            for fold in range(N_FOLDS)
        ]
        return list(zip(*of_folds, strict=True))

    def losses_of_leaves(self, features: Sequence[Importance], max_leaf_nodes: int) -> Losses:
        """Return the losses of models with trees as deep as those of the last fit, of so many leaves.

        Many rows are judged on one fold, because these trees take longer than shallow ones.
        """
        folds = self.folds.dealt_again(0, 2)
        of_folds = [
            self._losses(folds, fold, self._owning(folds, fold, features, max_leaf_nodes))
            for fold in range(N_FOLDS if self._has_few_rows else 1)
        ]
        return list(zip(*of_folds, strict=True))

    @property
    def _has_few_rows(self) -> bool:
        return min(task.n_rows for task in self.folds.tasks) < _FEW_ROWS

    def _losses(self, folds: Folds, fold: int, models: Sequence[Model]) -> list[F64]:
        """Return the losses of the models of all tasks on the rows of a fold."""
        return [
            HeldOut.of(forest, rows, self.problems.losses[k], self.context).losses
            for k, forest, rows in _judged(folds, fold, models)
        ]

    def _add(self, evidence: Sequence[Evidence], folds: Folds, fold: int, models: Sequence[Model]) -> None:
        """Add the evidence of the rows of a fold, which the models were not trained on."""
        for k, forest, rows in _judged(folds, fold, models):
            evidence[k].add_fold(forest, rows, self.problems.losses[k], self.context, [fold, k])

    def _owning(
        self, folds: Folds, fold: int, features: Sequence[Importance], max_leaf_nodes: int | None = None
    ) -> list[Model]:
        """Train models outside a fold that own some features and buy none."""
        owned = {feature.column for of_task in features for feature in of_task}
        units = self.problems.limits.units
        columns = units.with_groups(owned | {*self.problems.given, *units.fixed})
        rows = folds.training(fold, np.array(columns, dtype=np.int64))
        owned_by_tasks = [list(of_task) for of_task in features]
        return self.trainer(rows, Stage(0.0, 0, owned_by_tasks, max_leaf_nodes=max_leaf_nodes))


def _judged(folds: Folds, fold: int, models: Sequence[Model]) -> Iterator[tuple[int, FeatureForest, Dataset]]:
    """Yield the number of each task, its model, and the rows of the fold with the columns of the model."""
    for k, model in enumerate(models):
        forest = FeatureForest.of(model)
        yield k, forest, folds.held_out(fold, k, forest.columns)
