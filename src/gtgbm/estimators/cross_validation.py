"""Cross-validates models of several sizes, that is numbers of features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from gtgbm.boosting import tracked
from gtgbm.estimators.path_rows import PathRows
from gtgbm.estimators.path_scores import Scoring
from gtgbm.exact import I64
from gtgbm.selection import SelectionPath

FOLDS = 5
"""Folds by default."""
Folds = Sequence[tuple[I64, I64]]
"""Training rows and held-out rows, several times."""


def cross_validated(
    estimator: Any,
    rows: PathRows,
    sizes: Sequence[int],
    folds: Folds,
    *,
    scoring: Any = None,
    n_jobs: int | None = None,
    shown: bool = False,
) -> SelectionPath:
    """Score models of several sizes on rows that neither their features nor their trees have seen.

    Parameters
    ----------
    estimator : estimator of this package
    sizes : sequence of int
        In ascending order.
    shown : bool
        Whether to show a progress bar of the folds.

    Returns
    -------
    SelectionPath
        Without the features that are selected from all rows.
    """
    descending, judged = sizes[::-1], Scoring(scoring)
    jobs = Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(_fold)(estimator, rows, descending, judged, train, test) for train, test in folds
    )
    found = list(tracked(jobs, "folds", len(folds), shown=shown))
    fold_scores = np.array([scores[::-1] for scores, _, _ in found])
    if np.isnan(fold_scores).any():
        fold = int(np.flatnonzero(np.isnan(fold_scores).any(axis=1))[0])
        raise ValueError(
            f"{found[0][2]} is not defined for the held-out rows of fold {fold + 1} of {len(folds)}, for "
            "instance because all of them are of one class: give more rows, fewer folds, or another scoring"
        )
    return SelectionPath(
        sizes=np.array(sizes, dtype=np.int64),
        fold_scores=fold_scores,
        fold_features=[features[::-1] for _, features, _ in found],
        scoring=found[0][2],
        column_names=rows.names,
        selected={},
    )


def selected_of_all(estimator: Any, rows: PathRows, sizes: Sequence[int]) -> Mapping[int, I64]:
    """Return the columns that are selected from all rows, by size; sizes are in ascending order."""
    descending = sizes[::-1]
    models = rows.fitted(estimator, descending)
    return {size: model.selected_features_ for size, model in zip(descending, models, strict=True)}


def _fold(
    estimator: Any, rows: PathRows, sizes: Sequence[int], scoring: Scoring, train: I64, test: I64
) -> tuple[list[float], list[I64], str]:
    """Return score and columns for each size in one fold, and what the score is."""
    models = rows.at(train).fitted(estimator, sizes)
    held_out = rows.at(test)
    scores = [scoring(model, held_out) for model in models]
    return scores, [model.selected_features_ for model in models], scoring.name(models[0], held_out)
