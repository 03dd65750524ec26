"""The problem that a fit solves: data, loss and settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from gtgbm.boosting.dataset import Dataset
from gtgbm.boosting.settings import Settings
from gtgbm.losses import Loss
from gtgbm.metrics import Metric


@dataclass(frozen=True)
class Evaluated:
    """Validation sets, and the metrics evaluated on them; `loss_name` is the name of the loss there."""

    loss_name: str
    metrics: Sequence[Metric]
    validations: Sequence[Dataset]


_NO_VALIDATION = Evaluated("loss", (), ())


@dataclass(frozen=True)
class Problem:
    """Training data, the loss to minimise, and settings.

    Attributes
    ----------
    data : Dataset
    loss : Loss
    settings : Settings
    seed : int
        Seed of all random draws.
    evaluated : Evaluated
        Validation sets and metrics.
    """

    data: Dataset
    loss: Loss
    settings: Settings
    seed: int
    evaluated: Evaluated = _NO_VALIDATION

    def with_settings(self, settings: Settings) -> Problem:
        """Return the same problem with other settings."""
        return replace(self, settings=settings)
