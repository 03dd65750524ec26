"""How many threads a fit may use."""

from __future__ import annotations

import os

import joblib

from gtgbm import _core


def make_pool(n_jobs: int | None) -> _core.Pool:
    """Make a pool for one fit or one prediction."""
    return _core.Pool(n_threads(n_jobs))


def n_threads(n_jobs: int | None) -> int:
    """Turn ``n_jobs`` into a number of threads.

    None means every usable core, but no more than ``OMP_NUM_THREADS`` says (joblib sets it in its worker
    processes so that they do not crowd each other out) and no more than joblib grants inside its own threads.
    A negative number counts from the number of cores: -1 is all of them.
    """
    cores = int(joblib.cpu_count())
    if n_jobs is None:
        return max(1, min(cores, _environment_limit(cores), int(joblib.effective_n_jobs(-1))))
    if n_jobs < 0:
        return max(1, cores + 1 + n_jobs)
    return n_jobs


def _environment_limit(default: int) -> int:
    # OpenMP allows a list, one number per nesting level; the first is ours.
    first = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    return int(first) if first.isdigit() and int(first) > 0 else default
