"""Predictions of model files with numpy alone: an import takes a fraction of a second, and little memory.

``load`` reads a model file that ``save_model`` wrote. Predictions are those of the estimator, bit for bit.
"""

from __future__ import annotations

import datetime
import json
import math
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gtgbm import _core

if TYPE_CHECKING:
    from gtgbm.exact import F64, I64

__all__ = ["ServedModel", "load"]

_VERSION = 1
"""Version of the format of model files that can be read."""
_UNSEEN = -1.0
"""Code of a category that no tree asks for."""
_POOL = _core.Pool(1)
# Names instead of classes of gtgbm.losses, whose import would take longer than reading a model.
_LOGARITHMIC = ("poisson", "tweedie", "Poisson", "Tweedie")
"""Losses whose scores are logarithms, as names or as classes."""


def load(path: str | PathLike[str]) -> ServedModel:
    """Read a model file for predictions.

    Parameters
    ----------
    path : str or path
        A file that ``save_model`` or ``gtgbm fit`` wrote. Reading it runs no code from it.

    Returns
    -------
    ServedModel
    """
    try:
        content = json.loads(Path(path).read_bytes())
        if content["format"] != "gtgbm" or content["version"] > _VERSION:
            raise ValueError(f"its format is {content['format']!r}, version {content['version']!r}")
        return ServedModel(content)
    except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError) as error:
        raise ValueError(
            f"{path} is not a model file that this version of gtgbm can serve: {error}"
        ) from error


