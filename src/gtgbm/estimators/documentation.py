"""Docstrings of the estimators, made from the table of parameters and the tables of attributes below."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TypeVar

from gtgbm.parameters import PARAMETERS

ATTRIBUTES: dict[str, tuple[str, str]] = {
    "selected_features_": (
        "ndarray of int64, shape (K,)",
        "Columns used, and ``fixed_features``, ascending: the columns of ``transform``, and those that "
        "``compact()`` takes. "
        "``selection_history_`` has the order in which they were selected.",
    ),
    "selected_feature_names_": (
        "ndarray of str, shape (K,)",
        "Their names, if the table had any; else there is no such attribute, as of ``feature_names_in_``.",
    ),
    "n_selected_features_": (
        "int",
        "Features selected and paid for: columns of numbers, and single categories. A column of which three "
        "categories are selected counts three times, and once in ``selected_features_``; the two numbers are "
        "equal where there are no categories, or with ``categorical='column'``.",
    ),
    "total_cost_": (
        "float",
        "Cost of the selected features, each group paid once; their number without costs and groups.",
    ),
    "selected_categories_": (
        "dict",
        "Categories of each categorical column, in the order they were selected; NaN: missing values.",
    ),
    "feature_importances_": (
        "ndarray of float64, shape (d,)",
        "Share of each feature in the total gain of all splits.",
    ),
    "selection_history_": (
        "list of HistoryEntry",
        "What was selected, in order: (tree, feature, gain, price, training_loss, category, cost). ``tree`` "
        "is the round of boosting, counted from 0; for two classes and for numbers ``trees_[tree]`` is its "
        "tree.",
    ),
    "selection_path_": (
        "SelectionPath",
        "With ``n_features_to_select='auto'`` only: the cross-validated score of each number of features. "
        "``selection_path_.one_se_size`` is the number that was chosen, ``selection_path_.verdict()`` says "
        "why.",
    ),
    "evals_result_": (
        "dict",
        "Loss and metrics after each round, by set: 'training' (loss only), 'validation_0', 'validation_1', "
        "...",
    ),
    "trees_": ("list of Tree", "The trees, as parallel arrays."),
    "n_leaves_": ("ndarray of int64", "Number of leaves of each tree."),
    "n_iter_": ("int", "Number of boosting rounds kept."),
    "best_iteration_": (
        "int or None",
        "Number of rounds with the best result on the last eval set; None without an eval set.",
    ),
    "search_": ("str", "The search used; its attribute ``reason`` explains the choice."),
    "timings_": ("dict", "Seconds per stage of the fit."),
    "n_features_in_": ("int", "Number of columns seen in fit."),
    "feature_names_in_": ("ndarray of str", "Names of the columns, if the table had names."),
}

TASK_ATTRIBUTES: dict[str, tuple[str, str]] = {
    "tasks_": ("list", "Ids of the tasks, in the order in which they take turns."),
    "selected_features_": (
        "ndarray of int64, shape (K,)",
        "Columns used by any task, ascending: the columns of ``transform``, and those that ``compact()`` "
        "takes.",
    ),
    "shared_features_": ("ndarray of int64", "Those of them that at least two tasks use, ascending."),
    "task_features_": (
        "dict of ndarray of int64",
        "Columns used by each task, ascending; ``selection_history_`` has the order.",
    ),
    "task_categories_": (
        "dict of dict",
        "Categories selected by each task, by categorical column.",
    ),
    "task_importances_": (
        "dict of ndarray of float64, shape (d,)",
        "Share of each feature in the total gain of all splits of a task.",
    ),
    "feature_importances_": ("ndarray of float64, shape (d,)", "Mean of ``task_importances_``."),
    "selection_history_": (
        "dict of list of HistoryEntry",
        "One entry per feature selected by a task.",
    ),
    "evals_result_": ("dict of dict", "Loss and metrics of each task after each round."),
    "trees_": ("dict of list of Tree", "The trees of each task, as parallel arrays."),
    "n_leaves_": ("dict of ndarray of int64", "Number of leaves of each tree of a task."),
    "n_iter_": ("dict of int", "Number of boosting rounds kept for each task."),
    "best_iteration_": (
        "dict of int or None",
        "Number of rounds with the best result of each task on its eval set.",
    ),
    "search_": (
        "dict of str",
        "The search used by each task; its attribute ``reason`` explains the choice.",
    ),
    "timings_": ("dict", "Seconds per stage of the fit, summed over tasks."),
}
"""Attributes of multitask models: additional ones, and those that are dicts by task."""

T = TypeVar("T")


def documented(**more_attributes: tuple[str, str]) -> Callable[[type[T]], type[T]]:
    """Add the sections Parameters and Attributes to the docstring of an estimator."""

    def write(cls: type[T]) -> type[T]:
        lines = [inspect.cleandoc(cls.__doc__ or ""), "", "Parameters", "----------"]
        for name, parameter in inspect.signature(cls).parameters.items():
            record = PARAMETERS[name]
            lines.append(f"{name} : {record.kind.doc_type}, default {parameter.default!r}")
            lines.append(f"    {record.symbol + ': ' if record.symbol else ''}{record.meaning}")
        lines += ["", "Attributes", "----------"]
        for name, (kind, meaning) in (ATTRIBUTES | more_attributes).items():
            lines += [f"{name} : {kind}", f"    {meaning}"]
        cls.__doc__ = "\n".join(lines) + "\n"
        return cls

    return write
