"""Workers that are connected by sockets, each with every other."""

from __future__ import annotations

import selectors
import socket
import struct
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gtgbm.distributed.transfer import FAILURE, HEADER, Transfer
from gtgbm.exact import F64, I64, WorkerError

_HELLO = struct.Struct("<16sI")
"""Of a connection: the token of the fit, and the rank of who connects."""
_SUM, _MAX, _SHARE = range(3)
_SMALL = 1 << 16
"""Arrays of at most so many bytes are sent whole to every worker: fewer messages one after the other."""
_LONGEST_FAREWELL = 1.0
"""Seconds that a worker that fails takes at most to tell the others."""
_PIECE = 1 << 20

Address = tuple[str, int]


def listen(host: str) -> socket.socket:
    """Listen for other workers on a port that is free; `host` is this machine as they know it."""
    return socket.create_server((host, 0), family=socket.AF_INET6 if ":" in host else socket.AF_INET)


class Mesh:
    """A `Communicator` over sockets.

    A worker that is lost or does not answer is named in the `WorkerError` of all others.

    Parameters
    ----------
    peers : mapping
        Socket of every other worker, by rank.
    names : sequence of str
        What errors call the workers, by rank.
    timeout : float
        Seconds that another worker may take to answer.
    """

    def __init__(
        self, rank: int, peers: Mapping[int, socket.socket], names: Sequence[str], timeout: float
    ) -> None:
        self.rank, self.world = rank, len(names)
        self._peers, self._names, self._timeout = dict(peers), names, timeout
        self._number = 0
        self._transfers: dict[int, Transfer] = {}
        self._selector = selectors.DefaultSelector()
        for peer, connection in self._peers.items():
            connection.setblocking(False)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._selector.register(connection, selectors.EVENT_READ, peer)

    @classmethod
    def connect(
        cls, rank: int, addresses: Sequence[Address], listener: socket.socket, token: bytes, timeout: float
    ) -> Mesh:
        """Connect to all other workers.

        Parameters
        ----------
        addresses : sequence of (str, int)
            Where all workers listen, by rank.
        listener : socket
            That of this worker, which is closed.
        token : bytes
            16 bytes that the workers of a fit share: connections without it are dropped.
        """
        names = [f"{number} ({host}:{port})" for number, (host, port) in enumerate(addresses)]
        peers: dict[int, socket.socket] = {}
        try:
            for peer in range(rank):
                peers[peer] = socket.create_connection(addresses[peer], timeout)
                peers[peer].sendall(_HELLO.pack(token, rank))
            deadline = time.monotonic() + timeout
            while len(peers) < len(addresses) - 1:
                listener.settimeout(max(deadline - time.monotonic(), 1e-3))
                connection, _ = listener.accept()
                connection.settimeout(timeout)
                said, peer = _HELLO.unpack(connection.recv(_HELLO.size, socket.MSG_WAITALL))
                if said == token and rank < peer < len(addresses):
                    peers[peer] = connection
                else:
                    connection.close()
        except (OSError, struct.error) as error:
            for connection in peers.values():
                connection.close()
            missing = next(name for k, name in enumerate(names) if k != rank and k not in peers)
            raise WorkerError(
                f"worker {missing} could not be reached within {timeout:g} s: {error}"
            ) from error
        finally:
            listener.close()
        return cls(rank, peers, names, timeout)

    def sum(self, values: I64) -> I64:
        """Return the sum of the arrays of all workers, computed in place; empty ones are not sent."""
        if values.size == 0 or self.world == 1:
            return values
        flat = np.ascontiguousarray(values).reshape(-1)
        if self.world == 2 or flat.nbytes <= _SMALL:
            for part in self._arrays(_SUM, dict.fromkeys(self._peers, flat), flat.shape[0]).values():
                flat = flat + part
        else:
            flat = self._sum_in_parts(flat)
        values[...] = flat.reshape(values.shape)
        return values

    def max(self, values: F64) -> F64:
        """Return the largest of the values of all workers, entry by entry, computed in place."""
        flat = np.ascontiguousarray(values).reshape(-1)
        for part in self._arrays(_MAX, dict.fromkeys(self._peers, flat), flat.shape[0]).values():
            flat = np.maximum(flat, part.view(np.float64))
        values[...] = flat.reshape(values.shape)
        return values

    def share(self, message: bytes) -> list[bytes]:
        """Return the messages of all workers, by rank."""
        said = self._exchange(_SHARE, dict.fromkeys(self._peers, message), lambda _: None)
        return [message if rank == self.rank else bytes(said[rank]) for rank in range(self.world)]

    def close(self, reason: str | None = None) -> None:
        """Leave; with a reason, tell it to the others."""
        deadline = time.monotonic() + _LONGEST_FAREWELL
        text = (reason or "").encode()
        told = []
        for peer, connection in self._peers.items() if reason is not None else ():
            # In the middle of a message, the reason would be taken for the rest of it.
            rest = self._transfers[peer].rest if peer in self._transfers else []
            with suppress(OSError):
                connection.settimeout(max(deadline - time.monotonic(), 1e-3))
                connection.sendall(b"".join([*rest, HEADER.pack(FAILURE, 0, len(text)), text]))
                connection.shutdown(socket.SHUT_WR)
                told.append(connection)
        for connection in told:
            # A connection that is closed with unread bytes would take the reason with it.
            with suppress(OSError):
                while connection.recv(_PIECE):
                    connection.settimeout(max(deadline - time.monotonic(), 1e-3))
        for connection in self._peers.values():
            connection.close()
        self._selector.close()
        self._peers = {}

    def _sum_in_parts(self, flat: I64) -> I64:
        """Sum a part of an array on each worker, then send the sums to all."""
        bounds = [flat.shape[0] * k // self.world for k in range(self.world + 1)]
        parts = [flat[first:last] for first, last in pairwise(bounds)]
        own = parts[self.rank].copy()
        for part in self._arrays(_SUM, {peer: parts[peer] for peer in self._peers}, own.shape[0]).values():
            own += part
        sums: dict[int, Any] = self._exchange(
            _SUM, dict.fromkeys(self._peers, own), lambda peer: parts[peer].nbytes
        )
        sums[self.rank] = own
        return np.concatenate([np.frombuffer(sums[rank], dtype=np.int64) for rank in range(self.world)])

    def _arrays(self, kind: int, outgoing: Mapping[int, NDArray[Any]], length: int) -> dict[int, I64]:
        """Send arrays and return those of all others, which have the same length."""
        said = self._exchange(kind, outgoing, lambda _: 8 * length)
        return {peer: np.frombuffer(message, dtype=np.int64) for peer, message in said.items()}

    def _exchange(
        self, kind: int, outgoing: Mapping[int, Any], expected: Callable[[int], int | None]
    ) -> dict[int, bytearray]:
        """Send a message to every other worker, and return theirs.

        Parameters
        ----------
        expected : callable
            ``expected(peer)`` returns the length of a message in bytes; None: any.
        """
        self._number = (self._number + 1) % (1 << 32)
        transfers = self._transfers = {
            peer: Transfer(
                kind, self._number, memoryview(message).cast("B") if len(message) else memoryview(b"")
            )
            for peer, message in outgoing.items()
        }
        for peer, connection in self._peers.items():
            self._selector.modify(connection, selectors.EVENT_READ | selectors.EVENT_WRITE, peer)
        while any(not transfer.is_done for transfer in transfers.values()):
            ready = self._selector.select(self._timeout)
            if not ready:
                late = next(peer for peer, transfer in transfers.items() if not transfer.is_done)
                raise WorkerError(f"worker {self._names[late]} did not answer within {self._timeout:g} s")
            for key, events in ready:
                transfer = transfers[key.data]
                try:
                    transfer.advance(key.fileobj, events, expected(key.data))
                except OSError as error:
                    raise WorkerError(f"worker {self._names[key.data]} was lost: {error}") from error
                if transfer.events:
                    self._selector.modify(key.fileobj, transfer.events, key.data)
                else:
                    self._selector.unregister(key.fileobj)
        for peer, connection in self._peers.items():
            self._selector.register(connection, selectors.EVENT_READ, peer)
        return {peer: transfer.message for peer, transfer in transfers.items()}
