"""Training on several machines: everything that is known of all rows passes through here."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from gtgbm.exact.arrays import F64, I64
from gtgbm.exact.messages import array_of, bytes_of


class Communicator(Protocol):
    """Combines what each worker computed from its own rows.

    All workers call the same methods in the same order, with arrays of the same shapes. Sums are those of
    integers, so that they do not depend on how rows are divided among workers.

    Attributes
    ----------
    rank : int
        Number of this worker, from 0.
    world : int
        Number of workers.
    """

    rank: int
    world: int

    def sum(self, values: I64) -> I64:
        """Return the sum of the arrays of all workers, computed in place."""
        ...

    def max(self, values: F64) -> F64:
        """Return the largest of the values of all workers, entry by entry, computed in place."""
        ...

    def share(self, message: bytes) -> list[bytes]:
        """Return the messages of all workers, by rank."""
        ...

    def close(self, reason: str | None = None) -> None:
        """Leave. With a reason, the next calls of the others raise a `WorkerError` with this text."""
        ...


class WorkerError(RuntimeError):
    """Another worker failed, was lost, or did not answer in time."""


class LocalCommunicator:
    """A world of one: there is nothing to combine."""

    rank = 0
    world = 1

    def sum(self, values: I64) -> I64:
        """Return `values`."""
        return values

    def max(self, values: F64) -> F64:
        """Return `values`."""
        return values

    def share(self, message: bytes) -> list[bytes]:
        """Return the message alone."""
        return [message]

    def close(self, reason: str | None = None) -> None:
        """Do nothing."""


ALONE = LocalCommunicator()
"""One worker has all rows."""


def assemble(own: NDArray[Any], places: I64, n: int, communicator: Communicator) -> NDArray[Any]:
    """Return values of which every worker has some, each of them exactly one worker.

    Parameters
    ----------
    own : ndarray of an 8-byte dtype, shape (..., k)
        The values of this worker.
    places : ndarray of int64, shape (k,)
        Their places in the result.
    n : int
        Length of the last axis of the result.

    Returns
    -------
    ndarray, shape (..., n)
        Of the dtype of `own`. All bits are kept: bit patterns are added as integers to zeros.
    """
    whole = np.zeros((*own.shape[:-1], n), dtype=own.dtype)
    whole[..., places] = own
    communicator.sum(whole.view(np.int64))
    return whole


def union(values: NDArray[Any], communicator: Communicator) -> NDArray[Any]:
    """Return the distinct values of all workers, ascending; numbers keep their dtype where all have the same.

    Parameters
    ----------
    values : ndarray, shape (k,)
        Numbers, booleans or text.
    """
    distinct = np.unique(values)
    if communicator.world == 1:
        return distinct
    shared = [array_of(message) for message in communicator.share(bytes_of(distinct))]
    filled = [part for part in shared if part.shape[0]]
    return np.unique(np.concatenate(filled)) if filled else distinct
