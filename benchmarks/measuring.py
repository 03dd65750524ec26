"""Time and memory of one call, and what machine it ran on."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, TypeVar

T = TypeVar("T")

ROOT = Path(__file__).resolve().parents[1]
"""The checkout."""


@dataclass(frozen=True)
class Cost:
    """What a call took; memory is None where the system does not tell."""

    seconds: float
    peak_mb: float | None


def measure(call: Callable[[], T]) -> tuple[T, Cost]:
    """Call something once and return its result with its cost."""
    can_tell = _forget_peak()
    before = _status_mb("VmRSS") if can_tell else None
    begin = perf_counter()
    result = call()
    seconds = perf_counter() - begin
    peak = _status_mb("VmHWM") if can_tell else None
    return result, Cost(seconds, None if peak is None or before is None else peak - before)


def median_seconds(call: Callable[[], Any], calls: int, most_seconds: float) -> float:
    """Call something several times, as long as there is time, and return the median of a call."""
    call()  # the first call may build what later ones reuse
    times: list[float] = []
    while len(times) < calls and sum(times) < most_seconds:
        begin = perf_counter()
        call()
        times.append(perf_counter() - begin)
    return median(times)


def _forget_peak() -> bool:
    # Loading data may have needed more memory than the fit does; Linux can restart its high-water mark.
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return False
    return True


def _status_mb(name: str) -> float | None:
    for line in Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) / 1024
    return None


def environment(packages: Sequence[str]) -> dict[str, str]:
    """Describe the machine and the versions that figures depend on."""
    versions = ", ".join(f"{name} {_version(name)}" for name in packages)
    return {
        "CPU": f"{_cpu_model()}, {_usable_cores()} cores usable",
        "System": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
        "Versions": versions,
        "Commit": _commit(),
        "Load at the start": f"{os.getloadavg()[0]:.2f}",
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "absent"


def _cpu_model() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.is_file():
        for line in cpuinfo.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _usable_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _commit() -> str:
    command = ["git", "describe", "--always", "--dirty", "--exclude=*"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else "unknown"
