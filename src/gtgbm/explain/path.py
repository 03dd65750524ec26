"""The selection path: cross-validated score against the number of features."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from sklearn.utils import check_random_state

from gtgbm.boosting import tracked
from gtgbm.exact import F64, I64
from gtgbm.explain.path_folds import PathRows, folds_of
from gtgbm.explain.path_scores import Scoring

_LARGEST = 85
"""Largest size by default, if the table has more columns."""
_STEP = 4 / 3
"""Ratio of a size to the next smaller one by default."""


class PathSize(NamedTuple):
    """One size of a path; `mark` says if it is the best or the smallest within one standard error."""

    size: int
    mean_score: float
    std_error: float
    stability: float
    mark: str
    names: list[str]


@dataclass(frozen=True)
class SelectionPath:
    """Cross-validated score of models of several sizes, that is numbers of features.

    Attributes
    ----------
    sizes : ndarray of int64, shape (s,)
        Ascending.
    fold_scores : ndarray of float64, shape (folds, s)
        Score of each part of the cross-validation; greater is better.
    scoring : str
        What the score is.
    selection_frequency : ndarray of float64, shape (s, d)
        Share of the folds whose model of a size selects a column.
    feature_names : list of str, length d
    selected : list of ndarray of int64
        Columns that are selected from all rows for each size, in table order.
    """

    sizes: I64
    fold_scores: F64
    scoring: str
    selection_frequency: F64
    feature_names: list[str]
    selected: list[I64]

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
    def stability(self) -> F64:
        """How much the features of a size agree over the folds, shape (s,): 1 always, 0 as by chance.

        The measure is that of Nogueira, Sechidis and Brown ("On the stability of feature selection
        algorithms", 2018); NaN if all columns or none are selected.
        """
        n_folds, d = self.fold_scores.shape[0], self.selection_frequency.shape[1]
        share = self.selection_frequency
        variance = (n_folds / (n_folds - 1) * share * (1.0 - share)).mean(axis=1)
        mean = share.sum(axis=1) / d
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(mean * (1.0 - mean) > 0.0, 1.0 - variance / (mean * (1.0 - mean)), np.nan)

    def features(self, size: int) -> I64:
        """Return the columns that are selected from all rows for a size, in table order."""
        return self.selected[self._position(size)].copy()

    def names(self, size: int) -> list[str]:
        """Return the names of the columns that are selected from all rows for a size."""
        return [self.feature_names[column] for column in self.features(size)]

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
        return [PathSize(*of_size, marks.get(of_size[0], ""), self.names(of_size[0])) for of_size in figures]

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
        # Plots stand above explanations and need matplotlib, which is optional.
        from importlib import import_module

        return import_module("gtgbm.plots").SelectionPathDisplay.from_path(self, ax=ax)

    def _position(self, size: int) -> int:
        found = np.flatnonzero(self.sizes == size)
        if found.shape[0] == 0:
            raise ValueError(f"size={size} is not one of the sizes of the path: {self.sizes.tolist()}")
        return int(found[0])


def selection_path(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    cv: Any = 5,
    sizes: Sequence[int] | None = None,
    scoring: Any = None,
    sample_weight: Any = None,
    groups: Any = None,
    n_jobs: int | None = None,
    random_state: Any = None,
    qid: Any = None,
    task: Any = None,
    verbose: int = 0,
) -> SelectionPath:
    """Cross-validate an estimator with several numbers of features.

    In each fold, one forward phase and one backward phase select the features of all sizes.

    Parameters
    ----------
    estimator : estimator of this package
        Its ``n_features_to_select`` is replaced by the sizes; all its other parameters hold.
    X : array-like or sparse matrix, shape (n, d), or dataframe
    y : array-like, shape (n,), or (n, T) for one target column per task
    cv : int, splitter of scikit-learn or iterable of (training rows, held-out rows), default 5
        A number of folds means shuffled folds, of classifiers with equal shares of each class. Rows of the
        same group or query stay together.
    sizes : sequence of int, optional
        By default about 15 sizes from 1 to 85, each a third larger than the one before.
    scoring : str or callable, optional
        A metric of ``gtgbm.metrics``, a scorer of scikit-learn or its name. By default AUC for two classes,
        the log loss for more, R² for numbers, NDCG@10 for rankings. Losses and errors are negated, so that
        greater is better.
    sample_weight : array-like, shape (n,), optional
        Weights for training and scoring.
    groups : array-like, shape (n,), optional
        Given to the splitter.
    n_jobs : int, optional
        Processes that share the folds. Each fit uses as many threads as the estimator's ``n_jobs`` says.
    random_state : int, RandomState or None
        Shuffles the rows if `cv` is a number.
    qid : array-like, shape (n,)
        Query of each row, for rankers only.
    task : array-like, shape (n,)
        Task of each row, for multitask estimators with one target per row only.
    verbose : int
        1 shows a progress bar of the folds.

    Returns
    -------
    SelectionPath
    """
    rows = PathRows.of(estimator, X, y, sample_weight, qid, task)
    descending = _checked_sizes(sizes, rows.n_columns)[::-1]
    judged = Scoring(scoring)
    folds = list(folds_of(cv, estimator, rows, groups, check_random_state(random_state)))
    if len(folds) < 2:
        raise ValueError(f"cv={cv!r} has {len(folds)} folds: a standard error needs at least 2")
    jobs = Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(_fold)(estimator, rows, descending, judged, train, test) for train, test in folds
    )
    found = list(tracked(jobs, "folds", len(folds), shown=verbose > 0))
    of_all = rows.fitted(estimator, descending)
    frequency = np.zeros((len(descending), rows.n_columns))
    for _, selected in found:
        for k, columns in enumerate(selected):
            frequency[k, columns] += 1.0 / len(folds)
    scores = np.array([of_fold for of_fold, _ in found])
    return SelectionPath(
        sizes=np.array(descending[::-1], dtype=np.int64),
        fold_scores=scores[:, ::-1],
        scoring=judged.name(of_all[0], rows),
        selection_frequency=frequency[::-1],
        feature_names=rows.names,
        selected=[model.selected_features_ for model in of_all[::-1]],
    )


def _fold(
    estimator: Any, rows: PathRows, sizes: Sequence[int], scoring: Scoring, train: I64, test: I64
) -> tuple[list[float], list[I64]]:
    """Return score and columns for each size, in one fold."""
    models = rows.at(train).fitted(estimator, sizes)
    held_out = rows.at(test)
    return [scoring(model, held_out) for model in models], [model.selected_features_ for model in models]


def _checked_sizes(sizes: Sequence[int] | None, n_columns: int) -> list[int]:
    """Return the sizes in ascending order, each once."""
    if sizes is None:
        return list(_default_sizes(min(n_columns, _LARGEST)))
    asked = np.asarray(sizes)
    if asked.ndim != 1 or asked.shape[0] == 0 or asked.dtype.kind not in "iu":
        raise ValueError(f"sizes={sizes!r} must be a list of whole numbers, such as [5, 10, 20]")
    wrong = asked[(asked < 1) | (asked > n_columns)]
    if wrong.shape[0]:
        raise ValueError(
            f"sizes has {wrong[0]}, but X has {n_columns} columns: give numbers from 1 to {n_columns}"
        )
    return [int(size) for size in np.unique(asked)]


def _default_sizes(largest: int) -> Iterator[int]:
    size = 1
    while size <= largest:
        yield size
        size = max(size + 1, round(size * _STEP))
