"""Validation of model files: everything in a file is checked before it is used."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from gtgbm.boosting import HistoryEntry, Model
from gtgbm.data import FrameColumn, FrameSchema, Kind
from gtgbm.model_file.layout import (
    MAX_FEATURES,
    MAX_UNNAMED,
    ClassesLayout,
    EntryLayout,
    ModelFileError,
    ModelLayout,
    OwnedLayout,
    PartLayout,
    PathLayout,
    TreeLayout,
)
from gtgbm.model_file.stored import StoredColumns
from gtgbm.selection import SelectionPath
from gtgbm.tree import Tree

_DTYPES: dict[str, tuple[type, Any]] = {
    "bool": (bool, np.bool_),
    "int": (int, np.int64),
    "float": (float, np.float64),
    "str": (str, np.str_),
}


def require(is_valid: bool, problem: str) -> None:
    """Raise an error that says what is wrong with a file, unless it is valid."""
    if not is_valid:
        raise ModelFileError(problem)


def valid_columns(layout: ModelLayout) -> StoredColumns:
    """Return the columns of the training table."""
    require(
        layout.feature_names is None or len(layout.feature_names) == layout.n_features,
        f"it has {layout.n_features} features, but a different number of names",
    )
    # Each column of a dataframe or a multitask model takes memory: without names the file could be short.
    most = MAX_FEATURES if layout.kinds is None and layout.tasks is None else MAX_UNNAMED
    is_short = layout.feature_names is not None or layout.n_features <= most
    require(is_short, f"more than {most} columns have no names")
    return StoredColumns(layout.n_features, layout.feature_names, _schema(layout, _labels(layout)))


def valid_classes(layout: ClassesLayout) -> NDArray[Any]:
    """Return the labels of classes."""
    kind, dtype = _DTYPES[layout.type]
    labels = layout.labels
    require(all(type(label) is kind for label in labels), f"its classes are not all of type {layout.type}")
    require(len(set(labels)) == len(labels) > 1, "its classes are fewer than two, or not distinct")
    return np.array(labels, dtype=dtype)


def valid_model(
    part: PartLayout, columns: StoredColumns, n_scores: int, *, knows_task: bool = False
) -> Model:
    """Return the trees of a part and their history.

    Parameters
    ----------
    n_scores : int
        Number of scores that the trees add to.
    knows_task : bool
        Whether the trees read the task from an additional last column.
    """
    schema, n_features = columns.schema, columns.count + knows_task
    start = _array(part.start, np.float64)
    require(start.shape[0] == n_scores, "its start has a different number of scores than its loss")
    require(len(part.trees) % start.shape[0] == 0, "its trees and scores do not match")
    n_rounds = len(part.trees) // start.shape[0]
    results = [part.training_loss, *(values for by_name in part.evaluations for values in by_name.values())]
    is_complete = all(len(values) >= n_rounds for values in results)
    require(is_complete, "its results have fewer rounds than its trees")
    require(all(entry.tree < n_rounds for entry in part.history), "its history has rounds after the last one")
    trees = [_tree(tree, schema, n_features) for tree in part.trees]
    # The column of the task is not a feature, so it is not in the history.
    selected = {entry.feature for entry in part.history} | {columns.count}
    used = np.unique(np.concatenate([tree.feature for tree in trees])) if trees else np.empty(0)
    require(set(used.tolist()) <= selected | {-1}, "its trees use features that its history lacks")
    model = Model(
        start,
        trees,
        [tree.output for tree in part.trees],
        [_entry(entry, schema, n_features) for entry in part.history],
        [_float(value) for value in part.training_loss],
        [
            {name: [_float(v) for v in values] for name, values in by_name.items()}
            for by_name in part.evaluations
        ],
        part.best_round,
    )
    model.forest()  # checks every node: no child outside the arrays, no cycles
    return model


def valid_path(layout: PathLayout, columns: StoredColumns) -> SelectionPath:
    """Return the path over numbers of features."""
    sizes, n_folds = np.array(layout.sizes, dtype=np.int64), len(layout.fold_scores)
    require(bool((np.diff(sizes) > 0).all()), "the sizes of its selection path do not ascend")
    require(
        len(layout.fold_features) == n_folds
        and all(len(scores) == len(sizes) for scores in layout.fold_scores)
        and all(len(features) == len(sizes) for features in layout.fold_features),
        "its selection path lacks scores or features of some sizes",
    )
    features = [[_array(of_size, np.int64) for of_size in of_fold] for of_fold in layout.fold_features]
    largest = max((int(one.max(initial=-1)) for of_fold in features for one in of_fold), default=-1)
    require(largest < columns.count, f"its selection path has feature {largest} of {columns.count}")
    names = columns.count if columns.names is None else columns.names
    return SelectionPath(sizes, np.array(layout.fold_scores), features, layout.scoring, names, {})


def valid_owned(owned: Sequence[OwnedLayout], columns: StoredColumns) -> list[tuple[int, float | None]]:
    """Return the features that some task selected, with the codes of categories."""
    is_known = all(entry.feature < columns.count for entry in owned)
    require(is_known, "its tasks selected features that it does not have")
    return [(entry.feature, _category(entry, columns.schema)) for entry in owned]


def _labels(layout: ModelLayout) -> dict[int, set[str]]:
    """Return the categories of each column that occur in trees and histories."""
    labels: dict[int, set[str]] = {}
    for part in layout.parts:
        for tree in part.trees:
            for node in tree.category:
                n = min(len(tree.feature), len(tree.threshold))
                require(node < n, "a tree has a category beyond its end")
                label = tree.threshold[node]
                if isinstance(label, str) and not _is_infinite(layout, tree.feature[node], label):
                    labels.setdefault(tree.feature[node], set()).add(label)
    owned = [] if layout.tasks is None else layout.tasks.owned
    selected: list[EntryLayout | OwnedLayout] = [entry for part in layout.parts for entry in part.history]
    for entry in [*selected, *owned]:
        if isinstance(entry.category, str) and not _is_infinite(layout, entry.feature, entry.category):
            labels.setdefault(entry.feature, set()).add(entry.category)
    return labels


def _is_infinite(layout: ModelLayout, feature: int, label: str) -> bool:
    """Whether a label is an infinite number in a column whose categories are numbers."""
    is_text = layout.kinds is not None and layout.kinds.get(str(feature)) == "category"
    return not is_text and label in ("inf", "-inf")


def _schema(layout: ModelLayout, labels: dict[int, set[str]]) -> FrameSchema | None:
    if layout.kinds is None:
        require(not labels, "it has categories of text, but no kinds of columns")
        return None
    kinds: dict[int, Kind] = {k: layout.kinds.get(str(k), "number") for k in range(layout.n_features)}
    require(
        set(layout.kinds) <= {str(k) for k in kinds} and all(kinds.get(k) == "category" for k in labels),
        "its kinds of columns do not match its columns and trees",
    )
    names = layout.feature_names or [str(k) for k in range(layout.n_features)]
    require(len(set(names)) == len(names), "it has the same name for several features")
    columns = (FrameColumn(name, kinds[k], tuple(sorted(labels.get(k, ())))) for k, name in enumerate(names))
    return FrameSchema(tuple(columns), layout.feature_names is not None)


def _tree(layout: TreeLayout, schema: FrameSchema | None, n_features: int) -> Tree:
    n = len(layout.feature)
    arrays = (layout.threshold, layout.left, layout.value, layout.rows, layout.gain)
    require(n > 0 and all(len(array) == n for array in arrays), "the arrays of a tree differ in length")
    require(
        all(node < n for nodes in (layout.category, layout.missing_left) for node in nodes),
        "a tree refers to nodes that it does not have",
    )
    feature = _array(layout.feature, np.int32)
    for extreme in (int(feature.max()), int(feature.min())):
        require(-1 <= extreme < n_features, f"a tree uses feature {extreme} of {n_features}")
    categories = set(layout.category)
    threshold = [
        _code(schema, layout.feature[k], value) if k in categories else _number(value)
        for k, value in enumerate(layout.threshold)
    ]
    return Tree(
        feature=feature,
        threshold=_array(threshold, np.float64),
        is_category=_flags(layout.category, n),
        missing_left=_flags(layout.missing_left, n),
        left=_array(layout.left, np.int32),
        value=_array(layout.value, np.float64),
        n_rows=_array(layout.rows, np.int64),
        gain=_array(layout.gain, np.float64),
    )


def _entry(layout: EntryLayout, schema: FrameSchema | None, n_features: int) -> HistoryEntry:
    require(layout.feature < n_features, f"its history has feature {layout.feature} of {n_features}")
    category, loss = _category(layout, schema), _float(layout.training_loss)
    cost = 1.0 if layout.cost is msgspec.UNSET else layout.cost
    return HistoryEntry(layout.tree, layout.feature, layout.gain, layout.price, loss, category, cost)


def _category(layout: EntryLayout | OwnedLayout, schema: FrameSchema | None) -> float | None:
    return None if layout.category is msgspec.UNSET else _code(schema, layout.feature, layout.category)


def _code(schema: FrameSchema | None, feature: int, label: float | str | None) -> float:
    if label is None:
        return float("nan")
    is_coded = (
        schema is not None
        and 0 <= feature < len(schema.columns)
        and schema.columns[feature].kind == "category"
    )
    if isinstance(label, str) and is_coded:
        assert schema is not None
        return schema.code(feature, label)
    if isinstance(label, str):
        return _number(label)
    require(not is_coded, f"a tree has the number {label} as a category of a column of text")
    return float(label)


def _number(value: float | str | None) -> float:
    if isinstance(value, str):
        require(value in ("inf", "-inf"), f"a tree has the threshold {value!r}")
    require(value is not None, "a tree lacks a threshold")
    return float(value)  # type: ignore[arg-type]


def _float(value: float | None) -> float:
    return float("nan") if value is None else value


def _array(values: Sequence[Any], dtype: Any) -> NDArray[Any]:
    if dtype is not np.int32:
        return np.array(values, dtype=dtype)
    # numpy before 2.0 wraps integers that do not fit instead of raising an error.
    wide: NDArray[Any] = np.array(values, dtype=np.int64)
    found = wide.astype(np.int32)
    if not np.array_equal(found, wide):
        raise OverflowError("a tree has a number that does not fit 32 bits")
    return found


def _flags(nodes: Sequence[int], n: int) -> NDArray[np.uint8]:
    flags = np.zeros(n, dtype=np.uint8)
    flags[np.array(nodes, dtype=np.int64)] = 1
    return flags