class ServedModel:
    """The trees of a model file; immutable, and usable in several threads at once.

    ``X`` is an array of shape (n, K) with the columns `features` in this order, or of shape (K,) for a single
    row; a mapping from names to values for a single row; or a list of such mappings. Text and missing values
    (None, NaN) are understood in mappings only.

    Parameters
    ----------
    content : dict
        The content of a model file.

    Attributes
    ----------
    features : ndarray of int64, shape (K,)
        Columns of the training table that trees ask for.
    feature_names : list of str, or None
        Their names, if the training table had any.
    classes : ndarray or None
        Labels of a classifier.
    tasks : list or None
        Ids of the tasks of a multitask model.
    """

    def __init__(self, content: Mapping[str, Any]) -> None:
        kinds = content["kinds"] or {}
        tasks, parts = content["tasks"], content["parts"]
        self.tasks: list[Any] | None = None if tasks is None else list(tasks["names"])
        n_features = int(content["n_features"])
        used = {column for part in parts for tree in part["trees"] for column in tree["feature"]}
        # The trees of method="single-task" ask for the task as well, in an additional last column.
        self._reads_task = tasks is not None and content["parameters"].get("method") == "single-task"
        self.features: I64 = np.array(sorted(used - {-1, n_features}), dtype=np.int64)
        names = content["feature_names"]
        columns = self.features.tolist()
        self.feature_names = None if names is None else [names[k] for k in columns]
        self._codes: list[dict[str, float] | None] = [
            {} if kinds.get(str(k)) == "category" else None for k in columns
        ]
        position = {column: k for k, column in enumerate([*columns, n_features])}
        forests = [_Forest(part, position, self._codes) for part in parts]
        self._forests = forests * len(self.tasks) if self.tasks and self._reads_task else forests
        self._by_column = tasks is not None and bool(tasks["by_column"])
        self.classes: NDArray[Any] | None = None
        self._n_scores = 1
        if content["classes"] is not None:
            self.classes = np.array(content["classes"]["labels"])
            self._n_scores = 1 if self.classes.shape[0] == 2 else self.classes.shape[0]
        # Positions of the classes of each task, if tasks have different classes.
        classes = None if tasks is None else tasks.get("classes")
        self._positions: list[I64] = [np.arange(self._n_scores)] * len(self._forests)
        if classes is not None:
            self._positions = [np.array(of_task, dtype=np.int64) for of_task in classes]
        self._check_parts()
        loss = content["parameters"].get("loss")
        self._loss = loss["loss"] if isinstance(loss, dict) else loss

    def _check_parts(self) -> None:
        """Raise a ValueError unless classes, tasks and trees fit together, as predictions rely on."""
        if self.classes is not None and (self.classes.ndim != 1 or self.classes.shape[0] < 2):
            raise ValueError("its classes are not two labels or more")
        n_parts = 1 if self.tasks is None else len(self.tasks)
        if not len(self._forests) == len(self._positions) == n_parts:
            raise ValueError(f"it has {len(self._forests)} parts for {n_parts} tasks")
        for forest, positions in zip(self._forests, self._positions, strict=True):
            own = positions.shape[0] if positions.ndim == 1 else 0
            if own == 0 or positions.min() < 0 or positions.max() >= self._n_scores:
                raise ValueError("a task has classes that the model does not have")
            if forest.n_scores != (1 if own == 2 else own):
                raise ValueError(f"a part has {forest.n_scores} scores for {own} classes")

    def predict(self, X: Any, task: Any = None) -> Any:
        """Predict classes, numbers, or the scores of a ranker.

        Parameters
        ----------
        X : array-like, shape (n, K) or (K,), mapping, or list of mappings
        task : object or sequence of them, optional
            The task of all rows, or of each.

        Returns
        -------
        ndarray, shape (n,), or (n, T) for one target column per task; one dimension less for a single row
        """
        table, is_row = self._table(X)
        scores = self._scores(table, task)
        if self.classes is None:
            predicted: Any = _exp(scores[0]) if self._loss in _LOGARITHMIC else scores[0]
        elif self._n_scores > 1:
            predicted = self.classes[np.argmax(scores, axis=0)]
        else:
            limit = 0.5 if self._loss == "squared_error" else 0.0
            predicted = self.classes[(scores[0] > limit).astype(np.int64)]
        return predicted[0] if is_row else predicted

    def predict_proba(self, X: Any, task: Any = None) -> F64:
        """Predict the probability of each class, in the order of `classes`.

        Parameters
        ----------
        X : array-like, shape (n, K) or (K,), mapping, or list of mappings
        task : object or sequence of them, optional
            The task of all rows, or of each.

        Returns
        -------
        ndarray of float64, shape (n, classes), or (n, T, classes) for one target column per task
            Classes that a task does not have are 0. For the same two classes of all tasks, (n, T): the
            probabilities of the second class. One dimension less for a single row.
        """
        if self.classes is None:
            raise ValueError("predict_proba is for classifiers, this model predicts numbers: use predict")
        table, is_row = self._table(X)
        p = self._probabilities(self._scores(table, task))
        return np.asarray(p[0]) if is_row else p

    def _probabilities(self, scores: F64) -> F64:
        if self._n_scores > 1:
            e = _exp(scores - scores.max(axis=0))
            return np.moveaxis(e / e.sum(axis=0), 0, -1)
        is_squared = self._loss == "squared_error"
        second = np.clip(scores[0], 0.0, 1.0) if is_squared else 1.0 / (1.0 + _exp(-scores[0]))
        return np.stack([1.0 - second, second], axis=1) if second.ndim == 1 else second

    def _scores(self, table: F64, task: Any) -> F64:
        """Return scores of shape (k, n), or (k, n, T) for all tasks."""
        if self.tasks is None:
            if task is not None:
                raise ValueError(f"task={task!r}: the model has a single task; leave it out")
            return self._forests[0].scores(table)
        if task is None:
            if not self._by_column:
                raise ValueError(f"task is missing: give one of {self.tasks[:10]!r}, or one for each row")
            return np.stack([self._task_scores(table, name) for name in self.tasks], axis=2)
        of_row = list(task) if isinstance(task, Sequence | np.ndarray) and not isinstance(task, str) else None
        if of_row is None:
            return self._task_scores(table, task)
        if len(of_row) != table.shape[0]:
            raise ValueError(
                f"task has {len(of_row)} entries, X {table.shape[0]} rows: give one for each row"
            )
        scores = np.empty((self._n_scores, table.shape[0]))
        for name in dict.fromkeys(of_row):
            at = np.array([one == name for one in of_row])
            scores[:, at] = self._task_scores(table[at], name)
        return scores

    def _task_scores(self, table: F64, task: Any) -> F64:
        assert self.tasks is not None
        if task not in self.tasks:
            raise ValueError(f"task={task!r} is not a task of the model: give one of {self.tasks[:10]!r}")
        number = self.tasks.index(task)
        if self._reads_task:
            table = np.column_stack([table, np.full(table.shape[0], number + 1.0)])
        # Imported here, because models of a single task start without it.
        from gtgbm.losses import of_all_tasks

        return of_all_tasks(self._forests[number].scores(table), self._positions[number], self._n_scores)

    def _table(self, X: Any) -> tuple[F64, bool]:
        """Return a table of the K columns, and whether it was a single row."""
        if isinstance(X, Mapping):
            return self._row(X)[None], True
        if isinstance(X, Sequence) and X and isinstance(X[0], Mapping):
            return np.stack([self._row(row) for row in X]), False
        if any(codes is not None for codes in self._codes):
            raise ValueError("the model reads text: give a mapping from names to values, or a list of them")
        table = np.asarray(X, dtype=np.float64)
        is_row = table.ndim == 1
        table = table[None] if is_row else table
        if table.ndim != 2 or table.shape[1] != self.features.shape[0]:
            raise ValueError(
                f"X has shape {np.shape(X)}: give {self.features.shape[0]} columns "
                f"({self.feature_names or self.features.tolist()}), in this order"
            )
        return np.ascontiguousarray(table), is_row

    def _row(self, values: Mapping[str, Any]) -> F64:
        if self.feature_names is None:
            raise ValueError("the columns of the model have no names: give an array instead of a mapping")
        absent = [name for name in self.feature_names if name not in values]
        if absent:
            raise ValueError(f"X has no entries {absent[:10]!r}; it needs {self.feature_names[:10]!r}")
        pairs = zip(self.feature_names, self._codes, strict=True)
        return np.array([_value(values[name], codes, name) for name, codes in pairs], dtype=np.float64)


