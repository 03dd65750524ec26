"""The context that every part of a fit shares."""

from __future__ import annotations

from dataclasses import dataclass, field

from gtgbm import _core
from gtgbm.exact.communicator import Communicator, LocalCommunicator
from gtgbm.exact.timings import Timings


@dataclass(frozen=True)
class FitContext:
    """Threads, communicator and timings of one fit.

    Attributes
    ----------
    pool : Pool
        Threads of the kernels. Only one caller may use it at a time.
    communicator : Communicator
        Combines sums over the rows of all machines.
    timings : Timings
        Seconds spent in each stage.
    """

    pool: _core.Pool
    communicator: Communicator = field(default_factory=LocalCommunicator)
    timings: Timings = field(default_factory=Timings)

    @classmethod
    def serial(cls) -> FitContext:
        """Return a context of one thread on one machine."""
        return cls(_core.Pool(1))
