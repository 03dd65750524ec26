"""The number of threads of a fit or a prediction."""

from __future__ import annotations

import os
from typing import Any

import joblib

from gtgbm import _core
from gtgbm.parameters import PARAMETERS

_SERIAL = _core.Pool(1)
"""A pool without threads of its own, which all callers can share."""


def make_pool(n_jobs: Any) -> _core.Pool:
    """Make a pool for one fit or one prediction."""
    return _core.Pool(n_threads(n_jobs))


def pool_for_rows(n_jobs: Any, n_rows: int) -> _core.Pool:
    """Make a pool for a prediction; few rows use the serial pool, without counting the cores."""
    if n_rows <= _core.Forest.ROWS_PER_TASK:
        _check(n_jobs)
        return _SERIAL
    return make_pool(n_jobs)


def n_threads(n_jobs: Any) -> int:
    """Return the number of threads for ``n_jobs``.

    None means all usable cores, but at most ``OMP_NUM_THREADS`` (joblib sets it in its worker processes to
    avoid oversubscription) and at most what joblib allows inside its own threads. Negative numbers count from
    the number of cores: -1 is all of them.
    """
    jobs = _check(n_jobs)
    cores = int(joblib.cpu_count())
    if jobs is None:
        return max(1, min(cores, _environment_limit(cores), int(joblib.effective_n_jobs(-1))))
    return jobs if jobs > 0 else max(1, cores + 1 + jobs)


def _check(n_jobs: Any) -> int | None:
    jobs: int | None = PARAMETERS["n_jobs"].check(n_jobs)
    return jobs


def _environment_limit(default: int) -> int:
    # OpenMP allows a list with one number per nesting level; the first one applies here.
    first = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    return int(first) if first.isdigit() and int(first) > 0 else default
