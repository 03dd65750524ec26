"""The selection path: cross-validated score against the number of features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gtgbm.exact import F64, I64


class PathSize(NamedTuple):
    """One size of a path; `mark` says if it is the best or the smallest within one standard error."""

    size: int
    mean_score: float
    std_error: float
    stability: float
    mark: str


@dataclass(frozen=True)
class SelectionPath:
    """Cross-validated score of models of several sizes, that is numbers of features.

    Attributes
    ----------
    sizes : ndarray of int64, shape (s,)
        Ascending.
    fold_scores : ndarray of float64, shape (folds, s)
        Score of each part of the cross-validation; greater is better.
    fold_features : list of list of ndarray of int64
        Columns that are selected in each fold for each size, in table order.
    scoring : str
        What the score is.
    column_names : sequence of str, or int
        Names of the columns, or their number if they have none.
    selected : mapping of int to ndarray of int64
        Columns that are selected from all rows, by size, in table order.
    """

    sizes: I64
    fold_scores: F64
    fold_features: Sequence[Sequence[I64]]
    scoring: str
    column_names: Sequence[str] | int
    selected: Mapping[int, I64]

    @property
    def mean_score(self) -> F64:
        """Mean score over the folds, shape (s,)."""
        return np.asarray(self.fold_scores.mean(axis=0))

    @property
    def std_error(self) -> F64:
        """Standard error of the mean score, shape (s,)."""
        n_folds = self.fold_scores.shape[0]
        return np.asarray(self.fold_scores.std(axis=0, ddof=1) / np.sqrt(n_folds))

    @property
    def best_size(self) -> int:
        """The size with the highest mean score, of equal ones the smallest."""
        return int(self.sizes[np.argmax(self.mean_score)])

    @property
    def one_se_size(self) -> int:
        """The smallest size whose mean score is within one standard error of the best.

        The standard error is that of the difference between both, fold by fold: folds differ by much more
        than sizes do.
        """
        best = int(np.argmax(self.mean_score))
        behind = self.fold_scores[:, [best]] - self.fold_scores
        n_folds = behind.shape[0]
        error = behind.std(axis=0, ddof=1) / np.sqrt(n_folds)
        return int(self.sizes[np.argmax(behind.mean(axis=0) <= error)])

    @property
    def n_columns(self) -> int:
        """Number of columns of the table, d."""
        return self.column_names if isinstance(self.column_names, int) else len(self.column_names)

    @property
    def feature_names(self) -> list[str]:
        """Names of the columns, ``x0`` and so on if they have none."""
        return [self._name(column) for column in range(self.n_columns)]

    @property
    def selection_frequency(self) -> F64:
        """Share of the folds whose model of a size selects a column, shape (s, d)."""
        counts = np.zeros((self.sizes.shape[0], self.n_columns))
        for of_fold in self.fold_features:
            for of_size, columns in zip(counts, of_fold, strict=True):
                of_size[columns] += 1.0
        return counts / len(self.fold_features)

    @property
    def stability(self) -> F64:
        """How much the features of a size agree over the folds, shape (s,); see `stability_of`."""
        by_size = zip(*self.fold_features, strict=True)
        return np.array([stability_of(sets, self.n_columns) for sets in by_size])

    def features(self, size: int) -> I64:
        """Return the columns that are selected from all rows for a size, in table order."""
        if size not in self.sizes:
            raise ValueError(f"size={size} is not one of the sizes of the path: {self.sizes.tolist()}")
        if size not in self.selected:
            raise ValueError(
                f"size={size}: n_features_to_select='auto' selects from all rows only for the size that it "
                "chose, selected_features_; call selection_path for the features of all sizes"
            )
        return self.selected[size].copy()

    def names(self, size: int) -> list[str]:
        """Return the names of the columns that are selected from all rows for a size."""
        return [self._name(column) for column in self.features(size).tolist()]

    def rows(self) -> list[PathSize]:
        """Return the figures of each size, ascending."""
        marks = {self.one_se_size: "within one standard error", self.best_size: "best"}
        figures = zip(
            self.sizes.tolist(),
            self.mean_score.tolist(),
            self.std_error.tolist(),
            self.stability.tolist(),
            strict=True,
        )
        return [PathSize(*of_size, marks.get(of_size[0], "")) for of_size in figures]

    def verdict(self) -> str:
        """Say in a sentence how many features are enough."""
        best, enough = self.best_size, self.one_se_size
        at = dict(zip(self.sizes.tolist(), self.mean_score.tolist(), strict=True))
        if best == enough:
            return f"{best} features have the best {self.scoring}, {at[best]:.4g}; fewer are worse."
        return (
            f"{enough} features are within one standard error of the best, {best} "
            f"({self.scoring} {at[enough]:.4g} against {at[best]:.4g})."
        )

    def plot(self, ax: Any = None) -> Any:
        """Draw the path; returns a ``gtgbm.plots.SelectionPathDisplay``."""
        # Plots stand above and need matplotlib, which is optional.
        from importlib import import_module

        return import_module("gtgbm.plots").SelectionPathDisplay.from_path(self, ax=ax)

    def _name(self, column: int) -> str:
        return f"x{column}" if isinstance(self.column_names, int) else str(self.column_names[column])


def stability_of(sets: Sequence[I64] | Sequence[Sequence[int]], n_columns: int) -> float:
    """Return how much sets of columns agree: 1 if all are equal, 0 if they agree as by chance.

    The measure is that of Nogueira, Sechidis and Brown ("On the stability of feature selection algorithms",
    2018); NaN if all columns or none are selected.
    """
    counts = np.zeros(n_columns, dtype=np.int64)
    for columns in sets:
        counts[np.asarray(columns, dtype=np.int64)] += 1
    share = counts / len(sets)
    mean = float(share.mean())
    if not 0.0 < mean < 1.0:
        return float("nan")
    variance = float((share * (1.0 - share)).mean()) * len(sets) / (len(sets) - 1)
    return 1.0 - variance / (mean * (1.0 - mean))
