"""One record for each parameter of the estimators. The defaults are in the constructors of the estimators."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gtgbm.losses import NAMED_LOSSES
from gtgbm.parameters.cost_kinds import Budget, Costs, Groups
from gtgbm.parameters.data_kinds import ClassWeights, Columns, Directions, LossName, Metrics, PerTask
from gtgbm.parameters.kinds import (
    Choice,
    Context,
    Count,
    Flag,
    Kind,
    Number,
    Penalty,
    Rounds,
    RowCount,
    Seed,
    Threads,
    Verbosity,
)
from gtgbm.parameters.size_kinds import Bytes

METHODS = ("multitask", "group-sparse", "independent", "single-task")
"""Methods of the multitask estimators."""

SEARCH_NAMES = ("auto", "group-testing", "exhaustive")
"""Names of searches: 'auto', and those of `gtgbm.boosting.SEARCHES`, which the help need not import."""

_NO_CONTEXT = Context()


@dataclass(frozen=True)
class Parameter:
    """A parameter of estimators.

    Attributes
    ----------
    kind : Kind
        The values it accepts, and how they are written as text.
    meaning : str
        Description in the docstrings of the estimators and in the help of the command line.
    panel : str
        Group of options in the help of the command line.
    symbol : str
        The paper's symbol, or an empty string.
    aliases : tuple of str
        Other flags on the command line.
    """

    name: str
    kind: Kind
    meaning: str
    panel: str
    symbol: str = ""
    aliases: tuple[str, ...] = ()

    @property
    def flag(self) -> str:
        """Name of the flag on the command line."""
        return "--" + self.name.replace("_", "-")

    def check(self, value: Any, context: Context = _NO_CONTEXT) -> Any:
        """Return the validated value, or raise an error that says which values are valid."""
        return self.kind.check(self.name, value, context)

    def parse(self, text: str) -> Any:
        """Return the value of a text from the command line."""
        if self.kind.optional and text.lower() == "none":
            return None
        return self.kind.parse(self.flag, text)


def _trees() -> list[Parameter]:
    panel = "Trees"
    return [
        Parameter(
            "n_estimators",
            Count(low=1),
            "Number of boosting rounds. A round grows one tree, or one tree per class with more than two "
            "classes.",
            panel,
            "N",
            ("--trees",),
        ),
        Parameter(
            "learning_rate",
            PerTask(Number(low=0, low_open=True)),
            "Factor on the leaf values of each tree. Multitask models also take a dict from task to factor.",
            panel,
            "ε",
        ),
        Parameter(
            "min_node_fraction",
            Number(low=0, high=1),
            "Nodes with less than this fraction of the rows are not split.",
            panel,
            "α",
        ),
        Parameter(
            "min_samples_leaf",
            Count(low=1, optional=True),
            "Minimum number of rows in a leaf. With sample_weight, the minimum weight: in rows if all "
            "weights are whole numbers, else in mean weights. None: a quarter of the rows that "
            "min_node_fraction requires, and at least 10, or a tenth of the rows of a table with fewer than "
            "100.",
            panel,
        ),
        Parameter(
            "max_depth", Count(low=1, optional=True), "Maximum depth of a tree. None: no limit.", panel
        ),
        Parameter(
            "max_leaf_nodes",
            Count(low=2, optional=True, or_auto=True),
            "Maximum number of leaves of a tree. The splits with the largest gains are kept, in the order "
            "of best-first growth. None: no limit. 'auto': 8, 16 or 31, whichever has the lowest loss on "
            "unseen rows, for features that are selected forward and backward; of more than 30,000 rows 31, "
            "or a thousandth of the rows if that is more. Without such selection: no limit.",
            panel,
        ),
        Parameter(
            "l2_regularization",
            Number(low=0),
            "L2 regularization λ of the leaf values: a leaf is the sum of the residuals divided by the sum "
            "of the curvatures plus λ, and gains of splits are computed in the same way with the sum of the "
            "weights, or of the curvatures with criterion='newton'. Leaves that are medians or quantiles are "
            "not regularized, only their splits are.",
            panel,
        ),
        Parameter(
            "loss",
            LossName(),
            "Loss function. Classifiers: 'log_loss', or 'squared_error' for two classes. Regressors: "
            f"{', '.join(map(repr, ['squared_error', *(loss.name for loss in NAMED_LOSSES)]))}. Ranker: "
            "'lambdarank', 'pairwise'. Also an object from gtgbm.losses, such as Quantile(0.9), or a "
            "user-defined LossFunction.",
            panel,
        ),
        Parameter(
            "init",
            Choice(("best", "zero")),
            "Initial score: 'best' is the constant that minimises the loss, 'zero' is 0 as in the paper.",
            panel,
            "H",
        ),
        Parameter(
            "criterion",
            Choice(("residuals", "newton")),
            "What splits fit by least squares: 'residuals' as in the paper, or 'newton': residuals divided "
            "by the curvature of the loss and weighted by it, which helps where the targets are almost "
            "deterministic.",
            panel,
        ),
        Parameter(
            "subsample",
            Number(low=0, high=1, low_open=True),
            "Fraction of the rows that is drawn for each round.",
            panel,
        ),
        Parameter(
            "colsample",
            Number(low=0, high=1, low_open=True),
            "Fraction of the columns that is drawn for each round.",
            panel,
        ),
        Parameter(
            "monotone_constraints",
            Directions(),
            "1, -1 or 0 for each column, or a dict from columns to them: predictions never decrease (1) or "
            "never increase (-1) with the values of the column.",
            panel,
        ),
        Parameter(
            "warm_start",
            Flag(),
            "Continue from the trees and selected features of the previous fit, up to n_estimators rounds.",
            panel,
        ),
        Parameter(
            "truncation_level",
            Count(low=1),
            "With 'lambdarank', only pairs whose higher-ranked document is among the first truncation_level "
            "documents count.",
            panel,
        ),
    ]


def _features() -> list[Parameter]:
    panel = "Features"
    return [
        Parameter(
            "penalty",
            Penalty(),
            "Cost of the first use of a feature: a larger penalty selects fewer features. With "
            "penalty_scale='root' it is a fraction of the squared error at the root of each tree, in [0, 1); "
            "with 'absolute' it is in units of that error. 'auto': what the best of all features would gain "
            "at a node by chance if they were useless. Forward-backward selection has its own prices.",
            panel,
            "μ",
        ),
        Parameter(
            "penalty_scale",
            Choice(("root", "absolute")),
            "Unit of the penalty: 'root' (A-GBM, GT-GBM) or 'absolute' (GBFS).",
            panel,
        ),
        Parameter(
            "n_features_to_select",
            Count(low=1, optional=True, or_auto=True, of_features=True),
            "Maximum number of selected features; a group of feature_groups counts as one. None: no limit. "
            "'auto': the smallest number whose score, cross-validated in 5 folds, is within one standard "
            "error of the best; see selection_path_.",
            panel,
            aliases=("--max-features",),
        ),
        Parameter(
            "selection",
            Choice(("auto", "forward", "forward-backward")),
            "'forward': features are bought one after the other until n_features_to_select are selected, as "
            "in the paper. 'forward-backward': models of parts of the rows buy more features than that, and "
            "those that matter least for the loss on the other rows are dropped. 'auto': 'forward-backward' "
            "with n_features_to_select or cost_budget, else 'forward'. Callbacks are called in the last fit "
            "only.",
            panel,
        ),
        *_costs(panel),
    ]


def _costs(panel: str) -> list[Parameter]:
    return [
        Parameter(
            "feature_costs",
            Costs(),
            "What each feature costs, relative to 1: its price is penalty times cost. One number per column, "
            "or a dict from columns or groups to numbers; others cost 1. A feature of infinite cost is never "
            "used.",
            panel,
        ),
        Parameter(
            "feature_groups",
            Groups(),
            "Columns that are bought together and paid once: lists of columns, or a dict from names of "
            "groups to such lists. A group costs what its columns do, which must be the same, or what "
            "feature_costs has under its name; it counts as one feature of n_features_to_select.",
            panel,
        ),
        Parameter(
            "fixed_features",
            Columns(),
            "Columns that are owned from the start, without a price: indices, a boolean mask or names. They "
            "are always selected and count towards n_features_to_select and, at their costs, cost_budget.",
            panel,
            aliases=("--fixed",),
        ),
        Parameter(
            "cost_budget",
            Budget(),
            "Highest total cost of the selected features, each group paid once. None: no limit.",
            panel,
            aliases=("--budget",),
        ),
    ]


def _search() -> list[Parameter]:
    panel = "Search"
    return [
        Parameter(
            "search",
            Choice(SEARCH_NAMES),
            "How new features are searched for: 'group-testing', 'exhaustive', or 'auto', which chooses the "
            "cheaper one and explains the choice in search_.reason.",
            panel,
        ),
        Parameter(
            "n_relevant",
            Count(low=1, optional=True, of_features=True),
            "Number of features expected to be relevant at a node. Group testing then draws random subsets "
            "of d / s features. None: each feature is in one subset, and the subsets are as small as a fixed "
            "budget of tests allows.",
            panel,
            "s",
        ),
        Parameter(
            "failure_probability",
            Number(low=0, high=1, low_open=True, high_open=True),
            "Probability that some relevant feature is never the only relevant one of a subset. A smaller "
            "value draws more subsets. Used with n_relevant or test_rows=None.",
            panel,
            "δ",
        ),
        Parameter(
            "test_rows",
            RowCount(low=10),
            "Number of rows sampled for group tests. 'auto': 1,000 to 2,000, depending on the penalty. None: "
            "the paper's algorithm, with all rows, halving of groups and min-max scaling.",
            panel,
        ),
    ]


def _data() -> list[Parameter]:
    panel = "Data"
    return [
        Parameter(
            "max_bins",
            Count(low=2, high=255),
            "Maximum number of bins per column, 2 to 255. Missing values have a bin of their own.",
            panel,
        ),
        Parameter(
            "categorical_features",
            Columns(),
            "Columns of categories: indices, a boolean mask or names. Text and categorical columns of a "
            "dataframe are categorical without being listed.",
            panel,
        ),
        Parameter(
            "categorical",
            Choice(("category", "column")),
            "What counts as a feature in a categorical column: 'category': each category is a feature of its "
            "own; 'column': the whole column is one feature, with its 254 most frequent categories.",
            panel,
            aliases=("--categorical-as",),
        ),
        Parameter(
            "class_weight",
            ClassWeights(),
            "Dict from class to weight, multiplied with sample_weight. 'balanced': every class has the same "
            "total weight.",
            panel,
        ),
    ]


def _validation() -> list[Parameter]:
    panel = "Validation"
    return [
        Parameter(
            "early_stopping_rounds",
            Count(low=1, optional=True),
            "Stop after this many rounds without improvement on the validation rows, and keep the trees up "
            "to the best round. None: no early stopping.",
            panel,
            aliases=("--early-stopping",),
        ),
        Parameter(
            "validation_fraction",
            Number(low=0, high=1, low_open=True, high_open=True),
            "Fraction of the rows held out for early stopping if there is no eval_set.",
            panel,
        ),
        Parameter(
            "eval_metric",
            Metrics(),
            "Metrics to evaluate on eval sets in addition to the loss: names (gtgbm.metrics), functions and "
            "scorers of scikit-learn, or callables f(y, prediction), where smaller is better unless they "
            "have greater_is_better = True. The last one decides early stopping.",
            panel,
            aliases=("--metric",),
        ),
    ]


def _tasks() -> list[Parameter]:
    panel = "Several tasks"
    return [
        Parameter(
            "group_penalty",
            Number(low=0, high=1, high_open=True),
            "Additional cost of a feature that no task has selected yet.",
            panel,
            "μ_G",
        ),
        Parameter(
            "task_penalty",
            PerTask(Number(low=0, high=1, high_open=True), has_auto=True),
            "Cost of the first use of a feature by a task: one number for all tasks or a dict from task to "
            "number. 'auto': 8 / (rows + 8) with the rows of the task, which an irrelevant feature seldom "
            "gains by chance.",
            panel,
            "μ_t",
        ),
        Parameter(
            "method",
            Choice(METHODS),
            "'multitask': both penalties; 'group-sparse': a feature selected by one task is free for all "
            "tasks; 'independent': each task is fitted separately, with the sum of both penalties; "
            "'single-task': one model for the rows of all tasks, with the task as a categorical column.",
            panel,
        ),
        Parameter(
            "task_order",
            Choice(("sequential", "parallel")),
            "'sequential': the tasks of a round are fitted one after the other, and a task sees the features "
            "that earlier tasks selected in the same round. 'parallel': the tasks of a round are fitted at "
            "the same time and see each other's features after the round; the features that "
            "n_features_to_select still allows are divided among them before each round.",
            panel,
        ),
        Parameter(
            "n_common_rounds",
            Rounds(),
            "Number of rounds, out of n_estimators, that come first and grow common trees on the rows of all "
            "tasks. Useful for similar tasks. Ignored by the methods 'independent' and 'single-task'.",
            panel,
        ),
        Parameter(
            "n_features_per_task",
            Count(low=1, optional=True, of_features=True),
            "Maximum number of features selected by each task. None: no limit.",
            panel,
        ),
    ]


def _running() -> list[Parameter]:
    panel = "Running"
    return [
        Parameter("random_state", Seed(), "Seed for all random draws.", panel, aliases=("--seed",)),
        Parameter(
            "n_jobs",
            Threads(),
            "Number of threads. None: all cores, within the limits of OMP_NUM_THREADS and joblib. The result "
            "does not depend on it.",
            panel,
            aliases=("--jobs",),
        ),
        Parameter(
            "memory_limit",
            Bytes(),
            "Most memory of the process, such as '2GB': a fit that needs more is refused before it reads the "
            "table, with what it needs. None: no limit.",
            panel,
        ),
        Parameter("verbose", Verbosity(), "If above 0, show a progress bar.", panel),
    ]


PARAMETERS: dict[str, Parameter] = {
    parameter.name: parameter
    for group in (_features, _trees, _search, _data, _validation, _tasks, _running)
    for parameter in group()
}
"""Every parameter of every estimator, by name."""
