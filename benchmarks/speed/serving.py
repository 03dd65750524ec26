"""Latency of a small HTTP service on loopback, memory of the loaded model, and seconds of a cold start.

Run it with nothing else on the machine; it writes benchmarks/results/serving.json and the table in
docs/serving.md::

    python -m benchmarks.speed.serving
    python -m benchmarks.speed.serving --quick    # only tries it
"""

from __future__ import annotations

import argparse
import contextlib
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import numpy as np

from measuring.environment import environment
from measuring.files import ROOT, write_json
from measuring.markdown import facts, number, table, write_between
from measuring.peers.gtgbm_models import estimator

PAGE = ROOT / "docs" / "serving.md"
HOST = "127.0.0.1"
N_ROWS, N_COLUMNS = 5_000, 20
BATCH = 1_000
_TRIES = 400
"""Attempts to reach the server, 50 milliseconds apart."""

_SERVICE = """
from fastapi import FastAPI
from gtgbm import serving
app, model = FastAPI(), serving.load({path!r})
@app.post("/predict")
def predict(rows: list[dict[str, float | str | None]]) -> list[float]:
    return model.predict_proba(rows)[:, 1].tolist()
"""

_STARTS = {
    "`import numpy` alone": "import numpy",
    "`serving.load` and one prediction": (
        "from gtgbm import serving; m = serving.load({path!r}); m.predict([0.0] * len(m.features))"
    ),
    "`load_model` and one prediction": (
        "from gtgbm import load_model; m = load_model({path!r}).compact(); "
        "m.predict([0.0] * len(m.features_))"
    ),
}
"""Programs whose start is timed."""


@dataclass(frozen=True)
class Latency:
    """Milliseconds of requests: median and 99th percentile."""

    p50: float
    p99: float


@dataclass(frozen=True)
class Measured:
    """What was measured.

    Attributes
    ----------
    latencies : dict of Latency
        By the size of the request.
    starts : dict of float
        Median seconds of processes, by what they do.
    process_mib, model_mib : float
        Resident memory of a process that serves a model, and what of it came with the model.
    """

    latencies: dict[str, Latency]
    starts: dict[str, float]
    process_mib: float
    model_mib: float


def write_model(path: Path, n_trees: int = 100) -> list[dict[str, float]]:
    """Fit and save a model with named columns; returns rows of a request."""
    import pandas

    rng = np.random.default_rng(0)
    X = pandas.DataFrame(rng.normal(size=(N_ROWS, N_COLUMNS)), columns=[f"c{k}" for k in range(N_COLUMNS)])
    y = X["c0"] + X["c1"] * X["c2"] + rng.normal(size=N_ROWS) > 0
    estimator("auto", "binary", n_estimators=n_trees, random_state=0).fit(X, y).save_model(path)
    return [dict(row) for row in X.head(BATCH).to_dict("records")]


def start_seconds(program: str, repeats: int) -> float:
    """Return the median seconds of a process that runs a program."""
    command = [sys.executable, "-c", program]
    return median(_seconds(lambda: subprocess.run(command, check=True)) for _ in range(repeats))


def resident_memory(path: Path) -> tuple[float, float]:
    """Return the MiB of a process that loaded a model, and by how much the model made it grow."""
    read = "int(next(l for l in open('/proc/self/status') if l.startswith('VmRSS')).split()[1])"
    program = (
        f"from gtgbm import serving; before = {read}; m = serving.load({str(path)!r}); after = {read}; "
        "print(after, after - before)"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    whole, grown = (float(kib) / 1024 for kib in done.stdout.split())
    return whole, grown


def latencies(
    folder: Path, path: Path, rows: list[dict[str, float]], n_requests: int
) -> dict[str, list[float]]:
    """Return the milliseconds of requests of one row and of a batch to a server of its own process."""
    import httpx

    (folder / "service.py").write_text(_SERVICE.format(path=str(path)), encoding="utf-8")
    port = _free_port()
    command = [sys.executable, "-m", "uvicorn", "service:app", "--host", HOST, "--port", str(port)]
    server = subprocess.Popen([*command, "--log-level", "error"], cwd=folder)
    try:
        with httpx.Client(base_url=f"http://{HOST}:{port}", timeout=30.0) as client:
            _wait_for(client)
            one = [_ask(client, [rows[k % len(rows)]]) for k in range(n_requests)]
            many = [_ask(client, rows) for _ in range(max(3, n_requests // 4))]
    finally:
        server.terminate()
        server.wait()
    return {"1 row": one, f"{len(rows):,} rows": many}


def _free_port() -> int:
    with socket.socket() as opened:
        opened.bind((HOST, 0))
        return int(opened.getsockname()[1])


def _wait_for(client: Any) -> None:
    """Wait until the server answers."""
    import httpx

    for _ in range(_TRIES):
        with contextlib.suppress(httpx.ConnectError):
            client.get("/docs")
            return
        time.sleep(0.05)
    raise RuntimeError("the server did not start")


def _ask(client: Any, rows: list[dict[str, float]]) -> float:
    return 1e3 * _seconds(lambda: client.post("/predict", json=rows).raise_for_status())


def _seconds(call: Callable[[], Any]) -> float:
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def measure(n_requests: int, repeats: int, n_trees: int = 100) -> Measured:
    """Measure a new model."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "model.json"
        rows = write_model(path, n_trees)
        starts = {
            what: start_seconds(program.format(path=str(path)), repeats) for what, program in _STARTS.items()
        }
        process_mib, model_mib = resident_memory(path)
        times = latencies(Path(name), path, rows, n_requests)
    percentiles = {what: quantiles(taken, n=100, method="inclusive") for what, taken in times.items()}
    return Measured(
        {what: Latency(found[49], found[98]) for what, found in percentiles.items()},
        starts,
        process_mib,
        model_mib,
    )


def written(found: Measured, about: Mapping[str, str]) -> str:
    """Return the tables of the page."""
    asked = [[what, number(one.p50, 2), number(one.p99, 2)] for what, one in found.latencies.items()]
    started = [[what, number(seconds, 3)] for what, seconds in found.starts.items()]
    memory = (
        f"A process that loaded the model has {number(found.process_mib, 1)} MiB of memory, of which "
        f"the model takes {number(found.model_mib, 1)} MiB."
    )
    parts = [
        table(["request, milliseconds", "p50", "p99"], asked, numbers=True),
        table(["a new process, seconds", "median"], started, numbers=True),
        memory,
        f"{facts(about)}.\n",
    ]
    return "\n\n".join(parts)


def main() -> None:
    """Run the benchmark, print tables and write them down."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed.serving", description=__doc__)
    parser.add_argument("--requests", type=int, default=2_000, help="requests of one row")
    parser.add_argument("--repeats", type=int, default=5, help="processes per start; medians are reported")
    parser.add_argument("--quick", action="store_true", help="few requests; nothing is written")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "results" / "serving.json")
    arguments = parser.parse_args()
    described = environment(["gtgbm", "numpy", "fastapi", "uvicorn", "httpx"])
    described |= {"Command": "`python -m benchmarks.speed.serving`"}
    if arguments.quick:
        print(written(measure(n_requests=20, repeats=1), described))
        return
    found = measure(arguments.requests, arguments.repeats)
    print(written(found, described))
    write_json(arguments.out, {"values": asdict(found), "environment": described})
    write_between(PAGE, "speed", written(found, described))


if __name__ == "__main__":
    main()
