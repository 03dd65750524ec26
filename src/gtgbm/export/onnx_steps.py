"""The operators of a model in ONNX, independent of how they are put into a graph.

The inputs are of type float32, and so are thresholds. A threshold is rounded down: a value of type float32 is
at most the threshold if and only if it is at most the largest float32 below it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gtgbm.exact import F64
from gtgbm.export.plain_model import PlainModel
from gtgbm.tree import Tree

OPSET, ML_OPSET = 17, 3
"""Versions of the domains ai.onnx and ai.onnx.ml; runtimes of 2022 and later have them."""
ML = "ai.onnx.ml"
LABEL, PROBABILITIES, NUMBER = "label", "probabilities", "variable"
"""Names of outputs, those of scikit-learn's converters."""


@dataclass(frozen=True)
class Step:
    """One operator: its inputs and its output by name."""

    operator: str
    inputs: list[str]
    output: str
    attributes: dict[str, Any] = field(default_factory=dict)
    domain: str = ""


@dataclass(frozen=True)
class Steps:
    """Operators from the table to the outputs.

    Attributes
    ----------
    steps : list of Step
    constants : dict of ndarray
    outputs : list of str
        "label" and "probabilities" of a classifier, "variable" of others.
    """

    steps: list[Step]
    constants: dict[str, NDArray[Any]]
    outputs: list[str]


def onnx_steps(model: PlainModel, table: str, *, raw_scores: bool = False) -> Steps:
    """Return the operators of a model for the input `table`, of type float32 and shape (n, d).

    With `raw_scores`, the second output of a classifier is what ``decision_function`` returns, for two
    classes with its negative in the first column, as skl2onnx expects it of converters.
    """
    model.warn_of_link()
    trees = Step("TreeEnsembleRegressor", [table], "scores", _ensemble(model), ML)
    if model.classes is None or model.link == "custom":
        link = {"exponential": "Exp"}.get(model.link, "Identity")
        return Steps([trees, Step(link, ["scores"], NUMBER)], {}, [NUMBER])
    constants: dict[str, NDArray[Any]] = {"classes": class_labels(model.classes)}
    steps = _of_two(model, constants, raw_scores) if model.n_scores == 1 else _of_many(raw_scores)
    steps.append(Step("Gather", ["classes", "number"], LABEL, {"axis": 0}))
    return Steps([trees, *steps], constants, [LABEL, PROBABILITIES])


def _of_two(model: PlainModel, constants: dict[str, NDArray[Any]], raw_scores: bool) -> list[Step]:
    """Probabilities of both classes; the second is predicted above a score of 0, or a probability of 0.5."""
    is_logistic = model.link == "logistic"
    one = np.ones(1, dtype=np.float32)
    constants |= {"limit": one * np.float32(0.0 if is_logistic else 0.5), "axis": np.array([1])}
    if raw_scores:
        both = [Step("Sub", ["scores", "limit"], "second"), Step("Neg", ["second"], "first")]
    else:
        constants["one"] = one
        second = Step("Sigmoid", ["scores"], "second")
        if not is_logistic:
            constants |= {"zero": np.zeros((), np.float32), "whole": np.ones((), np.float32)}
            second = Step("Clip", ["scores", "zero", "whole"], "second")
        both = [second, Step("Sub", ["one", "second"], "first")]
    return [
        *both,
        Step("Concat", ["first", "second"], PROBABILITIES, {"axis": 1}),
        Step("Greater", ["scores", "limit"], "is_second"),
        Step("Cast", ["is_second"], "numbers", {"to": 7}),  # int64
        Step("Squeeze", ["numbers", "axis"], "number"),
    ]


def _of_many(raw_scores: bool) -> list[Step]:
    link = Step("Softmax", ["scores"], PROBABILITIES, {"axis": 1})
    return [
        Step("Identity", ["scores"], PROBABILITIES) if raw_scores else link,
        Step("ArgMax", ["scores"], "number", {"axis": 1, "keepdims": 0}),
    ]


