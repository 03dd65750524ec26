"""Parameters of all estimators, and the settings of a fit they stand for."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from sklearn.base import BaseEstimator

from gtgbm.boosting import (
    ColumnSettings,
    Criterion,
    PriceSettings,
    RoundSettings,
    SearchName,
    SearchSettings,
    Settings,
    TreeSettings,
)
from gtgbm.data import FrameSchema
from gtgbm.estimators import parameters as check
from gtgbm.pricing import PenaltyScale
from gtgbm.search import GroupTestSettings

_MIN_TEST_ROWS = 100
"""Nodes with fewer test rows propose only noise (docs/group-testing.md)."""
_CHANCE_GAIN = 4.0
"""What a useless feature's best split gains by chance, in residual variances (docs/group-testing.md)."""
_TEST_ROWS = (1000, 2000)
"""Fewest and most rows an automatic group test looks at (docs/group-testing.md)."""

REVISIT_SHARE = 0.5
"""GT-GBM looks for new features at a node once it has half the rows of the last node that looked and found
nothing: faster, and the features it buys are worth more (docs/group-testing.md)."""

LONGEST_BACKOFF = 3
"""Back-off of GT-GBM: after each fruitless search skip 1, 2, then this many trees."""


class Parameters(BaseEstimator):
    """Arguments of a constructor, kept as they are until ``fit`` checks them."""

    # Parameters that some subclasses fix instead of offering them.
    search: Any = "exhaustive"
    penalty_scale: Any = "root"
    n_relevant: Any = None
    failure_probability: Any = 0.1
    test_rows: Any = "auto"
    shortlist: Any = 1.0

    # Whether not every node of every tree searches for new features.
    _limits_searches = False
    # What the columns of the dataframe hold that the model was trained on.
    _schema: FrameSchema | None = None

    # Parameters of every subclass.
    n_estimators: Any
    learning_rate: Any
    penalty: Any
    n_features_to_select: Any
    min_node_fraction: Any
    min_samples_leaf: Any
    max_depth: Any
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
        """Keep the arguments of ``__init__`` as they are; ``fit`` checks them."""
        for name in self._get_param_names():
            setattr(self, name, values[name])

    def _settings(self, n_features: int, penalty: Any = None, learning_rate: Any = None) -> Settings:
        """Check parameters; several tasks have a penalty and a learning rate each."""
        given = self.penalty if penalty is None else penalty
        rate = self.learning_rate if learning_rate is None else learning_rate
        scale = cast(PenaltyScale, check.option("penalty_scale", self.penalty_scale, ("root", "absolute")))
        if scale == "root":
            hint = (
                " (a fraction of the squared error at the root; for other units use penalty_scale='absolute')"
            )
            penalty = check.number("penalty", given, low=0, high=1, high_open=True, hint=hint)
        else:
            penalty = check.number("penalty", given, low=0)
        name = check.option("search", self.search, ("auto", "group-testing", "exhaustive"))
        hint = f" (X has {n_features} features)"
        n_relevant = check.optional_count("n_relevant", self.n_relevant, low=1, high=n_features, hint=hint)
        failure = check.number(
            "failure_probability", self.failure_probability, low=0, high=1, low_open=True, high_open=True
        )
        names = getattr(self, "feature_names_in_", None)
        categorical = check.columns("categorical_features", self.categorical_features, n_features, names)
        if self._schema is not None:
            categorical = sorted({*categorical, *self._schema.categorical})
        whole = check.option("categorical", self.categorical, ("column", "category")) == "column"
        test_rows = self._n_test_rows(penalty if scale == "root" else None)
        patience = check.optional_count("early_stopping_rounds", self.early_stopping_rounds, low=1)
        limits_searches = self._limits_searches and test_rows is not None
        return Settings(
            rounds=RoundSettings(
                n_rounds=check.count("n_estimators", self.n_estimators, low=1),
                learning_rate=check.number("learning_rate", rate, low=0, low_open=True),
                patience=patience,
                criterion=cast(Criterion, check.option("criterion", self.criterion, ("residuals", "newton"))),
                subsample=check.number("subsample", self.subsample, low=0, high=1, low_open=True),
                colsample=check.number("colsample", self.colsample, low=0, high=1, low_open=True),
            ),
            prices=PriceSettings(
                penalty=penalty,
                scale=scale,
                limit=check.optional_count(
                    "n_features_to_select",
                    self.n_features_to_select,
                    low=1,
                    # A categorical column holds more features than one.
                    high=None if categorical and not whole else n_features,
                    hint=hint,
                ),
                shortlist=self._checked_shortlist(),
            ),
            tree=TreeSettings(
                min_node_fraction=check.number("min_node_fraction", self.min_node_fraction, low=0, high=1),
                min_samples_leaf=check.optional_count("min_samples_leaf", self.min_samples_leaf, low=1),
                max_depth=check.optional_count("max_depth", self.max_depth, low=1),
                revisit_share=REVISIT_SHARE if limits_searches else 1.0,
                longest_backoff=LONGEST_BACKOFF if limits_searches else 0,
            ),
            search=SearchSettings(
                name=cast(SearchName, name),
                group_tests=GroupTestSettings.of_paper(n_relevant, failure)
                if test_rows is None
                else GroupTestSettings(n_relevant, failure),
                test_rows=test_rows,
                min_test_rows=_MIN_TEST_ROWS,
                chance_gain=_CHANCE_GAIN,
            ),
            columns=ColumnSettings(
                max_bins=check.count("max_bins", self.max_bins, low=2, high=255),
                categorical=categorical,
                whole_categories=whole,
                monotone=check.directions(
                    "monotone_constraints", self.monotone_constraints, n_features, names, categorical
                ),
            ),
            zero_start=check.option("init", self.init, ("best", "zero")) == "zero",
        )

    def _checked_shortlist(self) -> float:
        factor = check.number("shortlist", self.shortlist, low=1)
        if factor > 1.0 and self.n_features_to_select is None:
            raise ValueError(
                f"shortlist={self.shortlist} needs n_features_to_select, which it is a multiple of: give both"
            )
        return factor

    def _n_test_rows(self, penalty: float | None) -> int | None:
        if isinstance(self.test_rows, str):
            check.option("test_rows", self.test_rows, ("auto",), ", a whole number, or None for all rows")
            fewest, most = _TEST_ROWS
            # A bought feature gains more than μ of the squared error, chance about 8 rows' worth.
            return most if not penalty else int(np.clip(8.0 / penalty, fewest, most))
        hint = ", 'auto', or None for all rows (the paper's algorithm)"
        return None if self.test_rows is None else check.count("test_rows", self.test_rows, low=10, hint=hint)
