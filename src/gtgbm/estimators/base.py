"""What all estimators share: parameters to settings, fit, and what can be read off a fitted model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, is_classifier
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from gtgbm.arrays import F64, I64, Bool
from gtgbm.boosting import Callback, Validation
from gtgbm.data.input import AnyTable, as_table, check_rows
from gtgbm.estimators import parameters as check
from gtgbm.estimators.threads import make_pool, pool_for_rows
from gtgbm.feature_costs import PenaltyScale
from gtgbm.forest import Forest
from gtgbm.group_tests import GroupTestSettings
from gtgbm.losses import Loss
from gtgbm.progress import ProgressBar
from gtgbm.training import SearchName, Settings, train

_MIN_TEST_ROWS = 100
"""Nodes with fewer test rows propose only noise (docs/group-testing.md)."""
_CHANCE_GAIN = 4.0
"""What a useless feature's best split gains by chance, in residual variances (docs/group-testing.md)."""
_TEST_ROWS = (1000, 2000)
"""Fewest and most rows an automatic group test looks at (docs/group-testing.md)."""


REVISIT_SHARE = 0.5
"""GT-GBM looks for new features at a node once it has half the rows of the last node that looked and found
nothing: faster, and the features it buys are worth more (docs/group-testing.md)."""

LONGEST_REST = 3
"""GT-GBM's trees without a search after one that found nothing: first one, then two, then so many."""

INPUT: dict[str, Any] = {"accept_sparse": ("csr", "csc"), "dtype": "numeric", "ensure_all_finite": False}
"""What scikit-learn's validation lets through: we take all of it."""


