"""Cross-validates an estimator with several numbers of features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sklearn.utils import check_random_state

from gtgbm.estimators import BaseGTGBM, PathRows, cross_validated, folds_of, selected_of_all
from gtgbm.selection import SelectionPath


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
    if not isinstance(estimator, BaseGTGBM):
        raise TypeError(
            f"estimator={type(estimator).__name__} is none of gtgbm: give an estimator such as "
            "GTGBMClassifier()"
        )
    rows = PathRows.of(estimator, X, y, sample_weight, qid, task)
    ascending = rows.bounds(estimator).sizes(sizes)
    folds = folds_of(cv, estimator, rows, groups, check_random_state(random_state))
    path = cross_validated(
        estimator, rows, ascending, folds, scoring=scoring, n_jobs=n_jobs, shown=verbose > 0
    )
    return replace(path, selected=selected_of_all(estimator, rows, ascending))
