"""How many threads a fit may use."""

from __future__ import annotations

import os
from typing import Any

import joblib

from gtgbm import _core
from gtgbm.estimators import parameters as check

_MANY = 1024


def make_pool(n_jobs: Any) -> _core.Pool:
    """Make a pool for one fit or one prediction."""
    return _core.Pool(n_threads(n_jobs))


def n_threads(n_jobs: Any) -> int:
    """Turn ``n_jobs`` into a number of threads.

    None means every usable core, but no more than ``OMP_NUM_THREADS`` says (joblib sets it in its worker
    processes so that they do not crowd each other out) and no more than joblib grants inside its own threads.
    A negative number counts from the number of cores: -1 is all of them.
    """
    jobs = check.optional_count(
        "n_jobs", n_jobs, low=-_MANY, high=_MANY, hint=" but not 0; -1 means all cores"
    )
    if jobs == 0:
        raise ValueError("n_jobs=0 is no number of threads: give 1 or more, -1 for all cores, or None")
    cores = int(joblib.cpu_count())
    if jobs is None:
        return max(1, min(cores, _environment_limit(cores), int(joblib.effective_n_jobs(-1))))
    return jobs if jobs > 0 else max(1, cores + 1 + jobs)


def _environment_limit(default: int) -> int:
    # OpenMP allows a list, one number per nesting level; the first is ours.
    first = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    return int(first) if first.isdigit() and int(first) > 0 else default
