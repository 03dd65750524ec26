"""The trees of a model as a dataframe, one row per node."""

from __future__ import annotations

from typing import Any

import numpy as np

from gtgbm.boosting import Model
from gtgbm.exact import I64
from gtgbm.export.optional import needed
from gtgbm.export.plain_model import check_fitted
from gtgbm.tree import Tree


def model_to_frame(estimator: Any) -> Any:
    """Return the trees of a fitted model as a pandas dataframe, one row per node.

    Parameters
    ----------
    estimator : any fitted estimator of this package

    Returns
    -------
    pandas.DataFrame
        Columns: ``task`` (multitask models only), ``tree``, ``round``, ``output`` (the score that the tree
        adds to), ``node`` (as ``apply`` returns them), ``depth``, ``parent``, ``feature`` (its name, or its
        number), ``threshold`` (values up to it go left), ``category`` (the one that goes right; NaN in a node
        whose ``is_category`` is true stands for missing values), ``is_category``, ``missing_left``, ``left``,
        ``right``, ``value`` (of leaves), ``rows`` (of training), ``gain``. What a node does not have is
        missing.
    """
    check_fitted(estimator)
    pandas = needed("pandas", "model_to_frame")
    parts = [
        pandas.DataFrame(_nodes(estimator, model, number, tree)).assign(task=task)
        for task, model in estimator._models.items()
        for number, tree in enumerate(model.trees)
    ]
    if not parts:
        raise ValueError("the model has no trees: raise n_estimators, or lower the penalty")
    frame = pandas.concat(parts, ignore_index=True)
    if not hasattr(estimator, "tasks_"):
        return frame.drop(columns="task")
    return frame[["task", *(name for name in frame.columns if name != "task")]]


def _nodes(estimator: Any, model: Model, number: int, tree: Tree) -> dict[str, Any]:
    """Return the columns of the nodes of one tree."""
    is_leaf, is_category = tree.feature < 0, tree.is_category != 0
    parent, depth = _places(tree)
    return {
        "tree": number,
        "round": number // int(model.start.shape[0]),
        "output": model.outputs[number],
        "node": np.arange(tree.n_nodes),
        "depth": depth,
        "parent": _optional(parent, parent < 0),
        "feature": [_name(estimator, column) for column in tree.feature.tolist()],
        "threshold": np.where(is_leaf | is_category, np.nan, tree.threshold),
        "category": np.array(
            [
                estimator._label(column, threshold) if asks else None
                for column, threshold, asks in zip(
                    tree.feature.tolist(), tree.threshold.tolist(), is_category.tolist(), strict=True
                )
            ],
            dtype=object,
        ),
        "is_category": is_category,
        "missing_left": tree.missing_left != 0,
        "left": _optional(tree.left, is_leaf),
        "right": _optional(tree.left + 1, is_leaf),
        "value": np.where(is_leaf, tree.value, np.nan),
        "rows": tree.n_rows,
        "gain": np.where(is_leaf, np.nan, tree.gain),
    }


def _places(tree: Tree) -> tuple[I64, I64]:
    """Return parent, -1 for the root, and depth of each node."""
    parent: I64 = np.full(tree.n_nodes, -1, dtype=np.int64)
    depth: I64 = np.zeros(tree.n_nodes, dtype=np.int64)
    for node in np.flatnonzero(tree.feature >= 0).tolist():
        pair = slice(int(tree.left[node]), int(tree.left[node]) + 2)
        parent[pair], depth[pair] = node, depth[node] + 1
    return parent, depth


def _name(estimator: Any, column: int) -> Any:
    """Return the name or number of a column; "task" for the task that method="single-task" adds."""
    if column < 0:
        return None
    if column >= estimator.n_features_in_:
        return "task"
    names = getattr(estimator, "feature_names_in_", None)
    return column if names is None else names[column]


def _optional(numbers: Any, is_absent: Any) -> Any:
    """Return whole numbers, some of which are missing."""
    arrays = needed("pandas.arrays", "model_to_frame")
    return arrays.IntegerArray(numbers.astype(np.int64), is_absent)
