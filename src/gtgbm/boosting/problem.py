"""What is to be fitted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from gtgbm.boosting.dataset import Dataset
from gtgbm.boosting.settings import Settings
from gtgbm.losses import Loss
from gtgbm.metrics import Metric


@dataclass(frozen=True)
class Evaluated:
    """What is followed while training: the loss, by this name, and metrics, on these rows."""

    loss_name: str
    metrics: Sequence[Metric]
    validations: Sequence[Dataset]


_NOTHING = Evaluated("loss", (), ())


@dataclass(frozen=True)
class Problem:
    """A table with targets, the loss to minimise, and how.

    Attributes
    ----------
    data : Dataset
    loss : Loss
    settings : Settings
    seed : int
        Seed of everything random.
    evaluated : Evaluated
        What is followed while training.
    """

    data: Dataset
    loss: Loss
    settings: Settings
    seed: int
    evaluated: Evaluated = _NOTHING

    def with_settings(self, settings: Settings) -> Problem:
        """Return the same with other settings."""
        return replace(self, settings=settings)
