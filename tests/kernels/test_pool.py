"""Pools of threads: the same result for every size, in several Python threads at once, and across a fork."""

from __future__ import annotations

import gc
import os
import signal
import threading
import time
from collections.abc import Callable

import numpy as np
import pytest

from gtgbm import _core
from gtgbm.exact.arrays import CELLS, I64, LANES, OWNED

CODES = np.random.default_rng(0).integers(0, 256, (256, 4000), dtype=np.uint8)
WEIGHT = np.random.default_rng(1).integers(-1000, 1000, 4000).astype(np.int16)
EXPECTED = CODES.astype(np.int64) @ WEIGHT.astype(np.int64)

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")


def work(pool: _core.Pool) -> I64:
    """Half a million steps in several tasks: enough for a pool to wake its threads."""
    out = np.zeros(CODES.shape[0], dtype=np.int64)
    _core.correlate(pool, CODES, WEIGHT, out)
    return out


def n_threads() -> int:
    """Threads of this process, as the system counts them."""
    return len(os.listdir("/proc/self/task"))


@pytest.mark.parametrize("size", [1, 2, 3, 8])
def test_every_size_gives_the_same(size: int) -> None:
    pool = _core.Pool(size)
    assert pool.size == size
    for _ in range(50):
        np.testing.assert_array_equal(work(pool), EXPECTED)


@pytest.mark.parametrize("size", [2, 3, 8])
def test_threads_are_found_looking_asleep_or_between(size: int) -> None:
    """Calls at once, and after pauses around the moment for which threads look before they sleep."""
    pool = _core.Pool(size)
    for _ in range(20):
        for pause in (None, None, 0.0, 1e-5, 3e-5, 1e-4, 1e-3):
            if pause is not None:
                time.sleep(pause)
            np.testing.assert_array_equal(work(pool), EXPECTED)


def fail_in_a_task(pool: _core.Pool) -> None:
    """Grow subtrees whose totals claim missing values that no row has: each is found out in its own task."""
    n, n_trees = 8000, 40
    codes = np.zeros((1, n, LANES), dtype=np.uint8)
    cells = np.ones(n, dtype=np.int64)
    rows, edges = np.arange(n, dtype=np.int32), np.arange(n_trees + 1) * (n // n_trees)
    total, zero = np.tile([1, n // n_trees + 10], (n_trees, 1)), np.zeros(n_trees, dtype=np.int64)
    use = np.full(1, OWNED, np.uint8), np.full(1, -1, np.int32), np.zeros((0, CELLS), np.uint8)
    columns = _core.TileColumns(np.full(1, 2, np.int32), *use, np.empty(0))
    tiles = _core.TileSet(codes, np.array([2]), columns)
    scratch = np.zeros((2, n), np.int32), np.zeros(n, np.int64)
    first, n_nodes = np.arange(n_trees + 1) * 9, zero.copy()
    nodes, gain = np.zeros((first[-1], len(_core.SUBTREE_FIELDS)), np.int64), np.zeros(first[-1])
    subtrees = (edges[:-1].copy(), edges[1:].copy(), total, zero, zero)
    _core.grow_subtrees(
        pool,
        tiles,
        *subtrees,
        _core.CellFormat(20),
        2,
        1,
        0.0,
        5,
        rows,
        cells,
        *scratch,
        first,
        nodes,
        gain,
        n_nodes,
        False,
    )


@pytest.mark.parametrize("size", [1, 2, 3, 8])
def test_a_pool_outlives_failed_tasks(size: int) -> None:
    pool = _core.Pool(size)
    for _ in range(30):
        with pytest.raises(RuntimeError, match="astray"):
            fail_in_a_task(pool)
        np.testing.assert_array_equal(work(pool), EXPECTED)


def test_two_callers_of_one_pool() -> None:
    """The second is refused if the first is not done, and neither harms the other."""
    pool = _core.Pool(3)
    np.testing.assert_array_equal(work(pool), EXPECTED)
    results: list[bool] = []

    def works_or_refuses() -> bool:
        try:
            return works(pool)
        except RuntimeError as error:
            return "one caller at a time" in str(error)

    def call() -> None:
        results.extend(works_or_refuses() for _ in range(100))

    threads = [threading.Thread(target=call) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 200


@pytest.mark.parametrize("size", [0, -1])
def test_a_pool_has_a_thread(size: int) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        _core.Pool(size)


def settled_threads() -> int:
    """Count the threads once their number stays the same: threads that were told to end take a moment."""
    for _ in range(100):
        counted = n_threads()
        time.sleep(0.02)
        if n_threads() == counted:
            return counted
    return n_threads()


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="counts threads in /proc")
def test_threads_start_when_needed_and_end_with_the_pool() -> None:
    gc.collect()  # pools of other tests would end their threads in between
    before = settled_threads()
    pool = _core.Pool(4)
    small = np.zeros(1, dtype=np.int64)
    _core.correlate(pool, CODES[:1], WEIGHT, small)
    assert n_threads() == before
    work(pool)
    assert n_threads() == before + 3
    del pool
    gc.collect()
    assert n_threads() == before


def test_many_pools_in_many_threads() -> None:
    results: list[bool] = []

    def use_own_pool(size: int) -> None:
        for _ in range(10):
            pool = _core.Pool(size)
            results.extend(np.array_equal(work(pool), EXPECTED) for _ in range(5))

    threads = [threading.Thread(target=use_own_pool, args=(size,)) for size in (1, 2, 3, 4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 200


def exit_code_of_child(run: Callable[[], bool]) -> int:
    """Exit code of a forked child that runs something; a child that hangs is ended by a signal."""
    child = os.fork()
    if child == 0:
        signal.alarm(5)
        # No exception may leave the child: it would go on as a second pytest.
        try:
            os._exit(0 if run() else 1)
        finally:
            os._exit(2)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def works(pool: _core.Pool) -> bool:
    return np.array_equal(work(pool), EXPECTED)


@needs_fork
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("used_before", [False, True])
def test_a_pool_works_in_a_forked_child(used_before: bool) -> None:
    pool = _core.Pool(3)
    assert not used_before or works(pool)
    assert exit_code_of_child(lambda: works(pool) and works(pool)) == 0
    assert works(pool), "the parent's threads are still there"


@needs_fork
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_can_use_a_pool_of_its_own() -> None:
    pool = _core.Pool(3)
    assert works(pool)
    assert exit_code_of_child(lambda: works(_core.Pool(3))) == 0


@needs_fork
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_can_drop_the_pool() -> None:
    """Threads that wait in the parent must not keep the child's copy of the pool from ending."""
    pools = [_core.Pool(3)]
    assert works(pools[0])
    time.sleep(0.05)  # so that they are asleep

    def drop_and_go_on() -> bool:
        own = _core.Pool(3)
        good = works(own)
        pools.clear()
        gc.collect()
        # Nor may dropping it touch the child's own threads.
        good = good and works(own)
        del own
        gc.collect()
        return good

    assert exit_code_of_child(drop_and_go_on) == 0
    assert works(pools[0])
