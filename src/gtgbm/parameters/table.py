"""The table: one record for each parameter of the estimators; defaults stand in their constructors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

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

METHODS = ("multitask", "group-sparse", "independent", "single-task")
"""Ways to train several tasks."""

_NOTHING_KNOWN = Context()


@dataclass(frozen=True)
class Parameter:
    """A parameter of estimators.

    Attributes
    ----------
    kind : Kind
        Which values it takes, and how they are written as text.
    meaning : str
    panel : str
        Group of options that it stands in on the command line.
    symbol : str
        What the paper calls it, if it does.
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
        """Its name on the command line."""
        return "--" + self.name.replace("_", "-")

    def check(self, value: Any, context: Context = _NOTHING_KNOWN) -> Any:
        """Return the value as the engine takes it, or raise an error that says what is right."""
        return self.kind.check(self.name, value, context)

    def parse(self, text: str) -> Any:
        """Return the value that a text on the command line stands for."""
        if self.kind.optional and text.lower() == "none":
            return None
        return self.kind.parse(self.flag, text)


def _trees() -> list[Parameter]:
    panel = "Trees"
    return [
        Parameter(
            "n_estimators",
            Count(low=1),
            "Rounds of boosting (one tree each, or one tree per class).",
            panel,
            "N",
            ("--trees",),
        ),
        Parameter(
            "learning_rate",
            PerTask(Number(low=0, low_open=True)),
            "Factor on each tree's leaf values; for several tasks also a dict of tasks to factors.",
            panel,
            "ε",
        ),
        Parameter(
            "min_node_fraction",
            Number(low=0, high=1),
            "A node with fewer than this share of the rows is not split.",
            panel,
            "α",
        ),
        Parameter(
            "min_samples_leaf",
            Count(low=1, optional=True),
            "Fewest rows of a leaf, or least weight with sample_weight; None: a quarter of "
            "min_node_fraction's.",
            panel,
        ),
        Parameter("max_depth", Count(low=1, optional=True), "Most levels of splits; None: no limit.", panel),
        Parameter(
            "loss",
            LossName(),
            "Classifiers: 'log_loss', or for two classes 'squared_error'. Regressors: 'squared_error', "
            "'absolute_error', 'huber', 'quantile', 'poisson', 'tweedie'. Ranker: 'lambdarank', 'pairwise'. "
            "Or an object from gtgbm.losses, such as Quantile(0.9), or one of your own (LossFunction).",
            panel,
        ),
        Parameter(
            "init",
            Choice(("best", "zero")),
            "'best': start from the loss's best constant; 'zero': from 0, as the paper does.",
            panel,
            "H",
        ),
        Parameter(
            "criterion",
            Choice(("residuals", "newton")),
            "What splits fit by least squares: the residuals, as in the paper, or residuals over curvatures, "
            "weighted by curvature, which gains where targets are all but determined.",
            panel,
        ),
        Parameter(
            "subsample",
            Number(low=0, high=1, low_open=True),
            "Share of the rows that each round learns from, drawn anew.",
            panel,
        ),
        Parameter(
            "colsample",
            Number(low=0, high=1, low_open=True),
            "Share of the columns that the trees of each round may use, drawn anew.",
            panel,
        ),
        Parameter(
            "monotone_constraints",
            Directions(),
            "1, -1 or 0 for each column, or a dict of columns to them: predictions never fall (1) or never "
            "rise (-1) with the column's values.",
            panel,
        ),
        Parameter(
            "warm_start",
            Flag(),
            "Go on with the trees and features of the last fit, up to n_estimators rounds.",
            panel,
        ),
        Parameter(
            "truncation_level",
            Count(low=1),
            "lambdarank: pairs count whose higher document is among the first so many.",
            panel,
        ),
    ]


def _features() -> list[Parameter]:
    panel = "Features"
    return [
        Parameter(
            "penalty",
            Penalty(),
            "What the first use of a feature costs: larger means fewer features. With penalty_scale='root' a "
            "fraction of the squared error at each tree's root, in [0, 1); 'absolute': in units of that "
            "error.",
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
            Count(low=1, optional=True, of_features=True),
            "Hard limit on the number of distinct features.",
            panel,
            aliases=("--max-features",),
        ),
        Parameter(
            "shortlist",
            Number(low=1),
            "Above 1: so many times n_features_to_select are selected first, the half that gains most is "
            "kept and trained on again, and so on until n_features_to_select are left. Callbacks hear of the "
            "last fit.",
            panel,
        ),
    ]


