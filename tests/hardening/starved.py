"""Fits while allocations fail, run by `test_out_of_memory.py` below `failing_allocator.cpp`.

``python starved.py CASE KINDS SMALLEST LASTING FIRST STEP`` lets one allocation after the other fail: number
FIRST of each run, then STEP further, until nothing fails any more. It prints the number before each run, so
that a crash can be had again, and a summary at the end.
"""

from __future__ import annotations

import ctypes
import faulthandler
import hashlib
import itertools
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

import gtgbm

N, D = 400, 24


def results() -> dict[str, Callable[[], bytes]]:
    """Return what is tried, by name: each computes something and returns its bits."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, D))
    wide = rng.normal(size=(300, 200))
    thin = sparse.random(2000, 60, 0.05, "csr", rng=np.random.default_rng(1))
    y = X[:, 3] - np.abs(X[:, 5])
    classes = np.digitize(y, [-1.0, 0.0])
    queries = np.repeat(np.arange(N // 10), 10)
    small: dict[str, Any] = {"n_estimators": 3, "n_jobs": 3, "random_state": 0}
    model = gtgbm.AGBMRegressor(**small).fit(X, y)
    long = rng.normal(size=(5000, D))

    def bits(fitted: Any) -> bytes:
        return b"".join(
            np.asarray(part).tobytes()
            for tree in fitted.trees_
            for part in (tree.feature, tree.threshold, tree.value)
        )

    return {
        "exhaustive": lambda: bits(gtgbm.AGBMRegressor(**small).fit(long, long[:, 3] - np.abs(long[:, 5]))),
        "group-testing": lambda: bits(
            gtgbm.GTGBMRegressor(search="group-testing", **small).fit(wide, wide[:, 7] + wide[:, 9])
        ),
        "classes": lambda: bits(gtgbm.AGBMClassifier(**small).fit(X, classes)),
        "sparse": lambda: bits(
            gtgbm.AGBMRegressor(**small).fit(thin, np.asarray(thin[:, [3]].todense()).ravel())
        ),
        "ranking": lambda: bits(gtgbm.GTGBMRanker(**small).fit(X, classes, qid=queries)),
        "prediction": lambda: model.predict(long).tobytes(),
        "contributions": lambda: np.asarray(model.predict_contributions(X)).tobytes(),
    }


def main() -> None:
    """Let allocations fail one after the other."""
    case = sys.argv[1]
    kinds, smallest, lasting, first, step = map(int, sys.argv[2:])
    faulthandler.enable()
    shim = ctypes.CDLL(None)
    shim.failing_allocator_arm.argtypes = [ctypes.c_int64, ctypes.c_size_t, ctypes.c_int, ctypes.c_int]
    shim.failing_allocator_disarm.restype = ctypes.c_int64
    compute = results()[case]
    right = hashlib.sha256(compute()).digest()
    n_refused = 0
    for skipped in itertools.count(first, step):
        print(skipped, flush=True)
        shim.failing_allocator_arm(skipped, smallest, kinds, lasting)
        try:
            found = compute()
        except MemoryError:
            found = None
        except SystemError as error:
            # Some functions of numpy forget to say that memory was lacking.
            if "without" not in str(error):
                raise
            found = None
        finally:
            counted = shim.failing_allocator_disarm()
        if found is None:
            n_refused += 1
        elif hashlib.sha256(found).digest() != right:
            raise AssertionError(f"allocation {skipped} failed, and the result was another")
        if hashlib.sha256(compute()).digest() != right:
            raise AssertionError(f"after allocation {skipped} failed, the next result was another")
        if counted <= skipped:
            break
    print(f"{case}: {counted} allocations, {n_refused} refused")


if __name__ == "__main__":
    main()
