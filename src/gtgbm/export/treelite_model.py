"""Models for treelite, which serves and compiles them (GTIL, FIL, tl2cgen)."""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np

from gtgbm.export.categories import require_code
from gtgbm.export.files import export_files
from gtgbm.export.optional import needed
from gtgbm.export.plain_model import PlainModel, check_fitted, converted
from gtgbm.tree import Tree

_POSTPROCESSORS = {
    "identity": "identity",
    "exponential": "exponential",
    "logistic": "sigmoid",
    "softmax": "softmax",
    "custom": "identity",
}

_LOWEST = float(np.finfo(np.float64).min)


def to_treelite(estimator: Any, *, task: Any = None) -> Any:
    """Return a fitted model as a ``treelite.Model``; by task for several tasks.

    Parameters
    ----------
    estimator : any fitted estimator of this package
    task : object, optional
        One task of a multitask model.

    Returns
    -------
    treelite.Model, or dict of them by task
        Thresholds and leaves are of type float64: predict rows of that type.
    """
    check_fitted(estimator)
    builder = needed("treelite.model_builder", "to_treelite")
    return converted(estimator, task, lambda model: treelite_model(builder, model))


def export_treelite(estimator: Any, path: str | PathLike[str], *, task: Any = None) -> list[str]:
    """Write a fitted model as a file of treelite, which ``treelite.Model.deserialize`` reads.

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
    builder = needed("treelite.model_builder", "export_treelite")
    return export_files(estimator, path, task, lambda model: treelite_model(builder, model).serialize_bytes())


def treelite_model(builder: Any, model: PlainModel) -> Any:
    """Build a model with the module ``treelite.model_builder``."""
    model.warn_of_link()
    k, trees = model.n_scores, model.summed_trees()
    task_type = "kMultiClf" if k > 1 else "kBinaryClf" if model.link == "logistic" else "kRegressor"
    built = builder.ModelBuilder(
        threshold_type="float64",
        leaf_output_type="float64",
        metadata=builder.Metadata(
            num_feature=model.n_features,
            task_type=task_type,
            average_tree_output=False,
            num_target=1,
            num_class=[k],
            leaf_vector_shape=(1, 1),
        ),
        tree_annotation=builder.TreeAnnotation(
            num_tree=len(trees), target_id=[0] * len(trees), class_id=[t % k for t in range(len(trees))]
        ),
        postprocessor=builder.PostProcessorFunc(name=_POSTPROCESSORS[model.link]),
        base_scores=[0.0] * k,
    )
    for tree in trees:
        _add_tree(built, model, tree)
    return built.commit()


def _add_tree(built: Any, model: PlainModel, tree: Tree) -> None:
    cover = tree.covers()
    built.start_tree()
    for node in range(tree.n_nodes):
        built.start_node(node)
        if tree.feature[node] < 0:
            built.leaf(float(tree.value[node]))
        else:
            _add_split(built, model, tree, node)
            built.gain(float(tree.gain[node]))
        built.data_count(int(cover[node]))
        built.end_node()
    built.end_tree()


def _add_split(built: Any, model: PlainModel, tree: Tree, node: int) -> None:
    column, threshold, left = int(tree.feature[node]), float(tree.threshold[node]), int(tree.left[node])
    children = {"left_child_key": left, "right_child_key": left + 1}
    if tree.is_category[node] and not np.isnan(threshold):
        require_code(model, column, threshold, "treelite")
        built.categorical_test(
            feature_id=column,
            category_list=[int(threshold)],
            default_left=bool(tree.missing_left[node]),
            category_list_right_child=True,
            **children,
        )
        return
    # The category of missing values is a split that all other values pass to the left.
    is_missing = bool(tree.is_category[node])
    # Up to minus infinity is below all numbers; tl2cgen takes the former for never.
    is_lowest = threshold == -np.inf
    built.numerical_test(
        feature_id=column,
        threshold=_LOWEST if is_lowest else np.inf if is_missing else threshold,
        default_left=not is_missing and bool(tree.missing_left[node]),
        opname="<" if is_lowest else "<=",
        **children,
    )
