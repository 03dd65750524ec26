"""Models in LightGBM's text format, version 4, which LightGBM, shap, treelite and others read.

Scores are equal bit for bit: trees are added in the same order, and the first tree of each score contains the
score that boosting began with, as in models that LightGBM trained. Probabilities and other predictions may
differ in the last bits, since the libraries compute exp in different ways.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from os import PathLike
from typing import Any

import numpy as np

from gtgbm.exact import F64, I64
from gtgbm.export.categories import require_code
from gtgbm.export.files import export_files
from gtgbm.export.optional import needed
from gtgbm.export.plain_model import PlainModel, check_fitted, converted
from gtgbm.tree import Tree

_IS_CATEGORICAL, _MISSING_GOES_LEFT, _MISSING_IS_NAN = 1, 2, 8
"""Flags of ``decision_type``."""
_WORD = 32
_ABOVE_ZERO = 5e-324
"""Threshold that is written for 0, the next number: lleaves takes 0 for a threshold that is not there.

Values between the two are 0 for LightGBM.
"""

_OBJECTIVES = {
    "squared_error": "regression",
    "absolute_error": "regression_l1",
    "huber": "huber",
    "quantile": "quantile",
    "poisson": "poisson",
    "tweedie": "tweedie",
    "lambdarank": "lambdarank",
    "pairwise": "lambdarank",
}
"""LightGBM's names of losses; predictions depend only on their links, which are the same."""


def to_lightgbm(estimator: Any, *, task: Any = None) -> Any:
    """Return a fitted model as a ``lightgbm.Booster``; by task for several tasks.

    Parameters
    ----------
    estimator : any fitted estimator of this package
    task : object, optional
        One task of a multitask model.

    Returns
    -------
    lightgbm.Booster, or dict of them by task
    """
    check_fitted(estimator)
    lightgbm = needed("lightgbm", "to_lightgbm")
    return converted(estimator, task, lambda model: lightgbm.Booster(model_str=lightgbm_text(model)))


def export_lightgbm(estimator: Any, path: str | PathLike[str], *, task: Any = None) -> list[str]:
    """Write a fitted model in LightGBM's text format.

    Parameters
    ----------
    estimator : any fitted estimator of this package
    path : str or path
        The file to write; for several tasks with ``{task}`` in it, which becomes the name of each.
    task : object, optional
        The only task to write.

    Returns
    -------
    list of str
        The files written.
    """
    return export_files(estimator, path, task, lambda model: lightgbm_text(model).encode())


def lightgbm_text(model: PlainModel) -> str:
    """Return a model in LightGBM's text format."""
    trees = [_tree(model, k, tree) for k, tree in enumerate(model.summed_trees())]
    categories = {column: _codes(model, column) for column in model.categorical}
    head = [
        "tree",
        "version=v4",
        f"num_class={model.n_scores}",
        f"num_tree_per_iteration={model.n_scores}",
        "label_index=0",
        f"max_feature_idx={model.n_features - 1}",
        f"objective={_objective(model)}",
        f"feature_names={' '.join(feature_names(model.names))}",
        "feature_infos=" + " ".join(_info(categories.get(k)) for k in range(model.n_features)),
        "tree_sizes=" + " ".join(str(len(tree.encode())) for tree in trees),
        "",
        "",
    ]
    tail = ["end of trees", "", "parameters:", "end of parameters", "", _pandas_categories(model), ""]
    return "\n".join(head) + "".join(trees) + "\n".join(tail)


def _objective(model: PlainModel) -> str:
    if model.link == "logistic":
        return "binary sigmoid:1"
    if model.link == "softmax":
        return f"multiclass num_class:{model.n_scores}"
    model.warn_of_link()
    return _OBJECTIVES.get(model.loss, "regression")


def feature_names(names: Sequence[str]) -> list[str]:
    """Return names that LightGBM reads back: without white space and the characters of JSON, and distinct."""
    clean = [re.sub(r'[\s\x00-\x1f,:\[\]{}"\\]', "_", name) or f"Column_{k}" for k, name in enumerate(names)]
    taken: set[str] = set()
    for k, name in enumerate(clean):
        while clean[k] in taken:
            name += "_"
            clean[k] = name
        taken.add(clean[k])
    return clean


def _info(codes: Sequence[int] | None) -> str:
    """Return the range of a column, which only plots read, or its categories."""
    return "[-inf:inf]" if codes is None else ":".join(map(str, codes))


def _codes(model: PlainModel, column: int) -> list[int]:
    """Return the codes of a categorical column, ascending; of an array, those that trees ask for."""
    if model.schema is not None and model.schema.columns[column].categories:
        return list(range(len(model.schema.columns[column].categories)))
    asked = [tree.threshold[(tree.feature == column) & (tree.is_category != 0)] for tree in model.trees]
    values = np.unique(np.concatenate(asked))
    return values[~np.isnan(values)].astype(np.int64).tolist() or [0]


