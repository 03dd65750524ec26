"""Tables of several tasks: rows to train on and to test with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from measuring.data.sources import stored_arrays
from measuring.data.stored import AMAZON, AMAZON_WORDS, word_counts

SHARED, OWN, COLUMNS = 10, 5, 300
SIZES = {"large": 20_000, "middle": 2_000, "small": 300}
_TRAINED = 2000
"""Rows of each kind of goods to train on, as many as the split that comes with the data has."""


@dataclass(frozen=True)
class Rows:
    """Rows in the long form, one task each."""

    X: Any
    y: NDArray[Any]
    task: NDArray[Any]

    def at(self, which: NDArray[np.bool_]) -> Rows:
        """Take some of them."""
        return Rows(self.X[which], self.y[which], self.task[which])

    def parts(self) -> tuple[Any, NDArray[Any], NDArray[Any]]:
        """Table, targets and tasks, as `compare_tasks` takes them."""
        return self.X, self.y, self.task


def generated(seed: int) -> tuple[Rows, Rows]:
    """Three tasks of very different sizes: 10 features matter to all, 5 more to each; signs by task."""
    rng = np.random.default_rng(seed)
    weight = {task: rng.choice([-1.0, 1.0], SHARED + OWN) for task in SIZES}
    parts = []
    for is_train in (True, False):
        X, y, task = [], [], []
        for name, size in SIZES.items():
            rows = rng.normal(size=(size if is_train else 4000, COLUMNS))
            signal = rows[:, [*range(SHARED), *own_features(name)]] @ weight[name]
            X.append(rows)
            y.append(signal + rng.normal(size=rows.shape[0]) > 0)
            task.append(np.full(rows.shape[0], name))
        parts.append(Rows(np.vstack(X), np.concatenate(y), np.concatenate(task)))
    return parts[0], parts[1]


def own_features(name: str) -> range:
    """Columns that matter to one task of `generated` alone."""
    first = SHARED + OWN * list(SIZES).index(name)
    return range(first, first + OWN)


def generated_dense() -> Rows:
    """Four tasks of 40,000 rows."""
    rng = np.random.default_rng(0)
    X, task = rng.normal(size=(160_000, 100)), np.repeat(np.arange(4), 40_000)
    signal = X[:, :10].sum(axis=1) + X[np.arange(160_000), 10 + task]
    return Rows(X, signal + rng.normal(size=160_000) > 0, task)


def generated_targets() -> tuple[Any, Any]:
    """Twelve targets of the same rows, a quarter of them unknown."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(8000, 800)).astype(np.float32)
    signal = X[:, :10] @ rng.normal(size=(10, 12)) + rng.normal(size=(8000, 12))
    return X, np.where(rng.random(signal.shape) < 0.25, np.nan, signal > 0)


def amazon(data_dir: Path, seed: int) -> tuple[Rows, Rows]:
    """Good or bad reviews of four kinds of goods, word counts; 2,000 reviews of each to train on."""
    with stored_arrays(data_dir, AMAZON, *AMAZON_WORDS, "y", "task", "task_names") as arrays:
        names = arrays["task_names"]
        rows = Rows(word_counts(arrays), arrays["y"] > 0, names[arrays["task"]])
    rng, train = np.random.default_rng(seed), np.zeros(rows.y.shape[0], dtype=np.bool_)
    for name in names:
        train[rng.choice(np.flatnonzero(rows.task == name), _TRAINED, replace=False)] = True
    return rows.at(train), rows.at(~train)


def school(data_dir: Path, seed: int) -> tuple[Rows, Rows]:
    """Exam scores of 139 schools; a fifth of the rows to test with."""
    with stored_arrays(data_dir, "school", "X", "y", "task") as arrays:
        rows = Rows(arrays["X"], arrays["y"] * 1.0, arrays["task"])
    test = drawn(rows.y.shape[0], 0.2, seed)
    return rows.at(~test), rows.at(test)


def drawn(n_rows: int, share: float, seed: int) -> NDArray[np.bool_]:
    """Draw a share of rows."""
    is_drawn: NDArray[np.bool_] = np.random.default_rng(seed).random(n_rows) < share
    return is_drawn
