"""Checkpoints: content from which an interrupted fit goes on, to the same model as without interruption."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec
import numpy as np

from gtgbm.boosting.checkpoint_store import CheckpointStore

T = TypeVar("T")

_FORMAT = "gtgbm checkpoint 2"
_DIGEST = 16
"""Bytes of the digest that content begins with: a damaged file would be trained on."""


class Checkpoint:
    """Results of a fit that are kept in case it is interrupted; this one keeps nothing.

    A fit is a sequence of stages. Each stage is deterministic, so that its result is either taken from the
    checkpoint or computed again; the last stage that was begun may consist of rounds.
    """

    def stage(self, name: str, kind: Any, compute: Callable[[], T]) -> T:
        """Return the result of a stage, computing it if it is not known yet.

        Once a stage is done, results of its parts are dropped: of stages whose names begin with its name and
        a colon, and of rounds.

        Parameters
        ----------
        kind : type
            Type of the result, by which it is read.
        """
        del name, kind
        return compute()

    def last_round(self, kind: type[T]) -> T | None:
        """Return the state after the last round that was kept, if there is one."""
        del kind
        return None

    def keep_round(self, state: Callable[[], object]) -> None:
        """Keep the state after a round if it is time to."""

    def remove(self) -> None:
        """Remove the file, since the fit is finished."""


NO_CHECKPOINT = Checkpoint()


@dataclass(frozen=True)
class FitIdentity:
    """What tells one fit from another.

    Attributes
    ----------
    settings : mapping
        Values of parameters, and the version of gtgbm, as text.
    data : mapping
        Digests of the data, by the name of the argument.
    """

    settings: Mapping[str, str]
    data: Mapping[str, str]

    def check_same(self, kept: FitIdentity, place: str) -> None:
        """Raise an error that names the first difference from the identity in a checkpoint."""
        remedy = "repeat that call, give another file, or remove this one to begin anew"
        for name in sorted({*self.settings, *kept.settings}):
            before, now = kept.settings.get(name, "nothing"), self.settings.get(name, "nothing")
            if before != now:
                raise ValueError(
                    f"checkpoint={place!r} is of a fit with {name}={before}, now {now}: {remedy}"
                )
        for name in sorted({*self.data, *kept.data}):
            if kept.data.get(name) != self.data.get(name):
                raise ValueError(f"checkpoint={place!r} is of a fit with another {name}: {remedy}")


@dataclass(frozen=True)
class _Content:
    """Content of a file: results of stages and the last round are encoded by themselves."""

    format: str
    identity: FitIdentity
    stages: dict[str, bytes]
    rounds: bytes | None


class StoredCheckpoint(Checkpoint):
    """A checkpoint whose content is kept in a store, and replaced as a whole.

    Parameters
    ----------
    store : CheckpointStore
        If it has content, the fit goes on from it; else it is written at once, so that a place that cannot
        be written is known before training.
    identity : FitIdentity
        A checkpoint of another fit is refused.
    """

    def __init__(self, store: CheckpointStore, identity: FitIdentity) -> None:
        self._store = store
        self._identity = identity
        self._stages: dict[str, bytes] = {}
        self._rounds: bytes | None = None
        content = store.read()
        if content is None:
            self._write()
        else:
            kept = _read(content, store.name)
            identity.check_same(kept.identity, store.name)
            self._stages, self._rounds = kept.stages, kept.rounds

    def stage(self, name: str, kind: Any, compute: Callable[[], T]) -> T:
        """Return the result of a stage, computing it if it is not known yet."""
        if name in self._stages:
            known: T = self._decoded(self._stages[name], kind)
            return known
        result = compute()
        self._stages = {done: kept for done, kept in self._stages.items() if not done.startswith(f"{name}:")}
        self._stages[name], self._rounds = _encoded(result), None
        if self._store.is_due():
            self._write()
        return result

    def last_round(self, kind: type[T]) -> T | None:
        """Return the state after the last round that was kept, if there is one."""
        return None if self._rounds is None else self._decoded(self._rounds, kind)

    def keep_round(self, state: Callable[[], object]) -> None:
        """Write the state after a round, unless the last one was written just before."""
        if self._store.is_due():
            self._rounds = _encoded(state())
            self._write()

    def remove(self) -> None:
        """Remove the content, since the fit is finished."""
        self._store.remove()

    def _write(self) -> None:
        content = _encoded(_Content(_FORMAT, self._identity, self._stages, self._rounds))
        self._store.write(_digest(content) + content)

    def _decoded(self, content: bytes, kind: Any) -> Any:
        try:
            return msgspec.msgpack.decode(content, type=kind, dec_hook=_array_of)
        except (msgspec.DecodeError, ValueError, TypeError) as error:
            raise _not_valid(self._store.name) from error


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=_DIGEST).digest()


def _read(encoded: bytes, name: str) -> _Content:
    if _digest(encoded[_DIGEST:]) != encoded[:_DIGEST]:
        raise _not_valid(name)
    try:
        content = msgspec.msgpack.decode(encoded[_DIGEST:], type=_Content)
    except msgspec.DecodeError as error:
        raise _not_valid(name) from error
    if content.format != _FORMAT:
        raise _not_valid(name)
    return content


def _not_valid(name: str) -> ValueError:
    return ValueError(
        f"checkpoint={name!r} is not a checkpoint of this version of gtgbm: give another file, or "
        "remove it to begin anew"
    )


def _encoded(value: object) -> bytes:
    return msgspec.msgpack.encode(value, enc_hook=_plain_array)


def _plain_array(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return [value.dtype.str, list(value.shape), value.tobytes()]
    if isinstance(value, np.generic):
        return value.item()
    raise NotImplementedError(f"{type(value)} in a checkpoint")


def _array_of(kind: Any, value: Any) -> Any:
    """Return an array that can be changed; whatever else is no array, and not valid."""
    del kind
    dtype, shape, content = value
    return np.frombuffer(content, dtype=np.dtype(dtype)).reshape(shape).copy()
