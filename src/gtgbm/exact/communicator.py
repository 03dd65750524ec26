"""Training on several machines: all sums over rows that decide splits and leaf values pass through here.

Group-test scores, bin thresholds and reported losses do not pass through here yet.
"""

from __future__ import annotations

from typing import Protocol

from gtgbm.exact.arrays import I64


class Communicator(Protocol):
    """Combines the results that each machine computed from its own rows.

    All sums are integers, so the result does not depend on how rows are divided among machines.
    """

    @property
    def is_local(self) -> bool:
        """Whether there is only one machine, so that there is nothing to combine."""
        ...

    def sum(self, values: I64) -> I64:
        """Return the sum of the arrays of all machines, computed in place where possible."""
        ...

    def max(self, value: float) -> float:
        """Return the largest value of all machines."""
        ...


class LocalCommunicator:
    """One machine: nothing to combine."""

    is_local = True

    def sum(self, values: I64) -> I64:
        """Return `values`."""
        return values

    def max(self, value: float) -> float:
        """Return `value`."""
        return value
