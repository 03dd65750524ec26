"""Many fits and predictions in one process, run by `test_leaks.py`: prints what it has more at the end."""

from __future__ import annotations

import gc
import os
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

import gtgbm


def resident() -> int:
    """Return the bytes of memory that the process has."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def fit_and_predict(number: int) -> None:
    """Fit and predict once; four kinds of fits take turns."""
    rng = np.random.default_rng(number)
    X = rng.normal(size=(150, 12))
    settings: dict[str, Any] = {"n_estimators": 2, "n_jobs": 2, "random_state": number}
    match number % 4:
        case 0:
            gtgbm.AGBMRegressor(**settings).fit(X, X[:, 0]).predict(X)
        case 1:
            gtgbm.AGBMClassifier(**settings).fit(X, X[:, 1] > 0).predict_proba(X)
        case 2:
            thin = sparse.csr_matrix(np.where(X > 1.0, X, 0.0))
            gtgbm.AGBMRegressor(**settings).fit(thin, X[:, 2]).predict(thin)
        case _:
            model = gtgbm.GTGBMRegressor(search="group-testing", selection="forward", **settings)
            model.fit(X, X[:, 3]).compact().predict(model.transform(X))


def owned() -> tuple[int, int, int]:
    """Return bytes of memory, threads and open files."""
    gc.collect()
    return resident(), len(os.listdir("/proc/self/task")), len(os.listdir("/proc/self/fd"))


def main() -> None:
    """Warm up, count, repeat, and count again."""
    n_warm, n_repeated = map(int, sys.argv[1:])
    for number in range(n_warm):
        fit_and_predict(number)
    before = owned()
    for number in range(n_repeated):
        fit_and_predict(number)
    after = owned()
    assert threading.active_count() == 1
    print(*(now - then for now, then in zip(after, before, strict=True)))


if __name__ == "__main__":
    main()
