"""Tables of several tasks: rows to train on and to test with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

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


def amazon(data_dir: Path, seed: int) -> tuple[Rows, Rows]:
    """Good or bad reviews of four kinds of goods, word counts; 2,000 reviews of each to train on."""
    z = np.load(data_dir / "amazon4_multidomain" / "data.npz")
    X = csr_matrix((z["X_data"], z["X_indices"], z["X_indptr"]), shape=z["X_shape"]).astype(np.float32)
    rows = Rows(X, z["y"] > 0, z["task_names"][z["task"]])
    rng, train = np.random.default_rng(seed), np.zeros(rows.y.shape[0], dtype=np.bool_)
    for name in z["task_names"]:
        train[rng.choice(np.flatnonzero(rows.task == name), _TRAINED, replace=False)] = True
    return rows.at(train), rows.at(~train)


def school(data_dir: Path, seed: int) -> tuple[Rows, Rows]:
    """Exam scores of 139 schools; a fifth of the rows to test with."""
    z = np.load(data_dir / "school" / "data.npz")
    rows = Rows(z["X"], z["y"] * 1.0, z["task"])
    test = drawn(rows.y.shape[0], 0.2, seed)
    return rows.at(~test), rows.at(test)


def drawn(n_rows: int, share: float, seed: int) -> NDArray[np.bool_]:
    """Draw a share of rows."""
    is_drawn: NDArray[np.bool_] = np.random.default_rng(seed).random(n_rows) < share
    return is_drawn
