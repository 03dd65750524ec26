"""Docstrings of the estimators, put together from one description of each parameter and attribute."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TypeVar

PARAMETERS: dict[str, tuple[str, str, str]] = {
    "n_estimators": ("int", "N", "Rounds of boosting (one tree each, or one tree per class)."),
    "learning_rate": ("float", "ε", "Factor on each tree's leaf values."),
    "penalty": (
        "float",
        "μ",
        "What the first use of a feature costs: larger means fewer features. With penalty_scale='root' a "
        "fraction of the squared error at each tree's root, in [0, 1); 'absolute': in units of that error.",
    ),
    "group_penalty": ("float", "μ_G", "What a feature costs on top that no task uses yet."),
    "task_penalty": (
        "float, 'auto' or dict",
        "μ_t",
        "What the first use of a feature costs a task, or each task. 'auto': 8 / (rows + 8), the worth of "
        "eight of the task's rows, which chance seldom gains.",
    ),
    "method": (
        "{'multitask', 'group-sparse', 'independent', 'single-task'}",
        "",
        "'multitask': both penalties; 'group-sparse': what one task buys is free for all; 'independent': "
        "tasks know nothing of each other, and pay both penalties for each feature; 'single-task': one model "
        "of all rows, which knows the task as a category.",
    ),
    "task_order": (
        "{'sequential', 'parallel'}",
        "",
        "'sequential': tasks take turns, and one knows what those before it bought in the same round. "
        "'parallel': tasks run side by side, and learn of each other's purchases after each round; what "
        "n_features_to_select still allows is dealt out to them before it.",
    ),
    "n_common_rounds": (
        "int",
        "",
        "So many of the n_estimators rounds come first and grow their trees from the rows of all tasks "
        "together, for tasks that are much alike. Of no effect on 'independent' and 'single-task'.",
    ),
    "n_features_per_task": ("int or None", "", "Hard limit on the number of features of each task."),
    "penalty_scale": (
        "{'root', 'absolute'}",
        "",
        "Unit of the penalty: 'root' (A-GBM, GT-GBM) or 'absolute' (GBFS).",
    ),
    "n_features_to_select": ("int or None", "", "Hard limit on the number of distinct features."),
    "shortlist": (
        "float",
        "",
        "Above 1: so many times n_features_to_select are bought first, the half that gains most is kept and "
        "trained on again, and so on until n_features_to_select are left. Callbacks hear of the last fit.",
    ),
    "min_node_fraction": ("float", "α", "A node with fewer than this share of the rows is not split."),
    "min_samples_leaf": (
        "int or None",
        "",
        "Fewest rows of a leaf, or least weight with sample_weight; None: a quarter of min_node_fraction's.",
    ),
    "max_depth": ("int or None", "", "Most levels of splits; None: no limit."),
    "search": (
        "{'auto', 'group-testing', 'exhaustive'}",
        "",
        "How new features are looked for: 'group-testing', 'exhaustive', or 'auto', which takes the cheaper "
        "one and says why in search_.reason.",
    ),
    "n_relevant": (
        "int or None",
        "s",
        "Features expected to matter at one node: group testing then draws subsets of d / s features. None: "
        "every feature is in one subset, and subsets are as small as a fixed budget of tests allows.",
    ),
    "failure_probability": (
        "float",
        "δ",
        "Chance that a relevant feature is never alone in a subset; smaller: more subsets. Needs n_relevant.",
    ),
    "test_rows": (
        "int, 'auto' or None",
        "",
        "Rows a group test looks at. None: all rows, halving, min-max scaling: the paper's algorithm.",
    ),
    "loss": (
        "str",
        "",
        "Classifiers: 'log_loss', or for two classes 'squared_error'. Regressors: 'squared_error', "
        "'absolute_error', 'huber', 'quantile', 'poisson', 'tweedie'. Ranker: 'lambdarank', 'pairwise'. Or "
        "an object from gtgbm.losses, such as Quantile(0.9), or one of your own (LossFunction).",
    ),
    "init": (
        "{'best', 'zero'}",
        "H",
        "'best': start from the loss's best constant; 'zero': from 0, as the paper does.",
    ),
    "max_bins": ("int", "", "Bins of a column's values, 2 to 255; missing values have one more."),
    "categorical_features": (
        "sequence of int, bool or str, or None",
        "",
        "Columns (indices, a mask, or names) that hold categories, besides a dataframe's columns of text and "
        "categories.",
    ),
    "categorical": (
        "{'category', 'column'}",
        "",
        "What is bought of a categorical column: 'category': each category is a feature of its own; "
        "'column': the column is one feature, with its 254 most frequent categories.",
    ),
    "random_state": ("int, RandomState or None", "", "Seed of everything random."),
    "n_jobs": (
        "int or None",
        "",
        "Threads; None: all cores, within OMP_NUM_THREADS and joblib's limits. Any number: the same result.",
    ),
    "verbose": ("int", "", "1 shows a progress bar."),
    "early_stopping_rounds": (
        "int or None",
        "",
        "Stop after this many rounds without a better validation result, and keep the best round.",
    ),
    "validation_fraction": (
        "float",
        "",
        "Share of rows held out for early stopping when there is no eval_set.",
    ),
    "eval_metric": (
        "str, callable, list or None",
        "",
        "Metrics to follow on eval sets besides the loss: names (gtgbm.metrics) or callables "
        "f(y, prediction), smaller being better unless they have greater_is_better = True. The last one "
        "decides early stopping.",
    ),
    "criterion": (
        "{'residuals', 'newton'}",
        "",
        "What splits fit by least squares: the residuals, as in the paper, or residuals over curvatures, "
        "weighted by curvature, which gains where targets are all but determined.",
    ),
    "subsample": ("float", "", "Share of the rows that each round learns from, drawn anew."),
    "colsample": ("float", "", "Share of the columns that the trees of each round may use, drawn anew."),
    "monotone_constraints": (
        "sequence of int, dict or None",
        "",
        "1, -1 or 0 for each column, or a dict of columns to them: predictions never fall (1) or never rise "
        "(-1) with the column's values.",
    ),
    "warm_start": (
        "bool",
        "",
        "Go on with the trees and features of the last fit, up to n_estimators rounds.",
    ),
    "class_weight": (
        "dict, 'balanced' or None",
        "",
        "Weights of classes, times sample_weight; 'balanced': all classes weigh the same together.",
    ),
    "truncation_level": (
        "int",
        "",
        "lambdarank: pairs count whose higher document is among the first so many.",
    ),
}
"""Type, the paper's symbol, and meaning of every parameter."""

