"""What training tells its callers while it runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np


class Progress(NamedTuple):
    """What a callback sees.

    Attributes
    ----------
    round : int
        Rounds done, out of `n_rounds`.
    training_loss : float
        Mean loss after this round; NaN before the first.
    n_features : int
        Features owned.
    validation_loss : float or None
        What decides early stopping: the last metric, or else the loss, of the last validation set.
    evaluations : mapping
        Loss and metrics of each validation set after this round, by the names in ``evals_result_``.
    """

    round: int
    n_rounds: int
    training_loss: float
    n_features: int
    validation_loss: float | None
    evaluations: Mapping[str, Mapping[str, float]]


class Callback:
    """Follows a fit: override what is of interest.

    A plain function of a `Progress` does as well; it is called after each round, and ends training by
    returning True.
    """

    def start(self, progress: Progress) -> None:
        """Call before the first round."""

    def after_round(self, progress: Progress) -> bool | None:
        """Call after each round; returning True ends training, and nothing else does."""

    def end(self, progress: Progress) -> None:
        """Call after the last round, however it came to be the last, unless there was an error."""


AnyCallback = Callback | Callable[[Progress], object]


class Callbacks:
    """Several callbacks as one."""

    def __init__(self, callbacks: list[AnyCallback]) -> None:
        self._callbacks = callbacks

    def start(self, progress: Progress) -> None:
        """Tell all of the start."""
        for callback in self._callbacks:
            if isinstance(callback, Callback):
                callback.start(progress)

    def after_round(self, progress: Progress) -> bool:
        """Tell all of a round; whether any of them wants to stop."""
        answers: list[Any] = [
            callback.after_round(progress) if isinstance(callback, Callback) else callback(progress)
            for callback in self._callbacks
        ]
        # Not whatever counts as true: a function may end by an expression that returns something.
        return any(isinstance(answer, bool | np.bool_) and bool(answer) for answer in answers)

    def end(self, progress: Progress) -> None:
        """Tell all of the end."""
        for callback in self._callbacks:
            if isinstance(callback, Callback):
                callback.end(progress)