class _Forest:
    """The trees of a part of a model file."""

    def __init__(
        self, part: Mapping[str, Any], position: Mapping[int, int], codes: Sequence[dict[str, float] | None]
    ) -> None:
        trees = part["trees"]
        self._start: F64 = np.array(part["start"], dtype=np.float64)
        self._n_trees = len(trees)
        n_columns = len(position)
        marks = [_marks(tree) for tree in trees]
        thresholds = [_thresholds(tree, position, codes) for tree in trees]
        features = [[position[k] if k >= 0 else -1 for k in tree["feature"]] for tree in trees]
        # The native constructor checks every node.
        self._native = _core.Forest(
            n_columns,
            self._start.shape[0],
            np.cumsum([0, *(len(tree["feature"]) for tree in trees)], dtype=np.int64),
            np.array([tree["output"] for tree in trees], dtype=np.int64),
            _joined(features, np.int32),
            _joined(thresholds, np.float64),
            _joined([is_category for is_category, _ in marks], np.uint8),
            _joined([missing_left for _, missing_left in marks], np.uint8),
            _joined([tree["left"] for tree in trees], np.int32),
            _joined([tree["value"] for tree in trees], np.float64),
        )
        self._width = n_columns

    @property
    def n_scores(self) -> int:
        """Number of scores of a row."""
        return int(self._start.shape[0])

    def scores(self, table: F64) -> F64:
        """Return the scores of rows, shape (k, n); a column that is not there is not asked for."""
        scores = np.empty((self._start.shape[0], table.shape[0]))
        scores[:] = self._start[:, None]
        columns = np.minimum(np.arange(self._width), max(table.shape[1] - 1, 0))
        table = table if table.shape[1] else np.zeros((table.shape[0], 1))
        self._native.predict(_POOL, table, columns, scores, 0, self._n_trees)
        return scores


def _marks(tree: Mapping[str, Any]) -> tuple[list[int], list[int]]:
    """Return which nodes split on a category, and which send missing values to the left."""
    marks = []
    for nodes in (tree["category"], tree["missing_left"]):
        flags = [0] * len(tree["feature"])
        for node in nodes:
            flags[node] = 1
        marks.append(flags)
    return marks[0], marks[1]


def _thresholds(
    tree: Mapping[str, Any], position: Mapping[int, int], codes: Sequence[dict[str, float] | None]
) -> list[float]:
    """Return thresholds as numbers; a category of text gets the next code of its column."""
    found = []
    for column, threshold in zip(tree["feature"], tree["threshold"], strict=True):
        known = codes[position[column]] if column >= 0 and position[column] < len(codes) else None
        if threshold is None:
            found.append(math.nan)
        elif known is not None and isinstance(threshold, str):
            found.append(known.setdefault(threshold, float(len(known))))
        else:
            found.append(float(threshold))  # infinities are text
    return found


def _joined(lists: Sequence[Sequence[Any]], dtype: Any) -> Any:
    return np.array([value for values in lists for value in values], dtype=dtype)


def _value(value: Any, codes: Mapping[str, float] | None, name: str) -> float:
    """Return a single value of a column as a number."""
    if value is None or value != value:
        return math.nan
    if codes is not None:
        is_whole = isinstance(value, float) and value.is_integer()
        return codes.get(str(int(value)) if is_whole else str(value), _UNSEEN)
    if isinstance(value, datetime.datetime):
        moment = value if value.tzinfo else value.replace(tzinfo=datetime.timezone.utc)
        return (moment - datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)).total_seconds()
    if isinstance(value, str):
        raise ValueError(f"X: {name!r} is {value!r}, but the model was trained on numbers; convert it")
    return float(value)


def _exp(values: F64) -> F64:
    """Return exponentials with the same bits on every machine."""
    flat = np.ascontiguousarray(values).ravel()
    out = np.empty_like(flat)
    _core.exponentials(_POOL, flat, out)
    return out.reshape(values.shape)
