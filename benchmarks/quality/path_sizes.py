"""Numbers of features that the selection path chooses, on tables whose number of relevant ones is known.

    python -m benchmarks.quality.path_sizes --data-dir DIR [--tables 20] [--splits 3] [--threads 1]

Generated tables tell how far the chosen size is from the truth. Stored tables, whose truth is not known,
tell what the choice costs on test rows against the best of all sizes, which favours the latter. Results are
kept in benchmarks/results/path_sizes.json, and go into docs/how-many-features.md, between marker lines.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from measuring.data import Data, whole
from measuring.data.whole import TableLoader
from measuring.environment import environment
from measuring.files import ROOT, write_json
from measuring.markdown import facts, table, write_between
from measuring.peers.gtgbm_models import estimator, selection_path
from measuring.selections import score

PAGE = ROOT / "docs" / "how-many-features.md"
RESULTS = ROOT / "benchmarks" / "results" / "path_sizes.json"
ROWS, COLUMNS, TREES, FOLDS = 2_000, 200, 100, 5
RELEVANT = (5, 15, 40)
FACTOR, MARGIN = 1.5, 0.003
"""How far a chosen size may be from the truth, and its test AUC from that of the best size."""
STORED: dict[str, tuple[TableLoader, int]] = {
    "madelon": (whole.from_source("madelon"), 1800),
    "gisette-like, 3,000 rows": (whole.from_source("gisette"), 3000),
}

INTRODUCTION = f"""## How good the choice is
Generated tables of {ROWS:,} rows and {COLUMNS} columns (numbers and two classes in turn; every third effect
saturates; noise of half the signal's standard deviation), and stored tables, whose sizes are compared on test
rows:"""


@dataclass(frozen=True)
class Known:
    """The chosen size of a generated table."""

    seed: int
    kind: str
    relevant: int
    best: int
    chosen: int

    @property
    def is_near(self) -> bool:
        """Whether the chosen size is within the factor of the truth."""
        return self.relevant / FACTOR <= self.chosen <= self.relevant * FACTOR


@dataclass(frozen=True)
class Tested:
    """Test scores of the sizes of a stored table, ascending, and the chosen size."""

    table: str
    split: int
    sizes: list[int]
    test_scores: list[float]
    chosen: int

    @property
    def behind(self) -> float:
        """By how much the best test score exceeds that of the chosen size."""
        return max(self.test_scores) - self.test_scores[self.sizes.index(self.chosen)]


def generated(seed: int, relevant: int) -> Data:
    """Return a table whose target depends on some of its columns; every second one has two classes."""
    rng = np.random.default_rng([seed, relevant])
    X = rng.normal(size=(ROWS, COLUMNS))
    columns = rng.permutation(COLUMNS)[:relevant]
    effects = rng.uniform(0.5, 1.5, relevant) * rng.choice([-1.0, 1.0], relevant)
    shaped = np.where(np.arange(relevant) % 3 == 0, np.tanh(2.0 * X[:, columns]), X[:, columns])
    signal = shaped @ effects
    y = signal + 0.5 * signal.std() * rng.normal(size=ROWS)
    X = X.astype(np.float32)
    if seed % 2:
        return Data(X, (y > np.median(y)).astype(np.int64), X[:0], y[:0].astype(np.int64), kind="binary")
    return Data(X, y, X[:0], y[:0], kind="regression")


def path_of(data: Data, threads: int, seed: int) -> Any:
    """Cross-validate the default sizes."""
    model = estimator("forward-backward", data.kind, n_estimators=TREES, n_jobs=threads, random_state=seed)
    return selection_path(model, data.X_train, data.y_train, cv=FOLDS, random_state=seed)


def known(n_tables: int, threads: int) -> Iterator[Known]:
    """Choose the size of generated tables."""
    for seed in range(n_tables):
        for relevant in RELEVANT:
            data = generated(seed, relevant)
            path = path_of(data, threads, seed)
            yield Known(seed, data.kind, relevant, path.best_size, path.one_se_size)


def tested(data_dir: Path | None, n_splits: int, threads: int) -> Iterator[Tested]:
    """Choose the size of stored tables, and test all sizes."""
    for name, (load, n_train) in STORED.items():
        stored = load(data_dir)
        for split in range(n_splits):
            data = stored.split(split, n_train, stored.y.shape[0] - n_train)
            path = path_of(data, threads, split)
            scores = [_test_score(data, path.features(size), threads) for size in path.sizes.tolist()]
            yield Tested(name, split, path.sizes.tolist(), scores, path.one_se_size)


def _test_score(data: Data, columns: Any, threads: int) -> float:
    """Score a model that is trained on some columns, as the models of a path are."""
    model = estimator(
        "exhaustive", data.kind, n_estimators=TREES, penalty=0.0, n_jobs=threads, random_state=0
    )
    model.fit(data.X_train[:, columns], data.y_train)
    return score(data, model.predict_proba(data.X_test[:, columns])[:, 1])


def tables(found: Sequence[Known], on_test: Sequence[Tested]) -> str:
    """Return the results as tables."""
    rows = []
    for relevant in RELEVANT:
        of_number = [one for one in found if one.relevant == relevant]
        chosen = np.array([one.chosen for one in of_number])
        near = sum(one.is_near for one in of_number)
        quartiles = " – ".join(f"{value:g}" for value in np.quantile(chosen, [0.25, 0.75]))
        rows.append([relevant, f"{np.median(chosen):g} ({quartiles})", f"{near} of {len(of_number)}"])
    head = ["relevant columns", "chosen size, median (quartiles)", f"within a factor {FACTOR} of the truth"]
    first = table(head, rows, numbers=True)
    rows = [
        [one.table, one.split, one.chosen, one.sizes[int(np.argmax(one.test_scores))], f"{one.behind:.4f}"]
        for one in on_test
    ]
    head = ["table", "split", "chosen size", "size with the best test AUC", "AUC behind it"]
    return f"{first}\n\n{table(head, rows)}"


def main() -> None:
    """Measure, print a line for each table, keep the results and write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality.path_sizes", description=__doc__)
    parser.add_argument("--data-dir", type=Path, help="folder of stored data sets")
    parser.add_argument("--tables", type=int, default=20, help="generated tables of each number")
    parser.add_argument("--splits", type=int, default=3, help="splits of each stored table")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    about = environment(("gtgbm", "numpy"))
    found, on_test = [], []
    for one in known(options.tables, options.threads):
        found.append(one)
        print(one, one.is_near, flush=True)
    for of_split in tested(options.data_dir, options.splits, options.threads):
        on_test.append(of_split)
        print(of_split, f"{of_split.behind:.4f}", flush=True)
    kept = {"known": [asdict(one) for one in found], "tested": [asdict(one) for one in on_test]}
    write_json(RESULTS, kept | {"environment": about})
    write_between(PAGE, "path sizes", f"{INTRODUCTION}\n\n{tables(found, on_test)}\n\n{facts(about)}.\n")


if __name__ == "__main__":
    main()
