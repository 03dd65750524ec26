"""Stability (Nogueira's measure) of the selected features over samples of the rows, for gtgbm and its peers.

Run it with::

    python -m benchmarks.quality.stability --data-dir DIR

It prints a table.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from measuring.data import whole
from measuring.data.whole import TableLoader
from measuring.environment import environment
from measuring.markdown import facts, number, table
from measuring.peers.gtgbm_models import stability_of
from measuring.selections import LABELS, Selections, settings

METHODS = ("gtgbm", "gain", "shap", "rfe-half", "rfe-fifth", "extra-trees")
TABLES: dict[str, tuple[TableLoader, int]] = {
    "madelon": (whole.from_source("madelon"), 1800),
    "pcmac": (whole.from_source("pcmac"), 1400),
    "digits, odd or even, and noisy copies": (whole.with_decoys(whole.digits, "corrupted"), 1000),
    "school and noisy copies": (whole.with_decoys(whole.school, "corrupted"), 6000),
}
SIZE, SAMPLES = 20, 20


def measure(data_dir: Path | None, methods: Sequence[str], n_samples: int) -> list[list[Any]]:
    """Return the stability of each method on each table."""
    rows = []
    for label, (load, n_train) in TABLES.items():
        whole_table, found = load(data_dir), []
        splits = [whole_table.split(seed, n_train, 1) for seed in range(n_samples)]
        for method in methods:
            chosen = []
            for seed, data in enumerate(splits):
                (choice,) = Selections(settings(100, 1, seed), data).choose(method, [SIZE])
                chosen.append(choice.columns)
            found.append(number(stability_of(chosen, splits[0].n_columns), 2))
            print(label, LABELS[method], found[-1], flush=True)
        rows.append([label, *found])
    return rows


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality.stability", description=__doc__)
    parser.add_argument("--data-dir", type=Path, help="folder of stored data sets")
    parser.add_argument("--samples", type=int, default=SAMPLES, help="samples of the rows of each table")
    arguments = parser.parse_args()
    rows = measure(arguments.data_dir, METHODS, arguments.samples)
    head = [f"{SIZE} features, {arguments.samples} samples", *(LABELS[method] for method in METHODS)]
    about = facts(environment(["gtgbm", "lightgbm", "scikit-learn"]))
    print(f"{table(head, rows)}\n\n{about}")


if __name__ == "__main__":
    main()
