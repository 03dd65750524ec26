"""Our trees in LightGBM's text format, so that both libraries predict with the same ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

_MISSING_IS_NAN = 8
_MISSING_GOES_LEFT = 2


def write_model(path: Path, trees: Sequence[Any], n_features: int) -> None:
    """Write trees (``gtgbm.Tree``) of a binary log loss whose scores begin at 0."""
    head = [
        "tree",
        "version=v4",
        "num_class=1",
        "num_tree_per_iteration=1",
        "label_index=0",
        f"max_feature_idx={n_features - 1}",
        "objective=binary sigmoid:1",
        "feature_names=" + " ".join(f"Column_{k}" for k in range(n_features)),
        "feature_infos=" + " ".join(["[-1e+300:1e+300]"] * n_features),
        "",
    ]
    parts = [_tree(k, tree) for k, tree in enumerate(trees)]
    text = "\n".join([*head, *parts, "end of trees", "", "parameters:", "end of parameters", ""])
    path.write_text(text, encoding="ascii")


def _tree(number: int, tree: Any) -> str:
    """Inner nodes and leaves are numbered apart there; a leaf is written as -1 - its number."""
    if tree.is_category.any():
        raise ValueError("trees with categories are not written")
    is_leaf = np.asarray(tree.feature < 0)
    inner, leaves = np.flatnonzero(~is_leaf), np.flatnonzero(is_leaf)
    code = np.empty(tree.n_nodes, dtype=np.int64)
    code[inner], code[leaves] = np.arange(inner.shape[0]), -1 - np.arange(leaves.shape[0])
    zeros = [0] * inner.shape[0]
    decision = _MISSING_IS_NAN + _MISSING_GOES_LEFT * tree.missing_left[inner].astype(np.int64)
    fields = {
        "split_feature": tree.feature[inner].tolist(),
        "split_gain": tree.gain[inner].tolist(),
        "threshold": tree.threshold[inner].tolist(),
        "decision_type": decision.tolist(),
        "left_child": code[tree.left[inner]].tolist(),
        "right_child": code[tree.left[inner] + 1].tolist(),
        "leaf_value": tree.value[leaves].tolist(),
        "leaf_weight": tree.n_rows[leaves].tolist(),
        "leaf_count": tree.n_rows[leaves].tolist(),
        "internal_value": zeros,
        "internal_weight": zeros,
        "internal_count": tree.n_rows[inner].tolist(),
    }
    lines = [f"Tree={number}", f"num_leaves={leaves.shape[0]}", "num_cat=0"]
    lines += [f"{name}={_listed(values)}" for name, values in fields.items()]
    return "\n".join([*lines, "is_linear=0", "shrinkage=1", "", ""])


def _listed(values: Iterable[float]) -> str:
    return " ".join(map(repr, values))
