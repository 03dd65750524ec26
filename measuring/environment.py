"""The machine, the versions and the commit that a measurement was made with."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Sequence
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from measuring.files import ROOT


def environment(packages: Sequence[str]) -> dict[str, str]:
    """Return the date, the machine and the versions that figures depend on."""
    versions = ", ".join(f"{name} {_version(name)}" for name in packages)
    return {
        "Date": f"{datetime.now(timezone.utc):%Y-%m-%d}",
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
