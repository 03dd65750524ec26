"""Messages between two workers, sent and received at the same time."""

from __future__ import annotations

import selectors
import struct
from typing import Any

from gtgbm.exact import WorkerError

HEADER = struct.Struct("<BIQ")
"""Of a message: its kind, its number, and its length in bytes."""
FAILURE = 255
"""Kind of the message of a worker that failed: its reason."""


class Transfer:
    """A message to another worker, and the one from it."""

    def __init__(self, kind: int, number: int, content: memoryview) -> None:
        self._kind, self._number = kind, number
        self._outgoing = [memoryview(HEADER.pack(kind, number, content.nbytes)), content]
        self._header, self._n_read = bytearray(HEADER.size), 0
        self._is_failure = self._has_header = False
        self.message = bytearray()
        self.is_done = False

    @property
    def rest(self) -> list[memoryview]:
        """What is left of the message, if a part of it was sent."""
        is_whole = len(self._outgoing) == 2 and self._outgoing[0].nbytes == HEADER.size
        return [] if is_whole else self._outgoing

    @property
    def events(self) -> int:
        """What to wait for; 0: nothing."""
        reads = selectors.EVENT_READ if not self._has_header or self._n_read < len(self.message) else 0
        return reads | (selectors.EVENT_WRITE if self._outgoing else 0)

    def advance(self, connection: Any, events: int, expected: int | None) -> None:
        """Send and receive what is possible without waiting."""
        if events & selectors.EVENT_READ:
            self._read(connection, expected)
        if events & selectors.EVENT_WRITE and self._outgoing:
            sent = connection.send(self._outgoing[0])
            self._outgoing[0] = self._outgoing[0][sent:]
            while self._outgoing and not self._outgoing[0].nbytes:
                del self._outgoing[0]
        self.is_done = self.events == 0

    def _read(self, connection: Any, expected: int | None) -> None:
        target = self.message if self._has_header else self._header
        n_read = connection.recv_into(memoryview(target)[self._n_read :])
        if n_read == 0:
            raise ConnectionError("it closed the connection")
        self._n_read += n_read
        if not self._has_header and self._n_read == HEADER.size:
            kind, number, length = HEADER.unpack(self._header)
            self._is_failure = kind == FAILURE
            is_expected = (kind, number) == (self._kind, self._number) and expected in (None, length)
            if not self._is_failure and not is_expected:
                raise ConnectionError("it is out of step: give all workers the same version of gtgbm")
            self._has_header, self._n_read, self.message = True, 0, bytearray(length)
        if self._is_failure and self._n_read == len(self.message):
            raise WorkerError(self.message.decode(errors="replace"))
