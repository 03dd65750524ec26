"""Latency of a small HTTP service on loopback, memory of the loaded model, and seconds of a cold start.

Run it with nothing else on the machine; it writes benchmarks/results/serving.json and the table in
docs/serving.md::

    python -m benchmarks.speed.serving
"""

from __future__ import annotations

import argparse
import contextlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import numpy as np

from measuring.environment import environment
from measuring.files import ROOT, write_json
from measuring.markdown import facts, number, table, write_between
from measuring.peers.gtgbm_models import estimator

PAGE = ROOT / "docs" / "serving.md"
HOST, PORT = "127.0.0.1", 8642
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
    "import numpy": "import numpy",
    "serving.load, one prediction": (
        "from gtgbm import serving; m = serving.load({path!r}); m.predict([0.0] * len(m.features))"
    ),
    "load_model, one prediction": (
        "from gtgbm import load_model; m = load_model({path!r}).compact(); "
        "m.predict([0.0] * len(m.features_))"
    ),
}
"""Programs whose start is timed."""


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


def resident_megabytes(path: Path) -> float:
    """Return how much memory a process needs more for a loaded model."""
    read = "int(next(l for l in open('/proc/self/status') if l.startswith('VmRSS')).split()[1])"
    program = (
        f"from gtgbm import serving; before = {read}; m = serving.load({str(path)!r}); print({read} - before)"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    return float(done.stdout) / 1024


def latencies(
    folder: Path, path: Path, rows: list[dict[str, float]], n_requests: int
) -> dict[str, list[float]]:
    """Return the milliseconds of requests of one row and of a batch to a server of its own process."""
    import httpx

    (folder / "service.py").write_text(_SERVICE.format(path=str(path)), encoding="utf-8")
    command = [sys.executable, "-m", "uvicorn", "service:app", "--host", HOST, "--port", str(PORT)]
    server = subprocess.Popen([*command, "--log-level", "error"], cwd=folder)
    try:
        with httpx.Client(base_url=f"http://{HOST}:{PORT}", timeout=30.0) as client:
            _wait_for(client)
            one = [_ask(client, [rows[k % len(rows)]]) for k in range(n_requests)]
            many = [_ask(client, rows) for _ in range(max(3, n_requests // 50))]
    finally:
        server.terminate()
        server.wait()
    return {"1 row": one, f"{len(rows):,} rows": many}


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


def measure(n_requests: int, repeats: int, n_trees: int = 100) -> dict[str, float]:
    """Return all numbers by name."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "model.json"
        rows = write_model(path, n_trees)
        found = {
            f"{what}, seconds": start_seconds(program.format(path=str(path)), repeats)
            for what, program in _STARTS.items()
        }
        found["memory of the loaded model, MiB"] = resident_megabytes(path)
        for what, times in latencies(Path(name), path, rows, n_requests).items():
            found[f"{what}, p50 ms"] = median(times)
            found[f"{what}, p99 ms"] = quantiles(times, n=100)[98]
    return found


def written(found: Mapping[str, float], about: Mapping[str, str]) -> str:
    """Return the table of the page."""
    cells = [[what, number(value, 3)] for what, value in found.items()]
    return f"{table(['', 'measured'], cells, numbers=True)}\n\n{facts(about)}.\n"


def main() -> None:
    """Run the benchmark, print a table and write it down."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed.serving", description=__doc__)
    parser.add_argument("--requests", type=int, default=2_000, help="requests of one row")
    parser.add_argument("--repeats", type=int, default=5, help="processes per start; medians are reported")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "results" / "serving.json")
    arguments = parser.parse_args()
    described = environment(["gtgbm", "numpy", "fastapi", "uvicorn", "httpx"])
    described |= {"Command": "`python -m benchmarks.speed.serving`"}
    found = measure(arguments.requests, arguments.repeats)
    print(written(found, described))
    write_json(arguments.out, {"values": found, "environment": described})
    write_between(PAGE, "speed", written(found, described))


if __name__ == "__main__":
    main()
