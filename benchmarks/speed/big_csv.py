"""A large CSV through ``gtgbm fit``: time, and peak memory beside the table's size as 32-bit floats.

``python -m benchmarks.speed.big_csv`` writes 2 gigabytes of numbers to a temporary file, trains on it in a
process of its own, and prints what it took.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv

from measuring.processes import cost_of_command

_COLUMNS = 500
_BATCH = 4000


def main() -> None:
    """Write the file, train on it, and print what it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gigabytes", type=float, default=2.0)
    parser.add_argument("--valid", help="As in gtgbm fit.")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "big.csv"
        n_rows = write(path, arguments.gigabytes * 1e9)
        out = Path(place) / "model.json"
        command = [sys.executable, "-m", "gtgbm", "fit", str(path), "--target", "y", "--max-features", "20"]
        command += ["--valid", arguments.valid] if arguments.valid else []
        cost = cost_of_command([*command, "--out", str(out)])
        assert cost.peak_mb is not None
        peak = cost.peak_mb * 2**20
        as_floats = n_rows * _COLUMNS * 4
        found = {
            "csv_gigabytes": path.stat().st_size / 1e9,
            "rows": n_rows,
            "columns": _COLUMNS,
            "float32_gigabytes": as_floats / 1e9,
            "peak_gigabytes": peak / 1e9,
            "peak_over_float32": peak / as_floats,
            "seconds": cost.seconds,
            "features": len(json.loads(out.read_text())["parts"][0]["history"]),
        }
    print(json.dumps(found, indent=2))


def write(path: Path, size: float) -> int:
    """Write rows until the file has so many bytes; returns their number."""
    rng = np.random.default_rng(0)
    names = [f"column_{k}" for k in range(_COLUMNS)]
    schema = pa.schema([*((name, pa.float64()) for name in names), ("y", pa.int64())])
    n_rows = 0
    with path.open("wb") as file, csv.CSVWriter(file, schema) as writer:
        while file.tell() < size:
            X = rng.normal(size=(_BATCH, _COLUMNS)).round(5)
            y = (X[:, :10].sum(axis=1) + rng.normal(size=_BATCH) > 0).astype(np.int64)
            writer.write(pa.table([*X.T.copy(), y], schema=schema))
            n_rows += _BATCH
    return n_rows


if __name__ == "__main__":
    main()