def _pandas_categories(model: PlainModel) -> str:
    """Return the categories of a dataframe, by which LightGBM encodes those of pandas."""
    schema = model.schema
    known = [list(schema.columns[k].categories) for k in schema.categorical] if schema is not None else []
    return f"pandas_categorical:{json.dumps(known) if known else 'null'}"


def _tree(model: PlainModel, number: int, tree: Tree) -> str:
    """Return a tree; inner nodes and leaves are numbered apart, a leaf is written as -1 - its number."""
    is_leaf = tree.feature < 0
    inner, leaves = np.flatnonzero(~is_leaf), np.flatnonzero(is_leaf)
    cover = tree.covers()
    lines = [f"Tree={number}", f"num_leaves={leaves.shape[0]}"]
    if inner.shape[0] == 0:
        lines += ["num_cat=0", f"leaf_value={_listed(tree.value)}", f"leaf_count={cover[0]}"]
        return "\n".join([*lines, "is_linear=0", "shrinkage=1", "", "", ""])
    splits = _Splits.of(model, tree, inner)
    code = np.empty(tree.n_nodes, dtype=np.int64)
    code[inner], code[leaves] = np.arange(inner.shape[0]), -1 - np.arange(leaves.shape[0])
    mean = _means(tree, cover)
    fields: dict[str, Any] = {
        "split_feature": tree.feature[inner],
        "split_gain": tree.gain[inner],
        "threshold": splits.threshold,
        "decision_type": splits.decision,
        "left_child": code[tree.left[inner] + splits.is_swapped],
        "right_child": code[tree.left[inner] + 1 - splits.is_swapped],
        "leaf_value": tree.value[leaves],
        "leaf_weight": cover[leaves],
        "leaf_count": cover[leaves],
        "internal_value": mean[inner],
        "internal_weight": cover[inner],
        "internal_count": cover[inner],
    }
    if splits.n_sets:
        fields |= {"cat_boundaries": splits.boundaries, "cat_threshold": splits.words}
    lines += [f"num_cat={splits.n_sets}"] + [f"{name}={_listed(values)}" for name, values in fields.items()]
    return "\n".join([*lines, "is_linear=0", "shrinkage=1", "", "", ""])


class _Splits:
    """The splits of a tree in LightGBM's terms.

    A category goes right here and all others left; there a set of categories goes left, and all others with
    missing values right: children are swapped. The category of missing values becomes a split of numbers
    that all values but missing ones pass to the left.
    """

    def __init__(self, n: int) -> None:
        self.threshold: F64 = np.empty(n)
        self.decision: I64 = np.empty(n, dtype=np.int64)
        self.is_swapped: I64 = np.zeros(n, dtype=np.int64)
        self.boundaries, self.words = [0], list[int]()

    @property
    def n_sets(self) -> int:
        """Number of splits on categories."""
        return len(self.boundaries) - 1

    @classmethod
    def of(cls, model: PlainModel, tree: Tree, inner: I64) -> _Splits:
        """Convert the splits of the inner nodes."""
        splits = cls(inner.shape[0])
        for k, node in enumerate(inner.tolist()):
            value, missing_left = float(tree.threshold[node]), bool(tree.missing_left[node])
            if not tree.is_category[node]:
                splits._set_number(k, value, missing_left)
            elif np.isnan(value):
                splits._set_number(k, np.inf, False)
            else:
                _require_code(model, int(tree.feature[node]), value, missing_left)
                splits._set_category(k, int(value))
        return splits

    def _set_number(self, k: int, threshold: float, missing_left: bool) -> None:
        self.threshold[k] = _ABOVE_ZERO if threshold == 0.0 else threshold
        self.decision[k] = _MISSING_IS_NAN + _MISSING_GOES_LEFT * missing_left

    def _set_category(self, k: int, code: int) -> None:
        self.threshold[k] = self.n_sets
        self.decision[k], self.is_swapped[k] = _MISSING_IS_NAN + _IS_CATEGORICAL, 1
        self.words += [0] * (code // _WORD) + [1 << code % _WORD]
        self.boundaries.append(len(self.words))


def _require_code(model: PlainModel, column: int, value: float, missing_left: bool) -> None:
    """Refuse categories that LightGBM cannot have."""
    if not missing_left:
        raise ValueError(
            f"a split on category {value:g} of column {model.names[column]!r} sends missing values along "
            "with it, which LightGBM cannot: use another format"
        )
    require_code(model, column, value, "LightGBM")


def _means(tree: Tree, cover: I64) -> F64:
    """Return the mean value of the training rows of each node, shape (nodes,)."""
    mean = tree.value.copy()
    for node in np.flatnonzero(tree.feature >= 0)[::-1].tolist():
        pair = slice(int(tree.left[node]), int(tree.left[node]) + 2)
        mean[node] = (mean[pair] * cover[pair]).sum() / cover[node]
    return mean


def _listed(values: Iterable[Any]) -> str:
    """Return numbers as text that is read back exactly."""
    return " ".join(map(repr, values.tolist() if isinstance(values, np.ndarray) else values))
