"""The context that every part of a fit shares."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from gtgbm import _core
from gtgbm.exact.communicator import ALONE, Communicator
from gtgbm.exact.timings import Timings


@dataclass(frozen=True)
class FitContext:
    """Threads, communicator and timings of one fit.

    Attributes
    ----------
    pool : Pool
        Threads of the kernels. Only one caller may use it at a time.
    communicator : Communicator
        Combines what workers know of their rows.
    timings : Timings
        Seconds spent in each stage.
    """

    pool: _core.Pool
    communicator: Communicator = ALONE
    timings: Timings = field(default_factory=Timings)

    @classmethod
    def serial(cls) -> FitContext:
        """Return a context of one thread on one machine."""
        return cls(_core.Pool(1))

    @property
    def is_alone(self) -> bool:
        """Whether one worker has all rows."""
        return self.communicator.world == 1

    def largest(self, value: float) -> float:
        """Return the largest of the values of all workers."""
        return value if self.is_alone else float(self.communicator.max(np.array([value]))[0])

    def total(self, value: int) -> int:
        """Return the sum of the values of all workers."""
        return value if self.is_alone else int(self.communicator.sum(np.array([value], dtype=np.int64))[0])
