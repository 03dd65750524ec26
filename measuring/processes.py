"""One measurement in a process of its own, so that no measurement warms or burdens the next.

A function's arguments go in as JSON on stdin, its answer comes back as the last line of stdout.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from time import perf_counter
from typing import Any, TypeVar

from measuring.cost import Cost
from measuring.files import ROOT

T = TypeVar("T")
U = TypeVar("U")

_BEGIN = perf_counter()
_LOADED = "loaded after "
_START_SECONDS = 5.0
"""Allowance for what a process does before it can look at a clock: starting, importing numpy and scipy."""


class ProcessFailedError(Exception):
    """A process gave no answer; the message says why in one line.

    Attributes
    ----------
    at_least : float or None
        Seconds the process had run after ``say_loaded`` when it was stopped, if it was.
    """

    def __init__(self, why: str, at_least: float | None = None) -> None:
        super().__init__(why)
        self.at_least = at_least


def call_in_process(
    function: Callable[..., Any], n_threads: int, /, *, limit: float | None = None, **arguments: Any
) -> Any:
    """Call a function of a module in a new process, and stop it after `limit` seconds.

    Parameters
    ----------
    function : callable
        A plain function of a module that can be imported; takes and returns plain JSON.
    n_threads : int
        For libraries that only listen to the environment; numpy's own threads should not be in the way.

    Raises
    ------
    ProcessFailedError
        If the function fails or takes too long.
    """
    # Run with -m, the module that asks is known to itself as __main__, but not to another process.
    spec = sys.modules[function.__module__].__spec__
    name = function.__module__ if spec is None else spec.name
    threads = {f"{library}_NUM_THREADS": str(n_threads) for library in ("OMP", "OPENBLAS", "MKL")}
    try:
        done = subprocess.run(
            [sys.executable, "-m", "measuring.processes", name, function.__name__],
            input=json.dumps(arguments),
            capture_output=True,
            text=True,
            cwd=ROOT,
            env=os.environ | threads,
            timeout=limit,
            check=False,
        )
    except subprocess.TimeoutExpired as stopped:
        raise _stopped(stopped) from None
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        raise ProcessFailedError(last)
    return json.loads(done.stdout.splitlines()[-1])


def say_loaded() -> None:
    """Tell the process that asks, should it stop this one, that its data are loaded."""
    print(f"{_LOADED}{perf_counter() - _BEGIN + _START_SECONDS}", flush=True)


def _stopped(stopped: subprocess.TimeoutExpired) -> ProcessFailedError:
    # What was written until then may be bytes, whatever was asked for.
    output = stopped.stdout or ""
    written = output.decode() if isinstance(output, bytes) else output
    if not written.startswith(_LOADED):
        return ProcessFailedError(f"data not loaded within {stopped.timeout:g} s")
    at_least = stopped.timeout - float(written.splitlines()[0].removeprefix(_LOADED))
    return ProcessFailedError(f"fit stopped after {at_least:.0f} s", at_least)


def map_in_processes(function: Callable[[T], U], items: Iterable[T], n_processes: int) -> list[U]:
    """Share many small calls out among processes, where only their answers count and not their times."""
    with ProcessPoolExecutor(n_processes) as pool:
        return list(pool.map(function, items))


_LAUNCHER = """
import json, os, subprocess, sys, time
begin = time.perf_counter()
process = subprocess.Popen(sys.argv[2:])
_, status, usage = os.wait4(process.pid, 0)
seconds = time.perf_counter() - begin
answer = [os.waitstatus_to_exitcode(status), seconds, usage.ru_maxrss / 1024]
os.write(int(sys.argv[1]), json.dumps(answer).encode())
"""
"""Starts a command from a small process: the kernel counts what the parent held to the peak of its child."""


def cost_of_command(command: Sequence[str]) -> Cost:
    """Run a command and return its seconds and the largest memory its process held."""
    reading, writing = os.pipe()
    launched = [sys.executable, "-S", "-c", _LAUNCHER, str(writing), *command]
    with os.fdopen(reading, "rb") as answer:
        process = subprocess.Popen(launched, pass_fds=[writing])
        os.close(writing)
        code, seconds, peak_mb = json.loads(answer.read() or b"[1, 0, 0]")
        process.wait()
    if code != 0:
        raise ProcessFailedError(f"{' '.join(command)}: exit code {code}")
    return Cost(seconds, peak_mb)


def _main() -> None:
    module, name = sys.argv[1:]
    answer = getattr(importlib.import_module(module), name)(**json.load(sys.stdin))
    print(json.dumps(answer))


if __name__ == "__main__":
    _main()
