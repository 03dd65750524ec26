"""The rows of a selection path, and how they are divided into folds."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold, check_cv
from sklearn.utils import _safe_indexing, check_consistent_length
from sklearn.utils.multiclass import type_of_target

from gtgbm.data import EncodedFrame, ParquetNumbers, ParquetTable
from gtgbm.estimators.rows_of_tasks import numbered
from gtgbm.estimators.size_bounds import SizeBounds
from gtgbm.estimators.tables import read_table
from gtgbm.exact import I64

_PER_ROW = ("y", "sample_weight", "qid", "task")


@dataclass(frozen=True)
class PathRows:
    """A table, its targets and what else is known of its rows; see ``selection_path``."""

    X: Any
    y: Any
    sample_weight: Any = None
    qid: Any = None
    task: Any = None

    @classmethod
    def of(cls, estimator: Any, X: Any, y: Any, sample_weight: Any, qid: Any, task: Any) -> PathRows:
        """Check that all arguments fit together."""
        if (qid is None) == estimator._ranks:
            wanted = "needs qid, the query of each row" if estimator._ranks else "takes no qid: leave it out"
            raise ValueError(f"{type(estimator).__name__} {wanted}")
        if task is not None and "n_features_per_task" not in estimator.get_params():
            raise ValueError(f"{type(estimator).__name__} takes no task: leave it out")
        if isinstance(getattr(X, "table", X), ParquetNumbers | ParquetTable):
            raise TypeError(
                "a path over numbers of features, as n_features_to_select='auto' needs it, trains on all "
                "columns in memory, and X is a ParquetTable: give a number of features, or a dataframe"
            )
        if not isinstance(X, EncodedFrame) and not hasattr(X, "shape"):
            X = np.asarray(X)
        rows = cls(X, *(None if one is None else _array(one) for one in (y, sample_weight, qid, task)))
        check_consistent_length(rows._values, *(getattr(rows, name) for name in _PER_ROW))
        return rows

    @property
    def _values(self) -> Any:
        return self.X.table if isinstance(self.X, EncodedFrame) else self.X

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self._values.shape[0])

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return int(self._values.shape[1])

    @property
    def names(self) -> list[str] | int:
        """Names of the columns, or their number if they have none."""
        if isinstance(self.X, EncodedFrame):
            return [str(column.name) for column in self.X.schema.columns]
        columns = getattr(self.X, "columns", getattr(self.X, "column_names", None))
        return self.n_columns if columns is None else [str(one) for one in columns]

    def at(self, rows: I64) -> PathRows:
        """Return some of the rows."""
        others = {name: getattr(self, name) for name in _PER_ROW}
        return replace(
            self,
            X=_rows_of(self.X, rows),
            **{name: None if one is None else one[rows] for name, one in others.items()},
        )

    def bounds(self, estimator: Any) -> SizeBounds:
        """Return how many features a model of this table can have."""
        reader = clone(estimator)
        read_table(reader, self.X, reset=True)
        bounds: SizeBounds = reader._size_bounds(reader.n_features_in_)
        return bounds

    def fitted(self, estimator: Any, sizes: Sequence[int]) -> list[Any]:
        """Return an estimator for each size, fitted to these rows."""
        others = {"sample_weight": self.sample_weight, "qid": self.qid, "task": self.task}
        given = {name: value for name, value in others.items() if value is not None}
        models: list[Any] = estimator._fit_sizes(sizes, self.X, self.y, **given)
        return models


def _rows_of(X: Any, rows: I64) -> Any:
    if isinstance(X, EncodedFrame):
        return replace(X, table=X.table[rows])
    return _safe_indexing(X.tocsr() if hasattr(X, "tocsr") else X, rows)


def _array(values: Any) -> Any:
    return values.to_numpy() if hasattr(values, "to_numpy") else np.asarray(values)


def folds_of(
    cv: Any, estimator: Any, rows: PathRows, groups: Any, rng: np.random.RandomState
) -> list[tuple[I64, I64]]:
    """Divide the rows into training rows and held-out rows, several times."""
    y = rows.y
    if groups is None:
        groups = rows.qid
    elif rows.qid is not None:
        _check_queries_together(rows.qid, _array(groups))
    if not isinstance(cv, (int, np.integer)) or isinstance(cv, bool):
        splitter = check_cv(cv, rows.y, classifier=is_classifier(estimator))
    elif groups is not None:
        splitter = GroupKFold(int(cv), shuffle=True, random_state=rng)
    elif (strata := _strata(estimator, rows)) is not None:
        splitter, y = StratifiedKFold(int(cv), shuffle=True, random_state=rng), strata
    else:
        splitter = KFold(int(cv), shuffle=True, random_state=rng)
    with warnings.catch_warnings():
        # A splitter that knows no groups may still keep queries together: that is checked below.
        warnings.filterwarnings("ignore", "The groups parameter is ignored", UserWarning)
        folds = list(splitter.split(np.zeros((rows.n_rows, 1)), y, groups))
    if len(folds) < 2:
        raise ValueError(f"cv={cv!r} has {len(folds)} folds: a standard error needs at least 2")
    for train, test in folds:
        if rows.qid is not None and np.intersect1d(rows.qid[train], rows.qid[test]).shape[0]:
            raise ValueError(
                f"cv={cv!r} divides a query between training rows and held-out rows: give a number of folds, "
                "or a splitter of groups, whose groups are the queries"
            )
    return [(np.asarray(train), np.asarray(test)) for train, test in folds]


def _strata(estimator: Any, rows: PathRows) -> I64 | None:
    """Return what each fold has equal shares of: classes, tasks, or classes of tasks; None: nothing."""
    has_classes = is_classifier(estimator) and type_of_target(rows.y) in ("binary", "multiclass")
    classes = numbered(rows.y)[1] if has_classes else None
    if rows.task is None or np.ndim(rows.y) != 1:
        return classes
    names, task = numbered(rows.task)
    return task if classes is None else classes * len(names) + task


def _check_queries_together(qid: Any, groups: Any) -> None:
    _, number = np.unique(qid, return_inverse=True)
    _, group = np.unique(groups, return_inverse=True)
    if np.unique(np.stack([number, group]), axis=1).shape[1] > number.max() + 1:
        raise ValueError("groups divides a query: all rows of a query must be of one group")
