"""Parameters of all estimators, and the settings of a fit that they define."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from sklearn.base import BaseEstimator

from gtgbm.boosting import (
    ColumnSettings,
    PriceSettings,
    RoundSettings,
    SearchSettings,
    Settings,
    TreeSettings,
)
from gtgbm.data import FrameSchema
from gtgbm.estimators.purchase_units import PurchaseParameters
from gtgbm.estimators.size_bounds import SizeBounds
from gtgbm.parameters import PARAMETERS, Context
from gtgbm.pricing import PenaltyScale, SpendingLimits
from gtgbm.search import GroupTestSettings
from gtgbm.selection import SelectionPath

NO_CONTEXT = Context()
"""For parameters whose valid values do not depend on the data."""

_MIN_TEST_ROWS = 100
"""At nodes with fewer test rows, group tests find only noise (docs/group-testing.md)."""
_CHANCE_GAIN = 4.0
"""Gain by chance of an irrelevant feature's best split, in residual variances (docs/group-testing.md)."""
_TEST_ROWS = (1000, 2000)
"""Smallest and largest number of test rows with test_rows='auto' (docs/group-testing.md)."""

REVISIT_SHARE = 0.5
"""GT-GBM searches for new features at a node once it has at most this share of the rows of the last node
above it whose search found nothing: this is faster, and selects better features (docs/group-testing.md)."""

LONGEST_BACKOFF = 3
"""Back-off of GT-GBM: after each fruitless search, skip 1, 2, then this many trees."""


