"""Allocations that fail, one after the other: a MemoryError each time, and the next result is right.

``GTGBM_STARVED_STEP=1 pytest tests/hardening/test_out_of_memory.py`` lets every single one fail.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
NEW, MALLOC, MMAP = 1, 2, 4
STEP = os.environ.get("GTGBM_STARVED_STEP")
SECONDS = 600
"""A run takes a few seconds: longer is a hang."""

CASES = {
    # Every allocation of the kernels; few of a run are tried, others by each case.
    "exhaustive": 41,
    "group-testing": 29,
    "classes": 71,
    "sparse": 23,
    "ranking": 67,
    "prediction": 1,
    "contributions": 3,
}
"""What is computed, and how far apart the allocations are that fail."""


SPARSE = pytest.param(
    "sparse",
    marks=pytest.mark.xfail(
        reason="numpy crashes: execute_ufunc_loop allocates buffers for operands of different types after "
        "it has released the GIL, and npyiter_allocate_buffers then sets the MemoryError without it"
    ),
)


@pytest.fixture(scope="module")
def allocator(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compile the allocator that fails on demand."""
    compiler = os.environ.get("CXX") or shutil.which("g++")
    if not sys.platform.startswith("linux") or compiler is None:
        pytest.skip("replaces the allocator the way glibc does, and needs g++ for that")
    library = tmp_path_factory.mktemp("allocator") / "failing_allocator.so"
    source = str(HERE / "failing_allocator.cpp")
    subprocess.run(
        [compiler, "-std=c++17", "-O1", "-shared", "-fPIC", "-o", str(library), source, "-ldl"], check=True
    )
    return library


def starved(allocator: Path, case: str, *numbers: int) -> tuple[int, int]:
    """Return how many allocations a computation has, and how often it was refused."""
    run = subprocess.run(
        [sys.executable, str(HERE / "starved.py"), case, *map(str, numbers)],
        env=os.environ | {"LD_PRELOAD": str(allocator), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    tried = run.stdout.split("\n")
    assert run.returncode == 0, f"allocation {tried[-2:]} failed, and then:\n{run.stderr[:3000]}"
    counted = re.fullmatch(r".*: (\d+) allocations, (\d+) refused", tried[-2])
    assert counted, tried
    return int(counted[1]), int(counted[2])


@pytest.mark.parametrize("case", CASES)
def test_every_allocation_of_kernels_may_fail(case: str, allocator: Path) -> None:
    step = int(STEP or CASES[case])
    n_counted, n_refused = starved(allocator, case, NEW, 0, 0, step // 2, step)
    assert n_counted > 0
    # Not all: rankings sort with a buffer, and without it where there is no memory.
    assert n_refused > 0


@pytest.mark.parametrize("case", ["exhaustive", "group-testing", SPARSE])
def test_from_some_allocation_on_there_is_no_memory_for_arrays(case: str, allocator: Path) -> None:
    step = int(STEP or 11)
    n_counted, n_refused = starved(allocator, case, NEW | MALLOC | MMAP, 4096, 1, 3, step)
    assert n_counted > 0
    assert n_refused > 0
