"""From a model file to an estimator; nothing in the file is believed before it is checked."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from gtgbm import estimators
from gtgbm.boosting import Fitted, HistoryEntry, Model
from gtgbm.data import FrameColumn, FrameSchema, Kind
from gtgbm.estimators.tables import keep_schema
from gtgbm.losses import Loss
from gtgbm.model_file import (
    FORMAT_VERSION,
    MAX_FEATURES,
    MAX_UNNAMED,
    BoughtLayout,
    ClassesLayout,
    Header,
    ModelFileError,
    ModelLayout,
    OwnedLayout,
    PartLayout,
    TreeLayout,
    from_plain,
)
from gtgbm.multitask import FittedTasks
from gtgbm.search import SearchChoice
from gtgbm.tree import Tree

_DTYPES: dict[str, tuple[type, Any]] = {
    "bool": (bool, np.bool_),
    "int": (int, np.int64),
    "float": (float, np.float64),
    "str": (str, np.str_),
}


def load_model(path: str | PathLike[str]) -> Any:
    """Read a model that `save_model` wrote.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    estimator
        Of the class that was saved. It predicts the same bits; a later ``fit`` begins anew.

    Raises
    ------
    ModelFileError
        If the file is not a whole and sound model. Reading runs no code from the file.
    """
    content = Path(path).read_bytes()
    try:
        return _estimator(_decode(content))
    # What the decoder, the arrays, the loss and the forest refuse; and parameters nested too deep.
    except (ValueError, TypeError, OverflowError, AttributeError, RecursionError) as error:
        raise ModelFileError(f"{Path(path)} is not a sound gtgbm model: {error}") from error


def _decode(content: bytes) -> ModelLayout:
    try:
        header = msgspec.json.decode(content, type=Header)
        if header.version > FORMAT_VERSION:
            raise ModelFileError(
                f"its format is {header.version}, this gtgbm reads up to {FORMAT_VERSION}: upgrade gtgbm"
            )
        return msgspec.json.decode(content, type=ModelLayout)
    except msgspec.MsgspecError as error:
        raise ModelFileError(str(error)) from error


def _estimator(layout: ModelLayout) -> Any:
    estimator = _new_estimator(layout)
    _check(
        layout.feature_names is None or len(layout.feature_names) == layout.n_features,
        f"it has {layout.n_features} features, but another number of names",
    )
    # Columns of a dataframe cost memory each, and so do those of tasks: the file must be as long.
    most = MAX_FEATURES if layout.kinds is None and layout.tasks is None else MAX_UNNAMED
    is_short = layout.feature_names is not None or layout.n_features <= most
    _check(is_short, f"more than {most} columns have no names")
    schema = _schema(layout, _labels(layout))
    estimator.n_features_in_ = layout.n_features
    if schema is not None:
        keep_schema(estimator, schema)
    elif layout.feature_names is not None:
        estimator.feature_names_in_ = np.array(layout.feature_names, dtype=object)
    _check((layout.classes is not None) == is_classifier(estimator), "its classes do not go with its model")
    if layout.classes is not None:
        estimator.classes_ = _classes(layout.classes)
    loss = estimator._make_loss()
    if hasattr(estimator, "_keep_tasks"):
        _restore_tasks(estimator, layout, schema, loss)
    else:
        _check(layout.tasks is None and len(layout.parts) == 1, "it has tasks, but its model has none")
        estimator._keep(_model(layout.parts[0], schema, layout.n_features, loss), loss, layout.n_features)
        estimator.search_ = _search(layout.parts[0])
    estimator.timings_ = layout.timings
    estimator._about = layout.about
    return estimator


def _restore_tasks(estimator: Any, layout: ModelLayout, schema: FrameSchema | None, loss: Loss) -> None:
    tasks = layout.tasks
    _check(tasks is not None, "its tasks are missing")
    assert tasks is not None
    estimator._matrix_form, estimator._is_single = tasks.by_column, estimator.method == "single-task"
    _check(len(set(tasks.names)) == len(tasks.names), "it has several tasks of the same name")
    n_classes = 2 if layout.classes is None else len(layout.classes.labels)
    _check(n_classes == 2, f"its tasks have {n_classes} classes")
    # A model of all tasks in one knows the task from a column after the last.
    n_columns = layout.n_features + estimator._is_single
    if estimator._is_single:
        _check(len(layout.parts) == 1, "its method is for one part")
    else:
        _check([part.task for part in layout.parts] == tasks.names, "its parts and tasks do not match")
    fitted = [
        Fitted(_model(part, schema, n_columns, loss, layout.n_features), _search(part), {})
        for part in layout.parts
    ]
    owned = [
        (one.feature, None if one.category is msgspec.UNSET else _code(schema, one.feature, one.category))
        for one in tasks.owned
    ]
    _check(all(column < layout.n_features for column, _ in owned), "it owns features that it does not have")
    if estimator._is_single:
        fitted *= len(tasks.names)
    estimator._keep_tasks(tasks.names, FittedTasks(fitted, owned, 0.0), loss)


def _search(part: PartLayout) -> SearchChoice:
    return SearchChoice(part.search.name, part.search.reason)


def _new_estimator(layout: ModelLayout) -> Any:
    known = {name for name in estimators.__all__ if hasattr(getattr(estimators, name), "fit")}
    if layout.model not in known:
        raise ModelFileError(f"model {layout.model!r} is unknown; known are {', '.join(sorted(known))}")
    cls = getattr(estimators, layout.model)
    expected = set(cls().get_params())
    unknown = sorted(set(layout.parameters) - expected)
    _check(not unknown, f"{layout.model} has no parameters {', '.join(map(repr, unknown[:5]))}")
    return cls(**{name: from_plain(name, value) for name, value in layout.parameters.items()})


def _labels(layout: ModelLayout) -> dict[int, set[str]]:
    """Categories of each column that some tree asks for."""
    found: dict[int, set[str]] = {}
    for part in layout.parts:
        for tree in part.trees:
            for node in tree.category:
                n = min(len(tree.feature), len(tree.threshold))
                _check(node < n, "a tree has a category beyond its end")
                label = tree.threshold[node]
                if isinstance(label, str) and not _is_infinite(layout, tree.feature[node], label):
                    found.setdefault(tree.feature[node], set()).add(label)
    owned = [] if layout.tasks is None else layout.tasks.owned
    bought: list[BoughtLayout | OwnedLayout] = [entry for part in layout.parts for entry in part.history]
    for entry in [*bought, *owned]:
        if isinstance(entry.category, str) and not _is_infinite(layout, entry.feature, entry.category):
            found.setdefault(entry.feature, set()).add(entry.category)
    return found


def _is_infinite(layout: ModelLayout, feature: int, label: str) -> bool:
    """Whether a label is a number in a column of numbers that are categories."""
    is_text = layout.kinds is not None and layout.kinds.get(str(feature)) == "category"
    return not is_text and label in ("inf", "-inf")


def _schema(layout: ModelLayout, labels: dict[int, set[str]]) -> FrameSchema | None:
    if layout.kinds is None:
        _check(not labels, "it has categories of text, but no kinds of columns")
        return None
    kinds: dict[int, Kind] = {k: layout.kinds.get(str(k), "number") for k in range(layout.n_features)}
    _check(
        set(layout.kinds) <= {str(k) for k in kinds} and all(kinds.get(k) == "category" for k in labels),
        "its kinds of columns do not match its columns and trees",
    )
    names = layout.feature_names or [str(k) for k in range(layout.n_features)]
    _check(len(set(names)) == len(names), "it has the same name for several features")
    columns = (FrameColumn(name, kinds[k], tuple(sorted(labels.get(k, ())))) for k, name in enumerate(names))
    return FrameSchema(tuple(columns), layout.feature_names is not None)


def _classes(layout: ClassesLayout) -> NDArray[Any]:
    kind, dtype = _DTYPES[layout.type]
    labels = layout.labels
    _check(all(type(label) is kind for label in labels), f"its classes are not all of type {layout.type}")
    _check(len(set(labels)) == len(labels) > 1, "its classes are fewer than two, or not distinct")
    return np.array(labels, dtype=dtype)


def _model(
    part: PartLayout, schema: FrameSchema | None, n_features: int, loss: Loss, n_own: int | None = None
) -> Model:
    n_own = n_features if n_own is None else n_own
    start = _array(part.start, np.float64)
    _check(start.shape[0] == loss.n_scores, "its start has another number of scores than its loss")
    _check(len(part.trees) % start.shape[0] == 0, "its trees and scores do not match")
    n_rounds = len(part.trees) // start.shape[0]
    followed = [part.training_loss, *(values for one in part.evaluations for values in one.values())]
    is_followed = all(len(values) >= n_rounds for values in followed)
    _check(is_followed, "its results are of fewer rounds than its trees")
    _check(all(entry.tree < n_rounds for entry in part.history), "its history goes on after its last round")
    trees = [_tree(tree, schema, n_features) for tree in part.trees]
    # Of a model of all tasks in one the task itself is no feature.
    bought = {entry.feature for entry in part.history} | {n_own}
    used = np.unique(np.concatenate([tree.feature for tree in trees])) if trees else np.empty(0)
    _check(set(used.tolist()) <= bought | {-1}, "its trees use features that its history lacks")
    return Model(
        start,
        trees,
        [tree.output for tree in part.trees],
        [_entry(entry, schema, n_features) for entry in part.history],
        [_float(value) for value in part.training_loss],
        [{name: [_float(v) for v in values] for name, values in one.items()} for one in part.evaluations],
        part.best_round,
    )


def _tree(layout: TreeLayout, schema: FrameSchema | None, n_features: int) -> Tree:
    n = len(layout.feature)
    arrays = (layout.threshold, layout.left, layout.value, layout.rows, layout.gain)
    _check(n > 0 and all(len(one) == n for one in arrays), "the arrays of a tree differ in length")
    _check(
        all(node < n for nodes in (layout.category, layout.missing_left) for node in nodes),
        "a tree names nodes that it does not have",
    )
    feature = _array(layout.feature, np.int32)
    for asked in (int(feature.max()), int(feature.min())):
        _check(-1 <= asked < n_features, f"a tree asks for feature {asked} of {n_features}")
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


def _entry(layout: BoughtLayout, schema: FrameSchema | None, n_features: int) -> HistoryEntry:
    _check(layout.feature < n_features, f"its history has feature {layout.feature} of {n_features}")
    category: float | None = None
    if layout.category is not msgspec.UNSET:
        category = _code(schema, layout.feature, layout.category)
    loss = _float(layout.training_loss)
    return HistoryEntry(layout.tree, layout.feature, layout.gain, layout.price, loss, category)


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
    _check(not is_coded, f"a tree asks for the number {label} in a column of text")
    return float(label)


def _number(value: float | str | None) -> float:
    if isinstance(value, str):
        _check(value in ("inf", "-inf"), f"a tree has the threshold {value!r}")
    _check(value is not None, "a tree lacks a threshold")
    return float(value)  # type: ignore[arg-type]


def _float(value: float | None) -> float:
    return float("nan") if value is None else value


def _array(values: Sequence[Any], dtype: Any) -> NDArray[Any]:
    return np.array(values, dtype=dtype)


def _flags(nodes: Sequence[int], n: int) -> NDArray[np.uint8]:
    flags = np.zeros(n, dtype=np.uint8)
    flags[np.array(nodes, dtype=np.int64)] = 1
    return flags


def _check(is_sound: bool, problem: str) -> None:
    if not is_sound:
        raise ModelFileError(problem)
