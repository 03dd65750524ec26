"""Places of checkpoints: a file, or the memory of a worker whose caller has the file."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from time import monotonic
from typing import Protocol

from gtgbm.files import check_writable, write_aside

_SECONDS = 1.0
"""A file is written after a round if so long has passed since it was written last."""
_SHARE = 0.05
"""Largest share of the time that writing may take."""


class CheckpointStore(Protocol):
    """Where the content of a checkpoint is kept.

    Attributes
    ----------
    name : str
        What errors call it: the path that the user gave.
    """

    name: str

    def read(self) -> bytes | None:
        """Return the content, or None if there is none."""
        ...

    def write(self, content: bytes) -> None:
        """Replace the content."""
        ...

    def is_due(self) -> bool:
        """Return whether it is time to write again."""
        ...

    def remove(self) -> None:
        """Remove the content."""
        ...


class CheckpointFile:
    """A file, which is written aside and renamed."""

    def __init__(self, path: str | PathLike[str]) -> None:
        if not isinstance(path, str | os.PathLike):
            raise TypeError(f"checkpoint={path!r} is not the path of a file")
        self._path = Path(path)
        self.name = str(self._path)
        self._written, self._seconds = monotonic(), 0.0

    def read(self) -> bytes | None:
        """Return the content of the file, and remove what fits that were killed left beside it."""
        if not self._path.is_file():
            return None
        content = self._path.read_bytes()
        self._remove_leftovers()
        return content

    def write(self, content: bytes) -> None:
        """Replace the file."""
        begin = monotonic()
        with self._named():
            write_aside(self._path, content)
        self._written = monotonic()
        self._seconds = self._written - begin

    def check_writable(self) -> None:
        """Raise an error if the file cannot be written, before there is anything to write."""
        with self._named():
            check_writable(os.path.realpath(self._path))

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Name the checkpoint in errors."""
        try:
            yield
        except OSError as error:
            raise type(error)(f"checkpoint={self.name!r} cannot be written: {error}") from error

    def is_due(self) -> bool:
        """Return whether the file was not written just before."""
        return monotonic() - self._written >= max(_SECONDS, self._seconds / _SHARE)

    def remove(self) -> None:
        """Remove the file."""
        self._path.unlink(missing_ok=True)
        self._remove_leftovers()

    def _remove_leftovers(self) -> None:
        """Remove files that were written aside when a fit was killed, and never renamed."""
        aside = re.compile(re.escape(f".{self._path.name}.") + "[a-z0-9_]{8}")
        for file in self._path.resolve().parent.iterdir():
            if aside.fullmatch(file.name):
                file.unlink(missing_ok=True)


class CheckpointMemory:
    """Content in memory, which is replaced after every round: another process fetches it.

    Attributes
    ----------
    n_writes : int
        How often it was replaced: of several workers, the one with most is the furthest.
    """

    def __init__(self, name: str, content: bytes | None) -> None:
        self.name = name
        self._content, self.n_writes = content, 0

    def read(self) -> bytes | None:
        """Return the content."""
        return self._content

    def write(self, content: bytes) -> None:
        """Replace the content."""
        self._content = content
        self.n_writes += 1

    def is_due(self) -> bool:
        """Return that every round is kept."""
        return True

    def remove(self) -> None:
        """Drop the content."""
        self._content = None