def _search() -> list[Parameter]:
    panel = "Search"
    return [
        Parameter(
            "search",
            Choice(("auto", "group-testing", "exhaustive")),
            "How new features are looked for: 'group-testing', 'exhaustive', or 'auto', which takes the "
            "cheaper one and says why in search_.reason.",
            panel,
        ),
        Parameter(
            "n_relevant",
            Count(low=1, optional=True, of_features=True),
            "Features expected to matter at one node: group testing then draws subsets of d / s features. "
            "None: every feature is in one subset, and subsets are as small as a fixed budget of tests "
            "allows.",
            panel,
            "s",
        ),
        Parameter(
            "failure_probability",
            Number(low=0, high=1, low_open=True, high_open=True),
            "Chance that a relevant feature is never alone in a subset; smaller: more subsets. Needs "
            "n_relevant.",
            panel,
            "δ",
        ),
        Parameter(
            "test_rows",
            RowCount(low=10),
            "Rows a group test looks at. None: all rows, halving, min-max scaling: the paper's algorithm.",
            panel,
        ),
    ]


def _data() -> list[Parameter]:
    panel = "Data"
    return [
        Parameter(
            "max_bins",
            Count(low=2, high=255),
            "Bins of a column's values, 2 to 255; missing values have one more.",
            panel,
        ),
        Parameter(
            "categorical_features",
            Columns(),
            "Columns (indices, a mask, or names) that hold categories, besides a dataframe's columns of text "
            "and categories.",
            panel,
        ),
        Parameter(
            "categorical",
            Choice(("category", "column")),
            "What is selected of a categorical column: 'category': each category is a feature of its own; "
            "'column': the column is one feature, with its 254 most frequent categories.",
            panel,
            aliases=("--categorical-as",),
        ),
        Parameter(
            "class_weight",
            ClassWeights(),
            "Weights of classes, times sample_weight; 'balanced': all classes weigh the same together.",
            panel,
        ),
    ]


def _validation() -> list[Parameter]:
    panel = "Validation"
    return [
        Parameter(
            "early_stopping_rounds",
            Count(low=1, optional=True),
            "Stop after this many rounds without a better validation result, and keep the best round.",
            panel,
            aliases=("--early-stopping",),
        ),
        Parameter(
            "validation_fraction",
            Number(low=0, high=1, low_open=True, high_open=True),
            "Share of rows held out for early stopping when there is no eval_set.",
            panel,
        ),
        Parameter(
            "eval_metric",
            Metrics(),
            "Metrics to follow on eval sets besides the loss: names (gtgbm.metrics), functions and scorers "
            "of scikit-learn, or callables f(y, prediction), smaller being better unless they have "
            "greater_is_better = True. The last one decides early stopping.",
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
            "What a feature costs on top that no task uses yet.",
            panel,
            "μ_G",
        ),
        Parameter(
            "task_penalty",
            PerTask(Number(low=0, high=1, high_open=True), has_auto=True),
            "What the first use of a feature costs a task, or each task. 'auto': 8 / (rows + 8), the worth "
            "of eight of the task's rows, which chance seldom gains.",
            panel,
            "μ_t",
        ),
        Parameter(
            "method",
            Choice(METHODS),
            "'multitask': both penalties; 'group-sparse': what one task selects is free for all; "
            "'independent': tasks know nothing of each other, and pay both penalties for each feature; "
            "'single-task': one model of all rows, which knows the task as a category.",
            panel,
        ),
        Parameter(
            "task_order",
            Choice(("sequential", "parallel")),
            "'sequential': tasks take turns, and one knows what those before it selected in the same round. "
            "'parallel': tasks run side by side, and learn of each other's features after each round; what "
            "n_features_to_select still allows is dealt out to them before it.",
            panel,
        ),
        Parameter(
            "n_common_rounds",
            Rounds(),
            "So many of the n_estimators rounds come first and grow their trees from the rows of all tasks "
            "together, for tasks that are much alike. Of no effect on 'independent' and 'single-task'.",
            panel,
        ),
        Parameter(
            "n_features_per_task",
            Count(low=1, optional=True, of_features=True),
            "Hard limit on the number of features of each task.",
            panel,
        ),
    ]


def _running() -> list[Parameter]:
    panel = "Running"
    return [
        Parameter("random_state", Seed(), "Seed of everything random.", panel, aliases=("--seed",)),
        Parameter(
            "n_jobs",
            Threads(),
            "Threads; None: all cores, within OMP_NUM_THREADS and joblib's limits. Any number: the same "
            "result.",
            panel,
            aliases=("--jobs",),
        ),
        Parameter("verbose", Verbosity(), "1 shows a progress bar.", panel),
    ]


PARAMETERS: dict[str, Parameter] = {
    one.name: one
    for group in (_features, _trees, _search, _data, _validation, _tasks, _running)
    for one in group()
}
"""Every parameter of every estimator, by name."""
