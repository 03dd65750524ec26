"""One measurement in a process of its own, so that no measurement warms or burdens the next.

The arguments go in as JSON on stdin, the answer comes back as the last line of stdout.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

from benchmarks.measuring import ROOT


class ProcessFailedError(Exception):
    """A measurement gave no answer; the message is the last line it wrote."""


def call_in_process(function: Callable[..., Any], n_threads: int, /, **arguments: Any) -> Any:
    """Call a function of a module in a new process.

    Parameters
    ----------
    function : callable
        A plain function of a module that can be imported; takes and returns plain JSON.
    n_threads : int
        For libraries that only listen to the environment.
    """
    command = [sys.executable, "-m", "experiments.processes", function.__module__, function.__name__]
    limits = {f"{name}_NUM_THREADS": str(n_threads) for name in ("OMP", "OPENBLAS", "MKL")}
    done = subprocess.run(
        command,
        input=json.dumps(arguments),
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=os.environ | limits,
        check=False,
    )
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        raise ProcessFailedError(f"{function.__module__}.{function.__name__}: {last}")
    return json.loads(done.stdout.splitlines()[-1])


def medians(records: Sequence[dict[str, float]]) -> dict[str, float]:
    """Return the median of each number of several records with the same keys."""
    return {key: float(median(record[key] for record in records)) for key in records[0]}


def _main() -> None:
    module, name = sys.argv[1:]
    answer = getattr(importlib.import_module(module), name)(**json.load(sys.stdin))
    print(json.dumps(answer))


if __name__ == "__main__":
    _main()
