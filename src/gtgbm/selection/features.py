"""Features that trees split on: columns of the table, or single categories of a column."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from gtgbm.boosting import HistoryEntry, Model
from gtgbm.exact import F64, I64
from gtgbm.tree import Forest, Tree


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
        by_category = {entry.feature for entry in model.history if entry.category is not None}
        number: dict[Feature, int] = {}
        trees = [_renumbered(tree, by_category, number) for tree in model.trees]
        gains = np.zeros(len(number))
        for tree in trees:
            splits = tree.feature >= 0
            np.add.at(gains, tree.feature[splits], tree.gain[splits])
        columns = np.array([feature.column for feature in number], dtype=np.int64)
        return cls(list(number), Forest.of(trees, model.outputs, model.start), columns, gains)


def _renumbered(tree: Tree, by_category: set[int], number: dict[Feature, int]) -> Tree:
    """Return the tree with numbers of features instead of columns; new features get the next numbers."""
    features = np.full(tree.feature.shape[0], -1, dtype=tree.feature.dtype)
    for node in np.flatnonzero(tree.feature >= 0).tolist():
        column = int(tree.feature[node])
        feature = Feature.of(column, float(tree.threshold[node]) if column in by_category else None)
        features[node] = number.setdefault(feature, len(number))
    return replace(tree, feature=features)
