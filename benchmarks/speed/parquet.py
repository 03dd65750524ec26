"""A Parquet file that is larger than the memory limit: peak memory, bytes read, and time against memory.

``python -m benchmarks.speed.parquet`` writes 1 million rows of 2,000 float32 columns, 8 gigabytes, to a
temporary folder, trains on them with ``memory_limit="2GB"`` in a process of its own, then reads half of the
rows into memory and trains on these, and prints what both took. The folder is removed.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from itertools import pairwise
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from measuring.processes import call_in_process

_BATCH = 20_000


def main() -> None:
    """Write the files, train on them, and print what it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=2_000)
    parser.add_argument("--files", type=int, default=4)
    parser.add_argument("--row-group", type=int, default=100_000)
    parser.add_argument("--memory-limit", default="2GB")
    parser.add_argument("--features", type=int, help="Select so many features forward and backward.")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--folder", help="Where the files are written; a temporary folder there.")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as place:
        write(Path(place), given.rows, given.columns, given.files, given.row_group)
        shared = {"place": place, "features": given.features, "threads": given.threads}
        on_disk = call_in_process(from_disk, given.threads, **shared, memory_limit=given.memory_limit)
        half = call_in_process(from_memory, given.threads, **shared, n_rows=given.rows // 2)
    seconds = {"disk_over_half_in_memory": on_disk["seconds"] / half["seconds"]}
    print(json.dumps({"disk": on_disk, "half_in_memory": half, **seconds}, indent=2))


def write(place: Path, n_rows: int, n_columns: int, n_files: int, row_group: int) -> None:
    """Write rows of independent normal columns, of which 15 matter."""
    rng = np.random.default_rng(0)
    schema = pa.schema([*((f"x{k}", pa.float32()) for k in range(n_columns)), ("y", pa.int8())])
    bounds = np.linspace(0, n_rows, n_files + 1).astype(int)
    for number, (begin, end) in enumerate(pairwise(bounds.tolist())):
        with parquet.ParquetWriter(
            place / f"part-{number}.parquet", schema, compression="none", use_dictionary=False
        ) as writer:
            for first in range(begin, end, row_group):
                groups = []
                for start in range(first, min(first + row_group, end), _BATCH):
                    size = min(_BATCH, first + row_group - start, end - start)
                    X = rng.standard_normal((size, n_columns), dtype=np.float32)
                    signal = X[:, :15].sum(axis=1) + X[:, 0] * X[:, 1] + 2.0 * rng.standard_normal(size)
                    y = (signal > 0).astype(np.int8)
                    groups.append(pa.table([*np.ascontiguousarray(X.T), y], schema=schema))
                writer.write_table(pa.concat_tables(groups), row_group_size=row_group)


def from_disk(place: str, features: int | None, threads: int, memory_limit: str) -> dict[str, Any]:
    """Train on all files within a memory limit."""
    from gtgbm import GTGBMClassifier, ParquetTable

    begin = perf_counter()
    table = ParquetTable(f"{place}/*.parquet")
    model = GTGBMClassifier(
        n_features_to_select=features, memory_limit=memory_limit, random_state=0, n_jobs=threads
    )
    model.fit(table.drop("y"), table["y"])
    seconds, read = perf_counter() - begin, table.read
    return {
        "seconds": seconds,
        "peak_gigabytes": _peak_gigabytes(),
        "file_gigabytes": table.n_bytes / 1e9,
        "sampled_gigabytes": read.sampling_bytes / 1e9,
        "read_beyond_the_sample_gigabytes": (read.n_bytes - read.sampling_bytes) / 1e9,
        "columns_read": len(read.whole_columns),
        "columns_selected": len(model.selected_features_),
        "stages": {stage: round(value, 2) for stage, value in model.timings_.items()},
    }


def from_memory(place: str, features: int | None, threads: int, n_rows: int) -> dict[str, Any]:
    """Read the first rows into memory and train on them."""
    from gtgbm import GTGBMClassifier, ParquetTable

    begin = perf_counter()
    table = ParquetTable(f"{place}/*.parquet").take(np.arange(n_rows))
    X, y = table.drop("y").encode()[0].in_memory(), table["y"]
    loaded = perf_counter()
    model = GTGBMClassifier(n_features_to_select=features, random_state=0, n_jobs=threads).fit(X, y)
    return {
        "seconds": perf_counter() - begin,
        "seconds_of_reading": loaded - begin,
        "peak_gigabytes": _peak_gigabytes(),
        "columns_selected": len(model.selected_features_),
        "stages": {stage: round(value, 2) for stage, value in model.timings_.items()},
    }


def _peak_gigabytes() -> float:
    status = Path("/proc/self/status").read_text(encoding="ascii")
    (peak,) = [line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")]
    return int(peak) * 1024 / 1e9


if __name__ == "__main__":
    main()
