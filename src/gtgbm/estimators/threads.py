"""How many threads a fit may use."""

from __future__ import annotations

import numbers
import os
from typing import Any

import joblib

from gtgbm import _core

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
    wrong = (
        f"n_jobs={n_jobs!r} is not a whole number of threads: give 1 to {_MANY}, -1 for all cores, or None"
    )
    if n_jobs is not None and (isinstance(n_jobs, bool) or not isinstance(n_jobs, numbers.Integral)):
        raise TypeError(wrong)
    jobs = None if n_jobs is None else int(n_jobs)
    if jobs is not None and (jobs == 0 or abs(jobs) > _MANY):
        raise ValueError(wrong)
    cores = int(joblib.cpu_count())
    if jobs is None:
        return max(1, min(cores, _environment_limit(cores), int(joblib.effective_n_jobs(-1))))
    return jobs if jobs > 0 else max(1, cores + 1 + jobs)


def _environment_limit(default: int) -> int:
    # OpenMP allows a list, one number per nesting level; the first is ours.
    first = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    return int(first) if first.isdigit() and int(first) > 0 else default
