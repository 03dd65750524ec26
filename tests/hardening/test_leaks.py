"""A process that fits and predicts again and again has no more memory, threads or open files than before."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

WARM, REPEATED = 60, 500
MOST = 2 << 20
"""Bytes that the allocator may keep: of 500 fits, a leak of a few kilobytes each would be more."""


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="counts what Linux tells of a process")
def test_fits_and_predictions_leave_nothing_behind() -> None:
    run = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("repeated.py")), str(WARM), str(REPEATED)],
        capture_output=True,
        text=True,
        timeout=1200,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    n_bytes, n_threads, n_files = map(int, run.stdout.split())
    assert n_bytes <= MOST
    assert n_threads <= 0
    assert n_files <= 0