class Parameters(BaseEstimator):
    """Parameters of the estimators; ``fit`` validates them."""

    # Defaults for subclasses without these parameters.
    search: Any = "exhaustive"
    penalty_scale: Any = "root"
    n_relevant: Any = None
    failure_probability: Any = 0.1
    test_rows: Any = "auto"
    memory_limit: Any = None
    selection: Any = "forward"

    # Whether only some nodes of some trees search for new features (REVISIT_SHARE, LONGEST_BACKOFF).
    _limits_searches = False
    # The columns of the training dataframe; None if the model was trained on an array.
    _schema: FrameSchema | None = None
    # With n_features_to_select="auto" only.
    selection_path_: SelectionPath

    n_estimators: Any
    learning_rate: Any
    penalty: Any
    n_features_to_select: Any
    feature_costs: Any
    feature_groups: Any
    fixed_features: Any
    cost_budget: Any
    min_node_fraction: Any
    min_samples_leaf: Any
    max_depth: Any
    max_leaf_nodes: Any
    l2_regularization: Any
    loss: Any
    init: Any
    max_bins: Any
    categorical_features: Any
    categorical: Any
    random_state: Any
    n_jobs: Any
    verbose: Any
    early_stopping_rounds: Any
    validation_fraction: Any
    eval_metric: Any
    criterion: Any
    subsample: Any
    colsample: Any
    monotone_constraints: Any
    warm_start: Any

    def _set_parameters(self, values: dict[str, Any]) -> None:
        """Set the arguments of ``__init__`` unchanged, as scikit-learn requires; ``fit`` validates them."""
        for name in self._get_param_names():
            setattr(self, name, values[name])

    def _checked(self, name: str, context: Context = NO_CONTEXT) -> Any:
        """Return the validated value of a parameter."""
        return PARAMETERS[name].check(getattr(self, name), context)

    def _settings(self, n_features: int, penalty: Any = None, learning_rate: Any = None) -> Settings:
        """Validate the parameters; each task of a multitask model passes its penalty and learning rate."""
        cost = self.penalty if penalty is None else penalty
        rate = self.learning_rate if learning_rate is None else learning_rate
        scale: PenaltyScale = self._checked("penalty_scale")
        price = PARAMETERS["penalty"].check(cost, Context(others={"penalty_scale": scale}))
        above_chance = price == "auto"
        price = 0.0 if above_chance else price
        context = self._column_context(n_features)
        categorical, by_category = context.categorical, self._by_category(context)
        # Each category is a feature, so the number of columns is not an upper bound.
        limit = self._most_features(NO_CONTEXT if by_category else context)
        limits = SpendingLimits(limit, self._checked("cost_budget"))
        test_rows = self._n_test_rows(price if scale == "root" else None)
        limits_searches = self._limits_searches and test_rows is not None
        return Settings(
            rounds=RoundSettings(
                n_rounds=self._checked("n_estimators"),
                learning_rate=PARAMETERS["learning_rate"].check(rate),
                patience=self._checked("early_stopping_rounds"),
                criterion=self._checked("criterion"),
                subsample=self._checked("subsample"),
                colsample=self._checked("colsample"),
            ),
            prices=PriceSettings(
                penalty=price,
                scale=scale,
                limits=limits,
                above_chance=above_chance,
                drops=self._drops(),
                units=self._purchases(context).units(context, by_category, limits),
            ),
            tree=TreeSettings(
                min_node_fraction=self._checked("min_node_fraction"),
                min_samples_leaf=self._checked("min_samples_leaf"),
                l2=self._checked("l2_regularization"),
                max_depth=self._checked("max_depth"),
                max_leaf_nodes=self._most_leaves(),
                revisit_share=REVISIT_SHARE if limits_searches else 1.0,
                longest_backoff=LONGEST_BACKOFF if limits_searches else 0,
            ),
            search=SearchSettings(
                name=self._checked("search"),
                group_tests=self._group_tests(context, of_paper=test_rows is None),
                test_rows=test_rows,
                min_test_rows=_MIN_TEST_ROWS,
                chance_gain=_CHANCE_GAIN,
            ),
            columns=ColumnSettings(
                max_bins=self._checked("max_bins"),
                categorical=categorical,
                whole_categories=self._checked("categorical") == "column",
                monotone=self._checked("monotone_constraints", context),
                memory_limit=self._checked("memory_limit"),
            ),
            zero_start=self._checked("init") == "zero",
        )

    def _column_context(self, n_features: int) -> Context:
        """Return what validation has to know of the columns."""
        names = getattr(self, "feature_names_in_", None)
        context = Context(n_features=n_features, feature_names=names)
        categorical = self._checked("categorical_features", context)
        if self._schema is not None:
            categorical = sorted({*categorical, *self._schema.categorical})
        return replace(context, categorical=categorical)

    def _by_category(self, context: Context) -> Sequence[int]:
        """Return the columns whose categories are features."""
        return [] if self._checked("categorical") == "column" else context.categorical

    def _most_features(self, context: Context) -> int | None:
        """Return the number of features to select; None: no limit."""
        limit = self._checked("n_features_to_select", context)
        return self.selection_path_.one_se_size if limit == "auto" else limit

    def _size_bounds(self, n_features: int) -> SizeBounds:
        """Return how many features a model can have."""
        context = self._column_context(n_features)
        by_category = self._by_category(context)
        units = self._purchases(context).units(context, by_category, SpendingLimits())
        usable = np.setdiff1d(np.arange(n_features), units.forbidden)
        most = None if by_category else len(units.distinct(usable.tolist()))
        return SizeBounds(max(1, len(units.fixed_units)), most)

    def _purchases(self, context: Context) -> PurchaseParameters:
        """Validate what the parameters say about costs, groups and fixed features."""
        groups = self._checked("feature_groups", context)
        costs = self._checked("feature_costs", replace(context, others={"feature_groups": groups}))
        return PurchaseParameters(costs, groups, self._checked("fixed_features", context))

    def _group_tests(self, context: Context, *, of_paper: bool) -> GroupTestSettings:
        n_relevant = self._checked("n_relevant", context)
        failure = self._checked("failure_probability")
        if of_paper:
            return GroupTestSettings.of_paper(n_relevant, failure)
        return GroupTestSettings(n_relevant, failure)

    def _drops(self) -> bool:
        """Whether features are selected forward and backward."""
        selection = self._checked("selection")
        if selection == "forward-backward" and not self._is_limited():
            raise ValueError(
                f"selection={selection!r} drops features until n_features_to_select or cost_budget is met, "
                "which are None: give one of them, or selection='forward'"
            )
        return bool(selection != "forward" and self._is_limited())

    def _most_leaves(self) -> int | Literal["auto"] | None:
        """Return the maximum number of leaves; without a limit on features, trees are those of the paper."""
        most: int | Literal["auto"] | None = self._checked("max_leaf_nodes")
        return None if most == "auto" and not self._drops() else most

    def _is_limited(self) -> bool:
        return self.n_features_to_select is not None or self.cost_budget is not None

    def _n_test_rows(self, penalty: float | None) -> int | None:
        rows: int | str | None = self._checked("test_rows")
        if not isinstance(rows, str):
            return rows
        fewest, most = _TEST_ROWS
        # A selected feature gains more than μ of the squared error; chance gains about as much as 8 rows.
        return most if not penalty else int(np.clip(8.0 / penalty, fewest, most))