def class_labels(classes: NDArray[Any]) -> NDArray[Any]:
    """Return labels as text or numbers, whole ones if they are, as scikit-learn's converters do."""
    if classes.dtype.kind in "OUS":
        return np.array([str(label) for label in classes.tolist()], dtype=object)
    numbers = classes.astype(np.float64)
    return classes.astype(np.int64) if (numbers == np.rint(numbers)).all() else numbers.astype(np.float32)


def _ensemble(model: PlainModel) -> dict[str, Any]:
    """Return the attributes of the operator TreeEnsembleRegressor."""
    nodes: dict[str, list[Any]] = {name: [] for name in _NODES}
    targets: dict[str, list[Any]] = {name: [] for name in _TARGETS}
    for number, tree in enumerate(model.trees):
        _add_nodes(nodes, model, number, tree)
        leaves = np.flatnonzero(tree.feature < 0).tolist()
        targets["target_treeids"] += [number] * len(leaves)
        targets["target_nodeids"] += leaves
        targets["target_ids"] += [number % model.n_scores] * len(leaves)
        targets["target_weights"] += tree.value[leaves].astype(np.float32).tolist()
    return {
        **nodes,
        **targets,
        "n_targets": model.n_scores,
        "aggregate_function": "SUM",
        "post_transform": "NONE",
        # Added last: small values of trees are not rounded to the precision of a large start.
        "base_values": model.start.astype(np.float32).tolist(),
    }


_NODES = (
    "nodes_treeids",
    "nodes_nodeids",
    "nodes_featureids",
    "nodes_modes",
    "nodes_values",
    "nodes_truenodeids",
    "nodes_falsenodeids",
    "nodes_missing_value_tracks_true",
)
_TARGETS = ("target_treeids", "target_nodeids", "target_ids", "target_weights")


def _add_nodes(nodes: dict[str, list[Any]], model: PlainModel, number: int, tree: Tree) -> None:
    is_leaf, missing_left = tree.feature < 0, tree.missing_left != 0
    is_missing = (tree.is_category != 0) & np.isnan(tree.threshold)
    is_category = (tree.is_category != 0) & ~is_missing
    _require_float32(model, tree.feature[is_category], tree.threshold[is_category])
    left = np.where(is_leaf, 0, tree.left)
    right = np.where(is_leaf, 0, tree.left + 1)
    # The category of missing values is a split that all other values pass.
    values = np.where(is_category, tree.threshold, rounded_down(np.where(is_missing, np.inf, tree.threshold)))
    modes = np.where(is_leaf, "LEAF", np.where(is_category, "BRANCH_EQ", "BRANCH_LEQ"))
    nodes["nodes_treeids"] += [number] * tree.n_nodes
    nodes["nodes_nodeids"] += range(tree.n_nodes)
    nodes["nodes_featureids"] += np.where(is_leaf, 0, tree.feature).tolist()
    nodes["nodes_modes"] += modes.tolist()
    nodes["nodes_values"] += np.where(is_leaf, 0.0, values).tolist()
    nodes["nodes_truenodeids"] += np.where(is_category, right, left).tolist()
    nodes["nodes_falsenodeids"] += np.where(is_category, left, right).tolist()
    tracks_true = np.where(is_category, ~missing_left, missing_left & ~is_missing) & ~is_leaf
    nodes["nodes_missing_value_tracks_true"] += tracks_true.astype(np.int64).tolist()


def rounded_down(thresholds: F64) -> F64:
    """Return the largest number of type float32 that is at most a threshold, as float64."""
    with np.errstate(over="ignore"):
        nearest = thresholds.astype(np.float32)
    below = np.nextafter(nearest, np.float32(-np.inf))
    return np.where(nearest.astype(np.float64) > thresholds, below, nearest).astype(np.float64)


def _require_float32(model: PlainModel, columns: Any, categories: F64) -> None:
    """Refuse categories that no value of type float32 equals."""
    wrong = categories.astype(np.float32).astype(np.float64) != categories
    if wrong.any():
        raise ValueError(
            f"column {model.names[columns[wrong][0]]!r} has the category {categories[wrong][0]!r}, which is "
            "not a number of type float32, the input of ONNX models: recode the column"
        )
