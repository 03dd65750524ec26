"""Fitted attributes, set in one place for single-task and multitask models."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from gtgbm.boosting import Fitted, HistoryEntry, Model
from gtgbm.estimators.settings import Parameters
from gtgbm.exact import F64, I64
from gtgbm.losses import Loss
from gtgbm.multitask import UsedFeature, paid_units, used_features
from gtgbm.parameters import Context
from gtgbm.tree import Forest, ForestContributions, Tree, importances


class FittedAttributes(Parameters):
    """Sets the attributes of a fitted model from the models of its tasks.

    A single-task model has one task, whose id is None.
    """

    # Dicts by task in multitask models.
    trees_: Any
    selection_history_: Any
    n_iter_: Any
    n_leaves_: Any
    best_iteration_: Any
    search_: Any
    evals_result_: Any
    n_features_in_: int
    # Texts of the user that are stored in model files, such as the name of the target.
    _about: Mapping[str, str] = MappingProxyType({})

    def _by_task(self, values: Mapping[Any, Any]) -> Any:
        """Return an attribute from its values by task; a single-task model has one value, not a dict."""
        return values[None]

    @property
    def _n_columns_read(self) -> int:
        """Number of columns of the tables that trees were trained on."""
        return self.n_features_in_

    def _keep(
        self, fitted: Mapping[Any, Fitted], owned: Sequence[tuple[int, float | None]], loss: Loss
    ) -> None:
        """Set the attributes of a fitted model.

        Parameters
        ----------
        fitted : mapping
            Result of each task.
        owned : sequence of (int, float or None)
            Selected features as (column, category or None), in the order of selection by any task.
        loss : Loss
            Converts scores to predictions.
        """
        models = {task: result.model for task, result in fitted.items()}
        self._models, self._owned, self._fitted_loss = models, list(owned), loss
        self._pack_forests()
        histories = {task: self._labelled(model.history) for task, model in models.items()}
        self.trees_ = self._by_task({task: model.trees for task, model in models.items()})
        self.selection_history_ = self._by_task(histories)
        self.evals_result_ = self._by_task({task: self._results(model) for task, model in models.items()})
        self.n_iter_ = self._by_task({task: model.n_rounds for task, model in models.items()})
        self.best_iteration_ = self._by_task({task: model.best_round for task, model in models.items()})
        self.n_leaves_ = self._by_task({task: _leaves(model) for task, model in models.items()})
        self.search_ = self._by_task({task: result.search for task, result in fitted.items()})
        paid = paid_units(histories.values(), self._groups_of_columns())
        self.total_cost_, self._n_bought = float(sum(paid.values())), len(paid)
        used = used_features(histories.values(), [(c, self._label(c, value)) for c, value in self._owned])
        self._keep_features(used)

    def _keep_features(self, used: Sequence[UsedFeature]) -> None:
        """Set the attributes about selected features and importances."""
        # A column with several categories selected is listed once.
        self.selected_features_ = columns_of(feature.column for feature in used)
        names = getattr(self, "feature_names_in_", None)
        if names is not None:
            self.selected_feature_names_ = np.asarray(names, dtype=object)[self.selected_features_]
        elif hasattr(self, "selected_feature_names_"):
            del self.selected_feature_names_
        self.n_selected_features_ = len(used)
        self.selected_categories_ = categories_of((feature.column, feature.category) for feature in used)
        self.feature_importances_ = np.mean(
            [self._importances(model) for model in self._models.values()], axis=0
        )

    def _warn_of_few(self, limit: int | None, prices: Sequence[str], drops: bool, stacklevel: int) -> None:
        """Warn if nothing is selected, or less than was asked for.

        Parameters
        ----------
        limit : int or None
            Features asked for; None: as many as are worth their price.
        prices : sequence of str
            Names of the parameters that say what a feature costs.
        drops : bool
            Whether features were selected forward and backward.
        """
        n = self._n_bought
        if n >= (1 if limit is None else limit):
            return
        asked = "" if limit is None else f" of n_features_to_select={limit}"
        reason, remedies = self._why_dropped(prices) if drops else self._why_few(prices)
        features = f"{n or 'no'} feature{'' if n == 1 else 's'}"
        warnings.warn(
            f"{features}{asked} {'is' if n == 1 else 'are'} selected: {reason}; "
            f"to select more, {', '.join(remedies[:-1])}, or {remedies[-1]}",
            UserWarning,
            stacklevel=stacklevel,
        )

    def _groups_of_columns(self) -> dict[int, int]:
        """Return the group of each column that is bought together with others."""
        names = getattr(self, "feature_names_in_", None)
        context = Context(n_features=self.n_features_in_, feature_names=names)
        group = self._purchases(context).given_units(context).group
        return {} if group is None else dict(enumerate(group.tolist()))

    def _why_few(self, prices: Sequence[str]) -> tuple[str, list[str]]:
        """Return why no more features were selected, and what can be done about it."""
        other = "other " if self._n_bought else ""
        values = {name: getattr(self, name) for name in prices}
        costly = [f"{name}={value!r}" for name, value in values.items() if _is_above_zero(value)]
        rounds = f"raise n_estimators={self.n_estimators}"
        if costly:
            reason = f"the search proposed no {other}feature that gains more than its price"
            return reason, [f"lower {' or '.join(costly)}", rounds]
        remedies = [rounds, f"lower min_node_fraction={self.min_node_fraction}"]
        searches = self.search_.values() if isinstance(self.search_, dict) else [self.search_]
        if "group-testing" in searches:
            remedies.append("use search='exhaustive'")
        return f"the search found no {other}feature that improves a tree", remedies

    def _why_dropped(self, prices: Sequence[str]) -> tuple[str, list[str]]:
        """Return why forward-backward selection kept no more features, and what can be done about it."""
        others = "the other" if self._n_bought else "the"
        reason = (
            f"{others} features show no signal on rows that models were not trained on, or no tree of the "
            "last fit uses them"
        )
        lower = f"use selection='forward' with a lower {' or '.join(prices)}"
        return reason, [lower, f"raise n_estimators={self.n_estimators}"]

    def _importances(self, model: Model) -> F64:
        return importances(model.trees, self._n_columns_read)[: self.n_features_in_]

    def _labelled(self, history: Sequence[HistoryEntry]) -> list[HistoryEntry]:
        """Replace codes of categories by the categories of the dataframe."""
        return [entry._replace(category=self._label(entry.feature, entry.category)) for entry in history]

    def _label(self, column: int, category: float | None) -> Any:
        return category if category is None or self._schema is None else self._schema.label(column, category)

    def _results(self, model: Model) -> dict[str, dict[str, list[float]]]:
        """Return loss and metrics after each round, by set and name."""
        return {"training": {self._loss_name: model.training_losses}} | {
            f"validation_{k}": values for k, values in enumerate(model.evaluations)
        }

    @property
    def _loss_name(self) -> str:
        return self.loss if isinstance(self.loss, str) else str(getattr(self.loss, "name", "custom"))

    def _trees_of(self, task: Any) -> list[Tree]:
        """Return the trees of a task, which split on columns of the user's table only."""
        return self._models[task].trees

    def _pack_forests(self) -> None:
        # method="single-task" has one model for all tasks: it is packed once.
        packed = {id(model): model.forest() for model in self._models.values()}
        self._forests: dict[Any, Forest] = {task: packed[id(model)] for task, model in self._models.items()}
        self._contributors: dict[Any, ForestContributions] = {}

    def __getstate__(self) -> Any:
        """Leave out the forests, which are packed from the trees again."""
        state = super().__getstate__()
        kept = {name: value for name, value in state.items() if name not in ("_forests", "_contributors")}
        # As pairs: skops cannot load a dict with the key None, the task of a single-task model.
        return kept | {"_models": list(kept["_models"].items())} if "_models" in kept else kept

    def __setstate__(self, state: Any) -> None:
        super().__setstate__(state)
        if "_models" in state:
            self._models = dict(state["_models"])
            self._pack_forests()


def columns_of(columns: Iterable[int]) -> I64:
    """Return distinct columns, in the order of the table."""
    return np.array(sorted(set(columns)), dtype=np.int64)


def categories_of(features: Iterable[tuple[int, Any]]) -> dict[int, list[Any]]:
    """Return the categories among features, by column in the order of the table."""
    categories: dict[int, list[Any]] = {}
    for column, category in features:
        if category is not None:
            categories.setdefault(column, []).append(category)
    return dict(sorted(categories.items()))


def _is_above_zero(price: Any) -> bool:
    """Whether a price, or that of any task, is above 0, as "auto" is."""
    return any(price.values()) if isinstance(price, Mapping) else price == "auto" or price > 0


def _leaves(model: Model) -> I64:
    return np.array([tree.n_leaves for tree in model.trees], dtype=np.int64)