class BaseGTGBM(SelectorMixin, BaseEstimator):
    """Common base of the estimators; not for direct use."""

    # Parameters that some subclasses fix instead of offering them.
    search: Any = "exhaustive"
    penalty_scale: Any = "root"
    n_relevant: Any = None
    failure_probability: Any = 0.1
    test_rows: Any = "auto"

    # Whether not every node of every tree looks for new features.
    _looks_seldom = False

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
    random_state: Any
    n_jobs: Any
    verbose: Any
    early_stopping_rounds: Any
    validation_fraction: Any

    def _set_parameters(self, values: dict[str, Any]) -> None:
        """Keep the arguments of ``__init__`` as they are; ``fit`` checks them."""
        for name in self._get_param_names():
            setattr(self, name, values[name])

    def __sklearn_tags__(self) -> Any:
        """Missing values and sparse tables are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags

    def _forget(self) -> None:
        """Make the model unfitted: should a fit fail, that is better than half of two."""
        if hasattr(self, "trees_"):
            del self.trees_

    def _fit(
        self, X: Any, y: F64, loss: Loss, eval_set: Sequence[tuple[Any, F64]], callbacks: Sequence[Callback]
    ) -> None:
        """Fit to validated data; `y` holds numbers already."""
        settings = self._settings(X.shape[1])
        pool = make_pool(self.n_jobs)
        verbose = check.count(
            "verbose", int(self.verbose) if isinstance(self.verbose, bool) else self.verbose, low=0
        )
        random = check_random_state(self.random_state)
        seed = int(random.randint(np.iinfo(np.int32).max))
        check_rows(X.shape[0])
        table = as_table(X)
        validations = [Validation(as_table(Xv), yv) for Xv, yv in eval_set]
        if settings.early_stopping_rounds is not None and not validations:
            kept, held_out = self._hold_out(y, seed)
            validations = [Validation(table[held_out], y[held_out])]
            table, y = table[kept], y[kept]
        with ProgressBar(verbose > 0, settings.n_estimators) as bar:
            fitted = train(
                table,
                y,
                loss,
                settings,
                seed=seed,
                pool=pool,
                validations=validations,
                callbacks=[bar.update, *callbacks],
            )
        self._keep(fitted.model, X.shape[1])
        self.search_ = fitted.search
        self.timings_ = fitted.timings
        if verbose > 0:
            bar.summary(len(self.selected_features_), X.shape[1], fitted.search, fitted.timings["total"])

    def _settings(self, n_features: int) -> Settings:
        scale = cast(PenaltyScale, check.option("penalty_scale", self.penalty_scale, ("root", "absolute")))
        if scale == "root":
            hint = (
                " (a fraction of the squared error at the root; for other units use penalty_scale='absolute')"
            )
            penalty = check.number("penalty", self.penalty, low=0, high=1, high_open=True, hint=hint)
        else:
            penalty = check.number("penalty", self.penalty, low=0)
        name = check.option("search", self.search, ("auto", "group-testing", "exhaustive"))
        hint = f" (X has {n_features} features)"
        n_relevant = check.optional_count("n_relevant", self.n_relevant, low=1, high=n_features, hint=hint)
        failure = check.number(
            "failure_probability", self.failure_probability, low=0, high=1, low_open=True, high_open=True
        )
        names = getattr(self, "feature_names_in_", None)
        categorical = check.columns("categorical_features", self.categorical_features, n_features, names)
        test_rows = self._n_test_rows(penalty if scale == "root" else None)
        patience = check.optional_count("early_stopping_rounds", self.early_stopping_rounds, low=1)
        return Settings(
            n_estimators=check.count("n_estimators", self.n_estimators, low=1),
            learning_rate=check.number("learning_rate", self.learning_rate, low=0, low_open=True),
            penalty=penalty,
            penalty_scale=scale,
            n_features_to_select=check.optional_count(
                "n_features_to_select",
                self.n_features_to_select,
                low=1,
                # A categorical column holds more features than one.
                high=None if categorical else n_features,
                hint=hint,
            ),
            min_node_fraction=check.number("min_node_fraction", self.min_node_fraction, low=0, high=1),
            min_samples_leaf=check.optional_count("min_samples_leaf", self.min_samples_leaf, low=1),
            max_depth=check.optional_count("max_depth", self.max_depth, low=1),
            revisit_share=REVISIT_SHARE if self._looks_seldom and test_rows is not None else 1.0,
            longest_rest=LONGEST_REST if self._looks_seldom and test_rows is not None else 0,
            search=cast(SearchName, name),
            group_tests=GroupTestSettings.of_paper(n_relevant, failure)
            if test_rows is None
            else GroupTestSettings(n_relevant, failure),
            test_rows=test_rows,
            min_test_rows=_MIN_TEST_ROWS,
            chance_gain=_CHANCE_GAIN,
            zero_start=check.option("init", self.init, ("best", "zero")) == "zero",
            max_bins=check.count("max_bins", self.max_bins, low=2, high=255),
            categorical=categorical,
            early_stopping_rounds=patience,
        )

    def _n_test_rows(self, penalty: float | None) -> int | None:
        if isinstance(self.test_rows, str):
            check.option("test_rows", self.test_rows, ("auto",), ", a whole number, or None for all rows")
            fewest, most = _TEST_ROWS
            # A bought feature gains more than μ of the squared error, chance about 8 rows' worth.
            return most if not penalty else int(np.clip(8.0 / penalty, fewest, most))
        hint = ", 'auto', or None for all rows (the paper's algorithm)"
        return None if self.test_rows is None else check.count("test_rows", self.test_rows, low=10, hint=hint)

    def _hold_out(self, y: F64, seed: int) -> tuple[I64, I64]:
        """Draw rows to train on and rows to validate with; some of every class are left to train on."""
        fraction = check.number(
            "validation_fraction", self.validation_fraction, low=0, high=1, low_open=True, high_open=True
        )
        n_rows = y.shape[0]
        rng = np.random.default_rng(seed)
        is_held_out: Bool = np.zeros(n_rows, dtype=np.bool_)
        for label in np.unique(y) if is_classifier(self) else [None]:
            rows = np.arange(n_rows) if label is None else np.flatnonzero(y == label)
            n_held_out = min(round(fraction * rows.shape[0]), rows.shape[0] - 1)
            is_held_out[rng.choice(rows, n_held_out, replace=False)] = True
        if round(fraction * n_rows) == n_rows or not is_held_out.any():
            raise ValueError(
                f"validation_fraction={fraction} of {n_rows} rows leaves no rows to train on or none to "
                "validate with: give another fraction, more rows or an eval_set"
            )
        return np.flatnonzero(~is_held_out), np.flatnonzero(is_held_out)

    def _keep(self, model: Any, n_features: int) -> None:
        self._start, self._outputs, self._fitted_loss = model.start, model.outputs, self.loss
        self.trees_ = model.trees
        self._forest = Forest.of(self.trees_, self._outputs, self._start)
        self.n_leaves_ = np.array([tree.n_leaves for tree in model.trees], dtype=np.int64)
        self.selection_history_ = model.history
        # A column with several categories bought is listed once.
        columns = dict.fromkeys(entry.feature for entry in model.history)
        self.selected_features_ = np.array(list(columns), dtype=np.int64)
        self.n_selected_features_ = len(model.history)
        self.selected_categories_: dict[int, list[float]] = {}
        for entry in model.history:
            if entry.category is not None:
                self.selected_categories_.setdefault(entry.feature, []).append(entry.category)
        gains = np.zeros(n_features)
        for tree in model.trees:
            used = tree.feature >= 0
            np.add.at(gains, tree.feature[used], tree.gain[used])
        total = gains.sum()
        self.feature_importances_ = gains / total if total > 0 else gains
        self.evals_result_ = {"training": {self._loss_name: model.training_losses}} | {
            f"validation_{k}": {self._loss_name: losses} for k, losses in enumerate(model.validation_losses)
        }
        self.n_iter_ = model.n_rounds

    @property
    def _loss_name(self) -> str:
        return str(self.loss)

    def __getstate__(self) -> Any:
        """Leave out what can be packed again from the trees."""
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_forest"}

    def __setstate__(self, state: Any) -> None:
        super().__setstate__(state)
        if "trees_" in state:
            self._forest = Forest.of(self.trees_, self._outputs, self._start)

    def _scores(self, X: Any) -> F64:
        """Scores of rows, shape (k, n)."""
        fitted = vars(self)
        if "trees_" not in fitted:
            check_is_fitted(self, "trees_")
        # What scikit-learn would find in a plain array: it takes longer to look than a row to predict.
        is_plain = (
            type(X) is np.ndarray
            and X.ndim == 2
            and X.shape[1] == self.n_features_in_
            and X.shape[0] > 0
            and X.dtype.kind in "fiub"
            and "feature_names_in_" not in fitted
        )
        if not is_plain:
            X = validate_data(self, X, **INPUT, reset=False)
        table = as_table(X) if isinstance(X, np.ndarray) else X
        return self._forest.scores(table, pool_for_rows(self.n_jobs, table.shape[0]))

    def _compact_parts(self) -> tuple[Forest, int | None, I64, NDArray[Any] | None]:
        check_is_fitted(self, "trees_")
        features = self.selected_features_
        names = self.feature_names_in_[features] if hasattr(self, "feature_names_in_") else None
        return self._forest.over(features), self.n_jobs, features.copy(), names

    def _get_support_mask(self) -> Bool:
        check_is_fitted(self, "trees_")
        mask: Bool = np.zeros(self.n_features_in_, dtype=np.bool_)
        mask[self.selected_features_] = True
        return mask


def pairs_of(eval_set: Any) -> list[tuple[Any, Any]]:
    """Return an ``eval_set`` as a list of (X, y) pairs."""
    if eval_set is None:
        return []
    sets = [eval_set] if isinstance(eval_set, tuple) and len(eval_set) == 2 else eval_set
    if not isinstance(sets, Sequence) or any(not isinstance(s, tuple | list) or len(s) != 2 for s in sets):
        raise ValueError("eval_set must be one pair (X, y) or a list of such pairs")
    return [(s[0], s[1]) for s in sets]


def check_eval_table(estimator: BaseGTGBM, X: Any, k: int) -> AnyTable:
    """Validate the table of the k-th eval set against the training table."""
    try:
        table = as_table(validate_data(estimator, X, **INPUT, reset=False))
    except ValueError as error:
        raise ValueError(f"eval_set[{k}]: {error}") from error
    return table


def check_lengths(X: NDArray[Any], y: NDArray[Any], k: int) -> None:
    """Refuse an eval set whose X and y differ in length."""
    if X.shape[0] != y.shape[0]:
        raise ValueError(f"eval_set[{k}]: X has {X.shape[0]} rows, y {y.shape[0]} values; they must match")


def listed(callbacks: Any) -> list[Callback]:
    """Return ``callbacks`` as a list of callables."""
    if callbacks is None:
        return []
    if not isinstance(callbacks, Sequence):
        raise TypeError(f"callbacks={callbacks!r} is not a list: give a list of callables")
    for callback in callbacks:
        if not callable(callback):
            raise TypeError(f"callbacks holds {callback!r}: give callables that take a Progress")
    return list(callbacks)
