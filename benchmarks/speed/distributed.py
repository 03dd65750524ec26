"""Fits on a Dask cluster of this machine: two workers against one, and against other libraries.

``python -m benchmarks.speed.distributed`` starts clusters of worker processes with one thread each, lets the
workers generate the rows, and prints for each fit its seconds, the processor seconds of all workers, and the
bytes that passed the loopback interface, also for each tree. `--only scaling` trains gtgbm with one worker
and with two, and xgboost with two for its traffic; `--only peers` trains gtgbm with a limit of features, and
lightgbm and xgboost on all columns and again on as many columns of the largest gain.
"""

from __future__ import annotations

import argparse
import json
import time
from importlib import import_module
from pathlib import Path
from time import perf_counter
from typing import Any

import dask.array as da
import numpy as np
from distributed import Client, LocalCluster, wait

from measuring.clusters import ClusterFit, ClusterTable
from measuring.environment import environment
from measuring.peers import gtgbm_models, lightgbm_models, xgboost_models

_INFORMATIVE = 15


def main() -> None:
    """Measure what is asked for, and print it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=("scaling", "peers"))
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--features", type=int, default=30)
    parser.add_argument("--scaling-size", type=int, nargs=2, default=(2_000_000, 200))
    parser.add_argument("--peers-size", type=int, nargs=2, default=(1_000_000, 500))
    parser.add_argument("--out", help="File for the result, besides printing it.")
    given = parser.parse_args()
    _import_libraries()
    result: dict[str, Any] = {"environment": environment(("gtgbm", "dask", "lightgbm", "xgboost"))}
    if given.only != "peers":
        result["scaling"] = _scaling(given.trees, *given.scaling_size)
    if given.only != "scaling":
        result["peers"] = _peers(given.trees, given.features, *given.peers_size)
    text = json.dumps(result, indent=2)
    print(text)
    if given.out:
        Path(given.out).write_text(text + "\n", encoding="utf-8")


def _scaling(n_trees: int, n_rows: int, n_columns: int) -> dict[str, Any]:
    """Compare two workers with one, and the traffic with that of xgboost."""
    one = measured(gtgbm_models.fit_cluster, 1, n_rows, n_columns, n_trees)
    two = measured(gtgbm_models.fit_cluster, 2, n_rows, n_columns, n_trees)
    peer = measured(xgboost_models.fit_cluster, 2, n_rows, n_columns, n_trees)
    return {
        "rows": n_rows,
        "columns": n_columns,
        "one_worker": one,
        "two_workers": two,
        "xgboost_two_workers": peer,
        "seconds_two_over_one": two["seconds"] / one["seconds"],
        "cpu_seconds_two_over_one": two["cpu_seconds"] / one["cpu_seconds"],
        "traffic_per_tree_over_xgboost": two["megabytes_per_tree"] / peer["megabytes_per_tree"],
    }


def _peers(n_trees: int, n_features: int, n_rows: int, n_columns: int) -> dict[str, Any]:
    """Compare with other libraries that select as many features by training twice."""
    fits: dict[str, ClusterFit] = {
        "gtgbm": gtgbm_models.fit_cluster,
        "lightgbm": lightgbm_models.fit_cluster,
        "xgboost": xgboost_models.fit_cluster,
    }
    found = {
        name: measured(fit, 2, n_rows, n_columns, n_trees, n_features, selects_itself=name == "gtgbm")
        for name, fit in fits.items()
    }
    ratios = {
        f"seconds_over_{name}": found["gtgbm"]["seconds"] / found[name]["seconds"]
        for name in ("lightgbm", "xgboost")
    }
    return {"rows": n_rows, "columns": n_columns, "features": n_features, **found, **ratios}


def measured(
    fit: ClusterFit,
    n_workers: int,
    n_rows: int,
    n_columns: int,
    n_trees: int,
    n_features: int | None = None,
    *,
    selects_itself: bool = True,
) -> dict[str, Any]:
    """Train on a cluster of its own, and return what it took.

    Parameters
    ----------
    n_features : int or None
        Features to select; None: no limit.
    selects_itself : bool
        False: the features are selected by a fit on all columns, after which there is a second one.
    """
    options = {"threads_per_worker": 1, "dashboard_address": None, "memory_limit": None}
    with LocalCluster(n_workers=n_workers, **options) as cluster, Client(cluster) as client:
        client.run(_import_libraries)  # which would count as a part of the first fit
        table = _generated(client, n_rows, n_columns, 4 * n_workers)
        cpu, traffic, begin = _cpu_seconds(client), _loopback_bytes(), perf_counter()
        trained = fit(table, n_trees, n_features if selects_itself else None)
        n_grown = trained.n_trees
        if not selects_itself:
            chosen = ClusterTable(client, table.X[:, trained.columns[:n_features]].rechunk({1: -1}), table.y)
            trained = fit(chosen, n_trees, None)
            n_grown += trained.n_trees
        seconds = perf_counter() - begin
        megabytes = (_loopback_bytes() - traffic) / 1e6
        return {
            "seconds": seconds,
            "cpu_seconds": _cpu_seconds(client) - cpu,
            "megabytes": megabytes,
            "megabytes_per_tree": megabytes / n_grown,
            "trees": n_grown,
            "columns_used": len(trained.columns),
        }


def _import_libraries() -> None:
    """Import what fits need."""
    for name in ("gtgbm.distributed.dask", "lightgbm.dask", "xgboost.dask"):
        import_module(name)


def _generated(client: Client, n_rows: int, n_columns: int, n_parts: int) -> ClusterTable:
    """Let workers generate rows of independent normal columns, of which some matter."""
    bounds = np.linspace(0, n_rows, n_parts + 1).astype(int)
    chunks = tuple(np.diff(bounds).tolist())
    X = da.map_blocks(
        _rows, chunks=(chunks, (n_columns,)), dtype=np.float32, meta=np.empty((0, 0), np.float32)
    )
    X = client.persist(X)
    y = client.persist(X.map_blocks(_labels, dtype=np.int64, drop_axis=1))
    wait([X, y])
    return ClusterTable(client, X, y)


def _rows(block_info: Any) -> Any:
    place = block_info[None]
    rng = np.random.default_rng(place["chunk-location"][0])
    return rng.standard_normal(place["chunk-shape"], dtype=np.float32)


def _labels(X: Any) -> Any:
    signal = X[:, :_INFORMATIVE].sum(axis=1) + X[:, 0] * X[:, 1]
    noise = np.random.default_rng(int(abs(X[0, 0]) * 1e6)).standard_normal(X.shape[0])
    return (signal + 2.0 * noise > 0).astype(np.int64)


def _cpu_seconds(client: Client) -> float:
    """Return the processor seconds of all workers so far."""
    return float(sum(client.run(time.process_time).values()))


def _loopback_bytes() -> int:
    """Return the bytes that the loopback interface has received so far."""
    lines = Path("/proc/net/dev").read_text(encoding="ascii").splitlines()
    (loopback,) = (line for line in lines if line.strip().startswith("lo:"))
    return int(loopback.split(":")[1].split()[0])


if __name__ == "__main__":
    main()
