"""What every communicator must do: a world of one, threads, sockets."""

from __future__ import annotations

import selectors
import socket
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gtgbm.distributed.mesh import _SHARE, Mesh, listen
from gtgbm.distributed.transfer import Transfer
from gtgbm.exact import Shard, WorkerError, assemble, union
from gtgbm.exact.communicator import LocalCommunicator
from tests.distributed.thread_shards import ThreadCommunicator, run

TOKEN = b"0123456789abcdef"


def meshes(world: int, timeout: float = 30.0) -> list[Any]:
    """Connect workers by sockets."""
    listeners = [listen("127.0.0.1") for _ in range(world)]
    addresses = [("127.0.0.1", one.getsockname()[1]) for one in listeners]
    numbered = list(range(world))
    return run(numbered, lambda rank: Mesh.connect(rank, addresses, listeners[rank], TOKEN, timeout))


WORLDS: dict[str, Callable[[int], list[Any]]] = {
    "one": lambda _: [LocalCommunicator()],
    "threads": ThreadCommunicator.all_of,
    "sockets": meshes,
}
kinds = pytest.mark.parametrize("kind", WORLDS)


@kinds
@settings(max_examples=15)
@given(
    world=st.integers(1, 4),
    sizes=st.lists(st.sampled_from([0, 1, 7, 3000, 40_000]), max_size=4),
    seed=st.integers(0, 99),
)
def test_sums_maxima_and_messages(kind: str, world: int, sizes: list[int], seed: int) -> None:
    workers = WORLDS[kind](world)
    world = len(workers)
    rng = np.random.default_rng(seed)
    numbers = [rng.integers(-(2**62) // world, 2**62 // world, (world, size)) for size in sizes]
    floats = [rng.normal(size=(world, 3)) for _ in sizes]
    messages = [[rng.bytes(int(rng.integers(0, 300_000))) for _ in workers] for _ in sizes]

    def work(worker: Any) -> None:
        assert worker.world == world
        for whole, real, said in zip(numbers, floats, messages, strict=True):
            own = whole[worker.rank].reshape(1, -1).copy()
            assert worker.sum(own) is own
            np.testing.assert_array_equal(own[0], whole.sum(axis=0))
            every_second = np.repeat(whole[worker.rank], 2)[::2]
            np.testing.assert_array_equal(worker.sum(every_second), whole.sum(axis=0))
            largest = real[worker.rank].copy()
            assert worker.max(largest) is largest
            np.testing.assert_array_equal(largest, real.max(axis=0))
            assert worker.share(said[worker.rank]) == said
        worker.close()

    run(workers, work)


@kinds
@settings(max_examples=10)
@given(owner=st.lists(st.integers(0, 2), min_size=1, max_size=80), seed=st.integers(0, 99))
def test_values_of_rows_are_assembled(kind: str, owner: list[int], seed: int) -> None:
    workers = WORLDS[kind](3)
    rng = np.random.default_rng(seed)
    n = len(owner)
    values = rng.normal(size=(2, n))
    values[rng.random((2, n)) < 0.2] = np.nan
    values[rng.random((2, n)) < 0.2] = -0.0
    kept = rng.random(n) < 0.6
    labels = rng.choice(["b", "a", "ccc"], n)

    def work(worker: Any) -> None:
        ids = np.flatnonzero(np.array(owner) == worker.rank) if worker.world > 1 else np.arange(n)
        shard = Shard(ids, n)
        whole = assemble(values[:, ids], ids, n, worker)
        assert whole.tobytes() == values.tobytes()
        rest = shard.only(kept[ids], worker)
        assert rest.n_total == kept.sum()
        np.testing.assert_array_equal(np.flatnonzero(kept)[rest.ids], ids[kept[ids]])
        rows = np.flatnonzero(rng.random(n) < 2.0)[:: 1 + seed % 3]
        places, local = shard.find(rows)
        np.testing.assert_array_equal(ids[local], rows[places])
        assert places.shape[0] == np.isin(rows, ids).sum()
        assert union(labels[ids], worker).tolist() == sorted(set(labels))
        worker.close()

    run(workers, work)


@pytest.mark.parametrize("kind", ["threads", "sockets"])
def test_others_learn_why_a_worker_failed(kind: str) -> None:
    workers = WORLDS[kind](3)

    def work(worker: Any) -> str:
        try:
            worker.sum(np.ones(3, dtype=np.int64))
            if worker.rank == 1:
                worker.close("worker 1 failed: no more memory")
                return ""
            worker.sum(np.ones(3, dtype=np.int64))
        except WorkerError as error:
            worker.close(str(error))
            return str(error)
        return "nothing"

    assert run(workers, work) == ["worker 1 failed: no more memory", "", "worker 1 failed: no more memory"]


def test_a_lost_worker_is_named_at_once() -> None:
    workers = meshes(3)
    for connection in workers[2]._peers.values():
        connection.shutdown(socket.SHUT_RDWR)
    begin = time.monotonic()
    with pytest.raises(WorkerError, match=r"worker 2 \(127.0.0.1:\d+\) was lost"):
        workers[0].max(np.zeros(1))
    assert time.monotonic() - begin < 5.0
    for worker in workers:
        worker.close()


def test_a_worker_that_does_not_answer_is_named() -> None:
    workers = meshes(2, timeout=0.3)
    with pytest.raises(WorkerError, match=r"worker 1 \(127.0.0.1:\d+\) did not answer within 0.3 s"):
        workers[0].sum(np.zeros(1, dtype=np.int64))
    for worker in workers:
        worker.close()


def test_workers_out_of_step_are_told() -> None:
    workers = meshes(2)

    def work(worker: Any) -> None:
        ask, given = (worker.max, np.zeros(2)) if worker.rank else (worker.sum, np.zeros(5, dtype=np.int64))
        with pytest.raises(WorkerError, match="out of step") as caught:
            ask(given)
        worker.close(str(caught.value))

    run(workers, work)


def test_a_reason_is_not_taken_for_the_rest_of_a_message() -> None:
    workers = meshes(2)

    def work(worker: Any) -> None:
        if worker.rank:
            assert worker.share(b"") == [b"8 values", b""]
            with pytest.raises(WorkerError, match="no more memory"):
                worker.share(b"")
            worker.close()
            return
        transfer = worker._transfers[1] = Transfer(_SHARE, 1, memoryview(b"8 values"))
        transfer.advance(worker._peers[1], selectors.EVENT_WRITE, None)  # the header alone
        worker.close("no more memory")

    run(workers, work)


def test_strangers_are_turned_away_and_missing_workers_named() -> None:
    listener = listen("127.0.0.1")
    address = ("127.0.0.1", listener.getsockname()[1])
    stranger = socket.create_connection(address)
    stranger.sendall(b"x" * 20)
    with pytest.raises(WorkerError, match=r"worker 1 \(127.0.0.1:9\) could not be reached within 0.3 s"):
        Mesh.connect(0, [address, ("127.0.0.1", 9)], listener, TOKEN, 0.3)
    stranger.close()
