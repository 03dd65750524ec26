"""Callbacks, and the progress of training that they receive."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np


class Progress(NamedTuple):
    """State of training that a callback receives.

    Attributes
    ----------
    round : int
        Number of rounds done.
    n_rounds : int
        Number of rounds to do at most.
    training_loss : float
        Mean loss after this round; NaN before the first.
    n_features : int
        Number of features selected so far.
    validation_loss : float or None
        The value that early stopping uses: the last metric, or else the loss, of the last validation set.
        None for several tasks, each of which stops on its own.
    evaluations : mapping
        Loss and metrics of each validation set after this round, by the names in ``evals_result_``. For
        several tasks, means over those with validation rows, weighted by their numbers of training rows.
    """

    round: int
    n_rounds: int
    training_loss: float
    n_features: int
    validation_loss: float | None
    evaluations: Mapping[str, Mapping[str, float]]


class Callback:
    """Base class of callbacks: override the methods of interest.

    A plain function of a `Progress` works too; it is called after each round, and stops training by
    returning True.
    """

    def start(self, progress: Progress) -> None:
        """Run before the first round."""

    def after_round(self, progress: Progress) -> bool | None:
        """Run after each round; return True to stop training. Any other value continues."""

    def end(self, progress: Progress) -> None:
        """Run after the last round, whatever ended training, except an error."""


AnyCallback = Callback | Callable[[Progress], object]


class Callbacks:
    """Several callbacks as one."""

    def __init__(self, callbacks: list[AnyCallback]) -> None:
        self._callbacks = callbacks

    def start(self, progress: Progress) -> None:
        """Run the `start` of all callbacks."""
        for callback in self._callbacks:
            if isinstance(callback, Callback):
                callback.start(progress)

    def after_round(self, progress: Progress) -> bool:
        """Run all callbacks after a round, and return whether any of them stops training."""
        answers: list[Any] = [
            callback.after_round(progress) if isinstance(callback, Callback) else callback(progress)
            for callback in self._callbacks
        ]
        # Not whatever counts as true: a function may end by an expression that returns something.
        return any(isinstance(answer, bool | np.bool_) and bool(answer) for answer in answers)

    def end(self, progress: Progress) -> None:
        """Run the `end` of all callbacks."""
        for callback in self._callbacks:
            if isinstance(callback, Callback):
                callback.end(progress)
