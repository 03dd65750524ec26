"""Codes of columns in a temporary file instead of memory."""

from __future__ import annotations

import mmap
import os
import tempfile
from typing import Protocol
from weakref import finalize

import numpy as np

from gtgbm.exact import U8


class CodeStore(Protocol):
    """Holds codes of columns, one column after the other."""

    def grown(self, n_columns: int) -> U8:
        """Return room for the codes (n_columns, n) of more columns, with those that it held before."""
        ...

    def release(self) -> None:
        """Free memory, if the codes can be had again."""
        ...


class MemoryCodes:
    """Codes in memory."""

    def __init__(self, n_rows: int) -> None:
        self._codes: U8 = np.empty((0, n_rows), dtype=np.uint8)

    def grown(self, n_columns: int) -> U8:
        """Return room for more columns."""
        codes = np.empty((n_columns, self._codes.shape[1]), dtype=np.uint8)
        codes[: self._codes.shape[0]] = self._codes
        self._codes = codes
        return codes

    def release(self) -> None:
        """Do nothing: memory is their only place."""


class SpilledCodes:
    """Codes in a temporary file, which has no name, so that it is gone whenever and however the process ends.

    The system reads and writes pages of the file as they are used.
    """

    def __init__(self, n_rows: int) -> None:
        self._n_rows = n_rows
        self._file = tempfile.TemporaryFile(prefix="gtgbm-")  # noqa: SIM115 - it lives as long as the object
        finalize(self, self._file.close)
        self._map: mmap.mmap | None = None

    def grown(self, n_columns: int) -> U8:
        """Return room for more columns; space is reserved, since a full disk would end the process."""
        size = n_columns * self._n_rows
        try:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(self._file.fileno(), 0, size)
            else:
                self._file.truncate(size)
        except OSError as error:
            raise OSError(
                error.errno,
                f"{size:,} bytes for binned columns cannot be written to {tempfile.gettempdir()}: "
                f"{error.strerror}; free some space there, or set TMPDIR to a larger disk",
            ) from error
        self._map = mmap.mmap(self._file.fileno(), size)
        return np.frombuffer(self._map, dtype=np.uint8).reshape(n_columns, self._n_rows)

    def release(self) -> None:
        """Take the codes out of memory; they stay in the file."""
        if self._map is not None and hasattr(self._map, "madvise"):
            self._map.madvise(mmap.MADV_DONTNEED)
