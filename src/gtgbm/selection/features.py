"""Features that trees split on: columns of the table, or single categories of a column."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from gtgbm.boosting import HistoryEntry, Model
from gtgbm.exact import F64, I64
from gtgbm.tree import Forest


class Feature(NamedTuple):
    """A column, or one category of it; the category of missing values is None, as NaN does not equal itself.

    Attributes
    ----------
    column : int
    is_category : bool
        Whether the feature is one category of the column.
    category : float or None
        The category; None for the missing values, and for a whole column.
    """

    column: int
    is_category: bool = False
    category: float | None = None

    @classmethod
    def of(cls, column: int, category: float | None) -> Feature:
        """Return the feature of a column and a category, of which NaN is the missing values."""
        if category is None:
            return cls(column)
        return cls(column, True, None if math.isnan(category) else float(category))

    def entry(self, gain: float) -> HistoryEntry:
        """Return the entry of a feature that is owned before the first round."""
        category = None
        if self.is_category:
            category = math.nan if self.category is None else self.category
        return HistoryEntry(0, self.column, gain, 0.0, math.nan, category)


def owning(start: F64, features: Iterable[Feature]) -> Model:
    """Return a model without trees that owns features.

    Parameters
    ----------
    start : ndarray of float64, shape (k,)
        Initial scores.
    """
    return Model(start, history=[feature.entry(0.0) for feature in features])


@dataclass(frozen=True)
class FeatureForest:
    """The trees of a model as functions of features instead of columns.

    Attributes
    ----------
    features : list of Feature, length f
        The features that trees split on.
    forest : Forest
        Has one column for each feature; a column of the table occurs once for each of its categories.
    columns : ndarray of int64, shape (f,)
        Column of the table of each feature.
    gains : ndarray of float64, shape (f,)
        Sum of the gains of each feature's splits.
    """

    features: list[Feature]
    forest: Forest
    columns: I64
    gains: F64

    @classmethod
    def of(cls, model: Model) -> FeatureForest:
        """Return the trees of a model with numbered features."""
        by_category = [entry.feature for entry in model.history if entry.category is not None]
        column, gain = _joined(model, "feature").astype(np.int64), _joined(model, "gain")
        is_split = column >= 0
        is_category = np.isin(column, by_category) & is_split
        # All splits of a whole column are one feature, whatever their thresholds.
        category = np.where(is_category, _joined(model, "threshold"), 0.0)
        first, number = _numbered(column[is_split], category[is_split])
        columns, categories = column[is_split][first], category[is_split][first]
        features = [
            Feature.of(one, float(value) if of_category else None)
            for one, value, of_category in zip(
                columns.tolist(), categories, is_category[is_split][first], strict=True
            )
        ]
        gains = np.zeros(first.shape[0])
        np.add.at(gains, number, gain[is_split])
        numbers = np.full(column.shape[0], -1)
        numbers[is_split] = number
        ends = np.cumsum([tree.n_nodes for tree in model.trees])[:-1]
        trees = [
            replace(tree, feature=of_tree.astype(tree.feature.dtype))
            for tree, of_tree in zip(model.trees, np.split(numbers, ends), strict=bool(model.trees))
        ]
        forest = Forest.of(trees, model.outputs, model.start)
        return cls(features, forest, columns, gains)


def _joined(model: Model, name: str) -> F64:
    """Return an attribute of the nodes of all trees as one array."""
    return np.concatenate([np.empty(0), *(getattr(tree, name) for tree in model.trees)])


def _numbered(column: I64, category: F64) -> tuple[I64, I64]:
    """Give pairs of a column and a category numbers, in the order in which they first occur.

    Returns
    -------
    first : ndarray of int64, shape (pairs,)
        Where each pair first occurs.
    number : ndarray of int64, shape of `column`
    """
    # Bits, because NaN does not equal itself; the addition makes -0 the same as 0.
    bits = np.where(np.isnan(category), np.nan, category + 0.0).view(np.int64)
    _, of_category = np.unique(bits, return_inverse=True)
    pair = of_category.ravel() * (column.max(initial=0) + 1) + column
    _, first, number = np.unique(pair, return_index=True, return_inverse=True)
    rank = np.empty(first.shape[0], dtype=np.int64)
    rank[np.argsort(first)] = np.arange(first.shape[0])
    return np.sort(first), rank[number.ravel()]
