"""What all estimators share: fit, and what can be read off a fitted model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from types import MappingProxyType
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_random_state
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted

from gtgbm.boosting import AnyCallback, Evaluated, HistoryEntry, Model, Problem, ProgressBar, Settings
from gtgbm.data import FrameSchema, as_table, check_rows
from gtgbm.estimators.rows import Rows, checked_qid, checked_weight, pairs_of, per_set, weight_of_queries
from gtgbm.estimators.saving import save_model
from gtgbm.estimators.settings import Parameters
from gtgbm.estimators.tables import read_columns, read_eval_table, selected_of
from gtgbm.estimators.threads import make_pool, pool_for_rows
from gtgbm.exact import F64, I64, Bool
from gtgbm.losses import Loss
from gtgbm.metrics import TargetKind
from gtgbm.parameters import Context
from gtgbm.selection import train_selecting
from gtgbm.tree import Forest, importances


class BaseGTGBM(SelectorMixin, Parameters):
    """Common base of the estimators; not for direct use."""

    # Whether rows belong to queries.
    _ranks = False
    # What a model file says of its origin.
    _about: Mapping[str, str] = MappingProxyType({})

    @property
    def _kind_of_target(self) -> TargetKind:
        raise NotImplementedError

    def _make_loss(self) -> Loss:
        raise NotImplementedError

    # What a fit leaves behind: by task where there are several.
    trees_: Any
    selection_history_: Any
    n_iter_: Any
    n_leaves_: Any
    best_iteration_: Any
    search_: Any
    evals_result_: Any
    _seed: int

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

    def _begins_anew(self) -> bool:
        """Whether this fit is not to go on with the last one; the last one is forgotten then."""
        if self._checked("warm_start") and hasattr(self, "trees_"):
            return False
        self._forget()
        return True

    def _validation_rows(
        self, eval_set: Any, eval_sample_weight: Any, eval_qid: Any, target: Callable[[Any, str], F64]
    ) -> list[Rows]:
        """Validate eval sets; ``target(y, name)`` turns their targets into numbers."""
        pairs = pairs_of(eval_set)
        weights = per_set(eval_sample_weight, len(pairs), "eval_sample_weight")
        qids = per_set(eval_qid, len(pairs), "eval_qid")
        found = []
        for k, ((X, y), weight, qid) in enumerate(zip(pairs, weights, qids, strict=True)):
            table, name = read_eval_table(self, X, k), f"eval_set[{k}]"
            numbers = target(y, f"{name}: y")
            n = table.shape[0]
            if n != numbers.shape[0]:
                raise ValueError(f"{name}: X has {n} rows, y {numbers.shape[0]} values; they must match")
            checked = checked_weight(weight, n, f"eval_sample_weight[{k}]")
            ids = None
            if self._ranks:
                ids = checked_qid(qid, n, f"eval_qid[{k}]")
                checked = weight_of_queries(checked, ids, f"eval_sample_weight[{k}]")
            found.append(Rows(table, numbers, checked, ids))
        return found

    def _fit(
        self, rows: Rows, loss: Loss, validations: Sequence[Rows], callbacks: Sequence[AnyCallback]
    ) -> None:
        """Fit to validated data; targets are numbers already."""
        n_features = rows.table.shape[1]
        settings = self._settings(n_features)
        continued = self._continued(settings, loss)
        self._forget()
        pool = make_pool(self.n_jobs)
        verbose = self._checked("verbose")
        metrics = self._checked("eval_metric", Context(target=self._kind_of_target))
        random = check_random_state(self._checked("random_state"))
        seed = int(random.randint(np.iinfo(np.int32).max))
        if continued is not None:
            seed = self._seed  # the same rows are held out, or they would be known already
        columns = settings.columns
        self._seed, self._fitted_settings = seed, (self._loss_name, columns.monotone, columns.categorical)
        check_rows(rows.table.shape[0])
        if settings.rounds.patience is not None and not validations:
            kept, held_out = self._hold_out(rows, seed)
            rows, validations = rows.at(kept), [rows.at(held_out)]
        with ProgressBar(verbose > 0, settings.rounds.n_rounds) as bar:
            evaluated = Evaluated(self._loss_name, metrics, [one.dataset() for one in validations])
            problem = Problem(rows.dataset(), loss, settings, seed, evaluated)
            fitted = train_selecting(problem, pool, [bar.update, *callbacks], continued)
        self._keep(fitted.model, loss, n_features)
        self.search_ = fitted.search
        self.timings_ = fitted.timings
        if verbose > 0:
            bar.summary(len(self.selected_features_), n_features, fitted.search, fitted.timings["total"])

    def _continued(self, settings: Settings, loss: Loss) -> Model | None:
        """Return the model of the last fit, if this one is to go on with it."""
        if not self.warm_start or not hasattr(self, "trees_"):
            return None
        if not hasattr(self, "_fitted_settings"):
            raise ValueError(
                "warm_start=True: a model read from a file cannot go on; fit it anew, or pickle models"
            )
        # What early stopping dropped is forgotten.
        kept, n_rounds = self.n_iter_, settings.rounds.n_rounds
        now = (self._loss_name, settings.columns.monotone, settings.columns.categorical)
        named = ("loss", "monotone_constraints", "categorical_features")
        for name, before, wanted in zip(named, self._fitted_settings, now, strict=True):
            if before != wanted:
                raise ValueError(f"warm_start=True: {name} differs from that of the last fit, which stays")
        limit = settings.prices.limit
        if limit is not None and limit < len(self.selection_history_):
            raise ValueError(
                f"n_features_to_select={limit} is less than the {len(self.selection_history_)} features of "
                "the last fit: give more, or warm_start=False"
            )
        if loss.n_scores != self._start.shape[0]:
            raise ValueError("warm_start=True: y has another number of classes than in the last fit")
        if n_rounds < kept:
            raise ValueError(
                f"n_estimators={n_rounds} is less than the {kept} rounds of the last fit: give more, or "
                "warm_start=False"
            )
        results = {
            name: {metric: values[:kept] for metric, values in of_set.items()}
            for name, of_set in self.evals_result_.items()
        }
        training = next(iter(results.pop("training").values()))
        return Model(
            self._start,
            list(self.trees_),
            list(self._outputs),
            [self._coded(entry) for entry in self.selection_history_],
            training,
            list(results.values()),
        )

    def _hold_out(self, rows: Rows, seed: int) -> tuple[I64, I64]:
        """Draw rows to train on and rows to validate with; some of every class are left to train on."""
        y = rows.y
        fraction = self._checked("validation_fraction")
        n_rows = y.shape[0]
        rng = np.random.default_rng(seed)
        is_held_out: Bool = np.zeros(n_rows, dtype=np.bool_)
        for label in np.unique(y) if is_classifier(self) else [None]:
            drawn = np.arange(n_rows) if label is None else np.flatnonzero(y == label)
            n_held_out = min(round(fraction * drawn.shape[0]), drawn.shape[0] - 1)
            is_held_out[rng.choice(drawn, n_held_out, replace=False)] = True
        if round(fraction * n_rows) == n_rows or not is_held_out.any():
            raise ValueError(
                f"validation_fraction={fraction} of {n_rows} rows leaves no rows to train on or none to "
                "validate with: give another fraction, more rows or an eval_set"
            )
        return np.flatnonzero(~is_held_out), np.flatnonzero(is_held_out)

    def _keep(self, model: Model, loss: Loss, n_features: int) -> None:
        self._start, self._outputs, self._fitted_loss = model.start, model.outputs, loss
        self.trees_ = model.trees
        self._forest = Forest.of(self.trees_, self._outputs, self._start)
        self.n_leaves_ = np.array([tree.n_leaves for tree in model.trees], dtype=np.int64)
        self.selection_history_ = [self._labelled(entry) for entry in model.history]
        # A column with several categories bought is listed once.
        columns = dict.fromkeys(entry.feature for entry in model.history)
        self.selected_features_ = np.array(list(columns), dtype=np.int64)
        self.n_selected_features_ = len(model.history)
        self.selected_categories_: dict[int, list[Any]] = {}
        for entry in self.selection_history_:
            if entry.category is not None:
                self.selected_categories_.setdefault(entry.feature, []).append(entry.category)
        self.feature_importances_ = importances(model.trees, n_features)
        self.evals_result_ = self._results(model)
        self.n_iter_ = model.n_rounds
        self.best_iteration_ = model.best_round

    def _labelled(self, entry: HistoryEntry) -> HistoryEntry:
        """Name the category of a purchase as the dataframe did."""
        return entry._replace(category=self._label(entry.feature, entry.category))

    def _label(self, column: int, category: float | None) -> Any:
        return category if category is None or self._schema is None else self._schema.label(column, category)

    def _coded(self, entry: HistoryEntry) -> HistoryEntry:
        """Undo `_labelled`."""
        if entry.category is None or self._schema is None:
            return entry
        return entry._replace(category=self._schema.code(entry.feature, entry.category))

    def _results(self, model: Model) -> dict[str, dict[str, list[float]]]:
        """Loss and metrics after each round, by set and name."""
        return {"training": {self._loss_name: model.training_losses}} | {
            f"validation_{k}": values for k, values in enumerate(model.evaluations)
        }

    @property
    def _loss_name(self) -> str:
        return self.loss if isinstance(self.loss, str) else str(getattr(self.loss, "name", "custom"))

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
        if is_plain and self._schema is None:
            table, columns = as_table(X), self._forest.columns
        else:
            table, columns = read_columns(self, X, self._forest.columns)
        return self._forest.scores(table, pool_for_rows(self.n_jobs, table.shape[0]), columns)

    def transform(self, X: Any) -> Any:
        """Take the selected columns.

        Parameters
        ----------
        X : array-like or scipy sparse matrix, shape (n, d), or dataframe
            Of a dataframe the selected columns, found by name.

        Returns
        -------
        ndarray, sparse matrix or dataframe, shape (n, K)
            In the order of the training table; see ``set_output`` for dataframes.
        """
        check_is_fitted(self, "trees_")
        if not hasattr(self, "feature_names_in_"):
            return super().transform(X)
        library = _get_output_config("transform", self)["dense"]
        chosen = selected_of(X, self.get_feature_names_out(), library)
        return super().transform(X) if chosen is None else chosen

    def _compact_parts(self) -> tuple[Forest, int | None, I64, FrameSchema | None]:
        check_is_fitted(self, "trees_")
        features = self.selected_features_
        schema = None if self._schema is None else self._schema.at(features.tolist()).by_place()
        return self._forest.over(features), self.n_jobs, features.copy(), schema

    def save_model(self, path: str | PathLike[str]) -> None:
        """Write the fitted model to a JSON file, which ``gtgbm.load_model`` reads.

        Parameters
        ----------
        path : str or path
        """
        check_is_fitted(self, "trees_")
        save_model(self, path)

    def _get_support_mask(self) -> Bool:
        check_is_fitted(self, "trees_")
        mask: Bool = np.zeros(self.n_features_in_, dtype=np.bool_)
        mask[self.selected_features_] = True
        return mask