ATTRIBUTES: dict[str, tuple[str, str]] = {
    "selected_features_": ("ndarray of int64", "Columns used, in the order they were bought."),
    "n_selected_features_": ("int", "Features bought: columns of numbers, and categories."),
    "selected_categories_": (
        "dict",
        "Categories bought of each categorical column, in order; NaN: missing values.",
    ),
    "feature_importances_": (
        "ndarray of float64, shape (d,)",
        "Share of each feature in the gain of all splits.",
    ),
    "selection_history_": (
        "list of HistoryEntry",
        "What was bought when: (tree, feature, gain, price, training_loss, category).",
    ),
    "evals_result_": (
        "dict",
        "Loss and metrics after each round, for 'training' (loss only), 'validation_0', 'validation_1', ...",
    ),
    "trees_": ("list of Tree", "The trees, as parallel arrays."),
    "n_leaves_": ("ndarray of int64", "Leaves of each tree."),
    "n_iter_": ("int", "Rounds of boosting kept."),
    "best_iteration_": ("int or None", "Rounds of the best model on the last eval set; None without one."),
    "search_": ("str", "The search used; its attribute ``reason`` says why."),
    "timings_": ("dict", "Seconds per stage of the fit."),
    "n_features_in_": ("int", "Features seen in fit."),
    "feature_names_in_": ("ndarray of str", "Their names, if the table had any."),
}

TASK_ATTRIBUTES: dict[str, tuple[str, str]] = {
    "tasks_": ("list", "Ids of the tasks, in the order in which they take turns."),
    "selected_features_": ("ndarray of int64", "Columns used by any task, in the order they were bought."),
    "shared_features_": ("ndarray of int64", "Those of them that at least two tasks use."),
    "task_features_": ("dict of ndarray of int64", "Columns used by each task, in the order it bought them."),
    "task_categories_": ("dict of dict", "Categories bought by each task, of each categorical column."),
    "task_importances_": (
        "dict of ndarray of float64, shape (d,)",
        "Share of each feature in the gain of all splits of each task's trees.",
    ),
    "feature_importances_": ("ndarray of float64, shape (d,)", "Mean of the tasks' importances."),
    "selection_history_": ("dict of list of HistoryEntry", "What each task bought when."),
    "evals_result_": ("dict of dict", "Loss and metrics of each task after each round."),
    "trees_": ("dict of list of Tree", "The trees of each task, as parallel arrays."),
    "n_leaves_": ("dict of ndarray of int64", "Leaves of each task's trees."),
    "n_iter_": ("dict of int", "Rounds of boosting kept of each task."),
    "best_iteration_": ("dict of int or None", "Rounds of each task's best model on its eval set."),
    "search_": ("dict of str", "The search used by each task; its attribute ``reason`` says why."),
    "timings_": ("dict", "Seconds per stage of the fit, of all tasks together."),
}
"""Attributes of models of several tasks: new ones, and those that are dicts by task there."""

T = TypeVar("T")


def documented(**more_attributes: tuple[str, str]) -> Callable[[type[T]], type[T]]:
    """Complete a class's docstring from its signature."""

    def write(cls: type[T]) -> type[T]:
        lines = [cls.__doc__ or "", "", "Parameters", "----------"]
        for name, parameter in inspect.signature(cls).parameters.items():
            kind, symbol, meaning = PARAMETERS[name]
            lines.append(f"{name} : {kind}, default {parameter.default!r}")
            lines.append(f"    {symbol + ': ' if symbol else ''}{meaning}")
        lines += ["", "Attributes", "----------"]
        for name, (kind, meaning) in (ATTRIBUTES | more_attributes).items():
            lines += [f"{name} : {kind}", f"    {meaning}"]
        cls.__doc__ = "\n".join(lines) + "\n"
        return cls

    return write
