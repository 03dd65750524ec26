"""Kinds of targets: classes, numbers, relevance. Single-task and multitask estimators inherit one of them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, column_or_1d

from gtgbm.estimators.holding_out import held_out_queries, held_out_rows
from gtgbm.estimators.rows import Rows
from gtgbm.estimators.settings import Parameters
from gtgbm.estimators.target_values import target_values
from gtgbm.exact import ALONE, F64, I64, Communicator, FitContext, RowWeights
from gtgbm.losses import (
    NAMED_LOSSES,
    LogLoss,
    Loss,
    MultinomialLoss,
    Pointwise,
    RankingLoss,
    SquaredError,
)
from gtgbm.metrics import TargetKind
from gtgbm.parameters import Context

_LARGEST_TARGET = 1e100
"""The squares of larger residuals could overflow."""
_SMALLEST_SPREAD = 1e-100
"""The squares of smaller residuals could underflow."""
_MOST_RELEVANT = 31
"""Largest relevance: the gains of NDCG are 2 ** relevance - 1."""


class Targets(Parameters):
    """Reads targets and makes the loss for them."""

    # Whether the targets must be numbers.
    _y_is_numeric = True

    def _learn_targets(self, targets: Mapping[Any, NDArray[Any]], *, reset: bool) -> None:
        """Validate the targets of each task and set what is learnt from them, such as ``classes_``.

        Parameters
        ----------
        targets : mapping
            Targets by task; a single-task model has one task, None.
        reset : bool
            False if the fit continues a previous one, whose targets were of the same kind.
        """

    def _numbers_of(self, y: Any, name: str, task: Any = None) -> F64:
        """Return the targets of a task as numbers for its loss, shape (n,); errors call them `name`."""
        raise NotImplementedError

    def _warn_of(self, y: F64, task: Any) -> None:
        """Warn if there is nothing to learn from the targets of a task, already converted to numbers."""

    def _check_weight(self, rows: Rows, task: Any, communicator: Communicator = ALONE) -> None:
        """Refuse weights that leave nothing of a part of the targets, numbers by now."""

    def _make_loss(self, task: Any = None) -> Loss:
        """Return the loss of a task; None: that which converts the scores of all tasks to predictions."""
        raise NotImplementedError

    def _kind_of_targets(self, task: Any = None) -> TargetKind:
        """Return the kind of the targets of a task, or of all tasks together."""
        raise NotImplementedError

    def _positions_of(self, task: Any) -> I64:
        """Return the positions of the scores of a task among those of all tasks."""
        del task
        return np.zeros(1, dtype=np.int64)

    def _own_offset(self, task: Any, offset: F64) -> F64:
        """Return the offsets of the scores of a task from those in the layout of all tasks."""
        del task
        return offset

    def _hold_out(self, rows: Rows, seed: int, context: FitContext) -> tuple[I64, I64]:
        """Split rows into training rows and held-out rows."""
        return held_out_rows(rows.shard, self._checked("validation_fraction"), seed, None, context)

    def _drawn_again(self, y: F64, qid: NDArray[Any] | None, at: I64, seed: int) -> I64:
        """Return which of the rows `at`, those of a fit, it held out with this seed."""
        rows = Rows(None, y[at], qid=None if qid is None else qid[at])
        return at[self._hold_out(rows, seed, FitContext.serial())[1]]

    def _split_off(
        self, rows: Rows, validations: Sequence[Rows], seed: int, context: FitContext
    ) -> tuple[Rows, Sequence[Rows]]:
        """Return training rows and validation sets.

        With early stopping and without validation sets, some of the rows are held out.
        """
        if self._checked("early_stopping_rounds") is None or validations:
            return rows, validations
        kept, held_out = self._hold_out(rows, seed, context)
        communicator = context.communicator
        return rows.at(kept, communicator), [rows.at(held_out, communicator).own()]


class ClassTargets(ClassifierMixin, Targets):
    """Classes, with labels of any type."""

    _y_is_numeric = False
    classes_: NDArray[Any]

    def _learn_targets(self, targets: Mapping[Any, NDArray[Any]], *, reset: bool) -> None:
        for y in targets.values():
            check_classification_targets(y)
        if not reset:
            return
        by_task = {task: np.unique(y) for task, y in targets.items()}
        self.classes_ = np.unique(np.concatenate(list(by_task.values())))
        for task, classes in by_task.items():
            if classes.shape[0] < 2 and task is None:
                raise ValueError(
                    f"y has only one class ({classes[0]}): a classifier needs at least two classes"
                )
            if classes.shape[0] < 2:
                raise ValueError(
                    f"task {task!r} has only one class ({classes[0]}): leave it out, or give more rows"
                )

    def _classes_of(self, task: Any) -> NDArray[Any]:
        """Return the classes that the model of a task tells apart; None: those of all tasks."""
        del task
        return self.classes_

    def _positions_of(self, task: Any) -> I64:
        """Return the positions of the classes of a task in ``classes_``."""
        return np.searchsorted(self.classes_, self._classes_of(task))

    def _numbers_of(self, y: Any, name: str, task: Any = None) -> F64:
        """Return labels as positions among the classes of the task."""
        y, classes = column_or_1d(target_values(y, name, is_numeric=False)), self._classes_of(task)
        unknown = np.setdiff1d(y, classes)
        if unknown.shape[0]:
            where = "" if task is None else f" in task {task!r}"
            raise ValueError(f"{name} has classes that training did not see{where}: {unknown[:5].tolist()}")
        return np.asarray(np.searchsorted(classes, y), dtype=np.float64)

    def _own_offset(self, task: Any, offset: F64) -> F64:
        """Return the offsets of the classes of a task; of two classes, the second's minus the first's."""
        if self.classes_.shape[0] == 2:
            return offset
        own = offset[:, self._positions_of(task)]
        return np.asarray(own[:, 1] - own[:, 0]) if own.shape[1] == 2 else own

    def _check_weight(self, rows: Rows, task: Any, communicator: Communicator = ALONE) -> None:
        """Refuse weights that make a class so light that nothing of it is left in their sum."""
        if rows.weight is None:
            return
        number, counted = rows.y.astype(np.int64), RowWeights.of(rows.weight, communicator).fine
        n_classes = self.classes_.shape[0]
        weight = np.bincount(number, weights=rows.weight, minlength=n_classes)
        counts, n_rows = communicator.sum(
            np.array(
                [
                    np.bincount(number, weights=counted, minlength=n_classes),
                    np.bincount(number, None, n_classes),
                ]
            ).astype(np.int64)
        )
        light = np.flatnonzero((counts == 0) & (n_rows > 0))
        if light.shape[0]:
            label = self._classes_of(task).tolist()[light[0]]
            where = "" if task is None else f" in task {task!r}"
            raise ValueError(
                f"sample_weight (times class_weight) of all rows of class {label!r}{where} is "
                f"{weight[light[0]]:g} of {weight.sum():g}, too little to be counted: give weights less far "
                "apart, or leave the class out"
            )

    def _make_loss(self, task: Any = None) -> Loss:
        n_classes = self.classes_.shape[0]
        function: Loss = self._checked(
            "loss", Context(losses={"log_loss": LogLoss(), "squared_error": SquaredError()})
        )
        if n_classes == 2:
            if not isinstance(function, Pointwise):
                return function
            if isinstance(self.loss, NAMED_LOSSES):
                raise ValueError(
                    f"loss={self.loss!r} is for regressors: use 'log_loss' or a user-defined loss"
                )
            return function.of_classes()
        if self.loss != "log_loss":
            raise ValueError(f"loss={self.loss!r} is for two classes, y has {n_classes}: use loss='log_loss'")
        if self.monotone_constraints is not None:
            raise ValueError(
                f"monotone_constraints are for two classes, but y has {n_classes}: the probabilities of more "
                "classes cannot be constrained; use None"
            )
        n_own = self._classes_of(task).shape[0]
        return LogLoss() if n_own == 2 else MultinomialLoss(n_own)

    def _kind_of_targets(self, task: Any = None) -> TargetKind:
        return "binary" if self._classes_of(task).shape[0] == 2 else "multiclass"

    def _hold_out(self, rows: Rows, seed: int, context: FitContext) -> tuple[I64, I64]:
        """Split the rows of each class."""
        return held_out_rows(rows.shard, self._checked("validation_fraction"), seed, rows.y, context)


_LOSSES: dict[str, Loss] = {
    "squared_error": SquaredError(),
    **{loss.name: Pointwise(loss()) for loss in NAMED_LOSSES},
}


class NumberTargets(RegressorMixin, Targets):
    """Numbers."""

    def _kind_of_targets(self, task: Any = None) -> TargetKind:
        del task
        return "numbers"

    def _warn_of(self, y: F64, task: Any) -> None:
        """Warn if the targets are constant."""
        if np.all(y == y[0]):
            name = "y" if task is None else f"y of task {task!r}"
            warnings.warn(
                f"{name} is constant ({y[0]:g}): there is nothing to split on, the model is a constant",
                UserWarning,
                stacklevel=4,
            )

    def _numbers_of(self, y: Any, name: str, task: Any = None) -> F64:
        """Return targets that are valid for the loss."""
        del task
        target, loss = numbers(y, name), self._make_loss()
        if isinstance(loss, Pointwise):
            loss.check_target(target, name)
        return target

    def _make_loss(self, task: Any = None) -> Loss:
        del task
        loss: Loss = self._checked("loss", Context(losses=_LOSSES))
        return loss


class RelevanceTargets(Targets):
    """Relevance of documents: integers from 0."""

    truncation_level: Any

    def _kind_of_targets(self, task: Any = None) -> TargetKind:
        del task
        return "relevance"

    def _numbers_of(self, y: Any, name: str, task: Any = None) -> F64:
        """Return validated relevance."""
        del task
        y = target_values(y, name, is_numeric=True)
        relevance: F64 = column_or_1d(
            check_array(y, ensure_2d=False, dtype=np.float64, input_name=name), warn=True
        )
        wrong = (relevance < 0) | (relevance > _MOST_RELEVANT) | (relevance != np.rint(relevance))
        if wrong.any():
            raise ValueError(
                f"{name} holds {relevance[wrong][0]:g}: relevance must be a whole number, 0 to "
                f"{_MOST_RELEVANT}"
            )
        return relevance

    def _make_loss(self, task: Any = None) -> Loss:
        del task
        truncation = self._checked("truncation_level")
        known = {"lambdarank": RankingLoss(True, truncation), "pairwise": RankingLoss(False, truncation)}
        loss: Loss = self._checked("loss", Context(losses=known, target="relevance"))
        return loss

    def _hold_out(self, rows: Rows, seed: int, context: FitContext) -> tuple[I64, I64]:
        """Split whole queries."""
        assert rows.qid is not None
        fraction = self._checked("validation_fraction")
        return held_out_queries(rows.qid, fraction, seed, context.communicator)


def numbers(y: Any, name: str) -> F64:
    """Return targets as numbers within the range that can be fitted."""
    y = target_values(y, name, is_numeric=True)
    target: F64 = column_or_1d(check_array(y, ensure_2d=False, dtype=np.float64, input_name=name), warn=True)
    largest = np.abs(target).max(initial=0.0)
    if largest > _LARGEST_TARGET:
        raise ValueError(
            f"{name} holds {largest:g}; values up to {_LARGEST_TARGET:g} can be fitted: rescale it"
        )
    spread = float(np.ptp(target)) if target.shape[0] else 0.0
    if 0.0 < spread < _SMALLEST_SPREAD:
        raise ValueError(
            f"{name} varies only by {spread:g}; {_SMALLEST_SPREAD:g} or more can be fitted: rescale it"
        )
    return target
