"""Columns whose histograms are built at every node: owned numeric columns and all categorical columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gtgbm import _core
from gtgbm.data import BinnedColumn, CategoryColumn, Tiles, columns_of_features
from gtgbm.exact import (
    CATEGORICAL,
    CELLS,
    F64,
    I32,
    I64,
    LANES,
    NEW,
    OTHER_TASKS,
    OWNED,
    SKIPPED,
    U8,
    Bool,
)
from gtgbm.tree import (
    SAME_PRICES,
    BestSplits,
    Level,
    LevelHistograms,
    ScanPrices,
    SplitRules,
    Splits,
    TreeContext,
)


class OwnedColumns:
    """Owned numeric columns, and all categorical columns, of which some categories may be owned.

    Attributes
    ----------
    n_rows : int
    n_features : int
        Number of columns of the table and of their categories together.
    tiles : Tiles
        Codes of all columns held.

    Parameters
    ----------
    n_columns : int
        Columns of the table; the feature of a numeric column has the number of the column.
    directions : ndarray of uint8, shape (n_columns,)
        RISING or FALLING where a column has a monotone constraint, else 0.
    """

    def __init__(
        self,
        n_rows: int,
        n_columns: int,
        categorical: Sequence[CategoryColumn],
        directions: U8,
    ) -> None:
        self.n_rows = n_rows
        self._directions = directions
        self.tiles = _tiles_of(n_rows, categorical)
        self._histograms = LevelHistograms(self.tiles)
        self._column, self._is_feature = columns_of_features(n_columns, categorical)
        self.n_features = int(self._column.shape[0])
        self._position: I64 = np.full(self.n_features, -1, dtype=np.int64)
        self._is_whole = bool(categorical) and categorical[0].is_whole
        self._allowed: Bool | None = None
        # Infinite after the last threshold of a column: all values go left, only missing values right.
        self._thresholds: F64 = np.full((LANES, CELLS), np.inf)
        for position, column in enumerate(categorical):
            features = slice(column.first_feature, column.end_feature)
            self._position[features] = position
            self._keep_thresholds(position, column.values)

    @property
    def has_new(self) -> bool:
        """Whether there is a category that is not owned yet."""
        categories = self.tiles.category_use
        return bool(((categories == NEW) | (categories == OTHER_TASKS)).any())

    @property
    def numeric_features(self) -> list[int]:
        """The owned numeric features, in the order of their columns."""
        found: list[int] = self.tiles.first_feature[self.tiles.use != CATEGORICAL].tolist()
        return found

    def start_tree(self, allowed: Bool | None) -> None:
        """Discard the last tree's histograms.

        Parameters
        ----------
        allowed : ndarray of bool, shape (n_features,), or None
            Features that the tree may use; None: all.
        """
        self._histograms.start_tree()
        self._allowed = allowed
        self.tiles.skip(None if allowed is None else ~allowed[self.tiles.first_feature])

    def forget_histograms(self) -> None:
        """Discard the histograms of a level, of which no children will be looked at."""
        self._histograms.start_tree()

    def features_of(self, columns: Bool) -> Bool:
        """Return a mask (n_features,) of the features of some columns, given by a mask (n_columns,)."""
        chosen: Bool = columns[self._column]
        return chosen

    def all_of(self, column: int) -> list[int]:
        """Return the features of a column: itself, or its categories."""
        found: list[int] = np.flatnonzero((self._column == column) & self._is_feature).tolist()
        return found

    def categories_of(self, column: int) -> list[int]:
        """Return the features of a categorical column."""
        return [feature for feature in self.all_of(column) if self.is_categorical(feature)]

    def feature_of(self, column: int, category: float | None) -> int | None:
        """Return the feature of a numeric column or of a category; None if no row has the category."""
        if category is None:
            return column
        for feature in self.categories_of(column):
            code = self._category(feature)[1]
            value = self._thresholds[self._position[feature], code]
            if code > 0 and (value == category or (np.isnan(value) and np.isnan(category))):
                return feature
        return None

    def best_splits(
        self, tree: TreeContext, level: Level, nodes: I64, prices: ScanPrices = SAME_PRICES
    ) -> BestSplits:
        """Return the best splits at some nodes on owned features, new categories and those of other tasks."""
        return self._histograms.best_splits(tree, level, nodes, prices)

    def own_numbers(self, feature: int, column: BinnedColumn) -> None:
        """Add the column of a numeric feature just bought."""
        use = OWNED | int(self._directions[feature])
        position = self.tiles.append(feature, column.codes, column.n_bins, use)
        self._position[feature] = position
        self._keep_thresholds(position, column.thresholds)
        if self._allowed is not None and not self._allowed[feature]:
            self.tiles.skip_last()  # bought with others, but no column of this tree's sample

    def drop_numbers(self, feature: int) -> None:
        """Remove the column of a numeric feature."""
        position, last = int(self._position[feature]), self.tiles.n_columns - 1
        self.tiles.remove(position)
        self._position[feature] = -1
        self._position[self._position > position] -= 1
        self._thresholds[position:last] = self._thresholds[position + 1 : last + 1]
        self._thresholds[last] = np.inf

    def know_category(self, feature: int) -> None:
        """Record that another task owns a category, or a whole categorical column.

        Nothing changes if this task owns it too, or has too few rows of it.
        """
        use = self._uses(feature)
        use[use == NEW] = OTHER_TASKS

    def is_categorical(self, feature: int) -> bool:
        """Whether a feature is a category, or a whole categorical column."""
        position = self._position[feature]
        return bool(position >= 0 and self.tiles.use[position] == CATEGORICAL)

    def own_category(self, feature: int) -> None:
        """Own a category, or a whole categorical column with all its categories."""
        use = self._uses(feature)
        use[use != SKIPPED] = OWNED

    def drop_category(self, feature: int) -> None:
        """Make a category, or a whole categorical column, new again."""
        use = self._uses(feature)
        use[use != SKIPPED] = NEW

    def described(self, feature: int) -> tuple[int, float | None]:
        """Return the column of an owned feature, and its category or None."""
        column, position = int(self._column[feature]), int(self._position[feature])
        if self._is_whole or not self.is_categorical(feature):
            return column, None
        return column, float(self._thresholds[position, self._category(feature)[1]])

    def measure(self, tree: TreeContext, level: Level, nodes: I64, features: I64) -> Splits:
        """Return the best splits of some owned features at some nodes."""
        positions, scanned = self._position[features], self.tiles.scanned_use
        best: Splits | None = None
        for tile in sorted(set((positions // LANES).tolist())):
            use = np.full(self.tiles.n_columns, SKIPPED, dtype=np.uint8)
            own = positions[positions // LANES == tile]
            use[own] = scanned[own]
            splits = self._histograms.measure(tree, level, nodes, tile, use)
            # Discard splits on other categories of the same column: they were considered before.
            is_other = (
                splits.feature != features[0]
                if features.shape[0] == 1
                else ~np.isin(splits.feature, features)
            )
            splits.gain[is_other] = 0.0
            if best is None:
                best = splits
            else:
                best.improve(np.arange(nodes.shape[0]), splits)
        assert best is not None, "no feature is bought"
        return best

    def partition(
        self, tree: TreeContext, splits: Splits, missing_left: U8, begin: I64, end: I64
    ) -> tuple[I64, I64]:
        """Partition the rows of nodes into those of their left and right children.

        Parameters
        ----------
        splits : Splits
            Splits of k nodes.
        missing_left : ndarray of uint8, shape (k,)
        begin, end : ndarray of int64, shape (k,)
            The nodes' ranges of rows.

        Returns
        -------
        n_left : ndarray of int64, shape (k,)
            Rows of the left children on this machine.
        sums : ndarray of int64, shape (k, 4)
            Their gradient sum, row count and squares (high, low).
        """
        position, order = self._position[splits.feature], tree.order
        n_left = np.empty(position.shape[0], dtype=np.int64)
        _core.partition_rows(
            pool=tree.pool,
            codes=self.tiles.codes,
            column=position,
            bin=splits.bin,
            is_category=self._is_category(position),
            missing_left=missing_left,
            begin=begin,
            end=end,
            rows=order.rows,
            scratch=order.scratch,
            n_left=n_left,
        )
        return n_left, tree.sums(begin, begin + n_left)

    def rules(self, feature: I64, bins: I32) -> SplitRules:
        """Return the rules of splits, given by feature and bin, for the fitted tree."""
        position = self._position[feature]
        threshold = self._thresholds[position, bins]
        return SplitRules(feature, self._column[feature], threshold, self._is_category(position))

    def _is_category(self, position: I64) -> U8:
        is_category: U8 = (self.tiles.use[position] == CATEGORICAL).astype(np.uint8)
        return is_category

    def _uses(self, feature: int) -> U8:
        """Return a view of how scans use the codes of a categorical feature."""
        row, code = self._category(feature)
        uses: U8 = self.tiles.category_use[row]
        return uses if self._is_whole else uses[code : code + 1]

    def _category(self, feature: int) -> tuple[int, int]:
        """Return the row of `category_use` and the code of a categorical feature."""
        position = np.array([self._position[feature]], dtype=np.int32)
        first = int(self.tiles.feature_of(position, np.zeros(1, dtype=np.int32))[0])
        return int(self.tiles.category_row[position[0]]), feature - first

    def _keep_thresholds(self, position: int, values: F64) -> None:
        if position >= self._thresholds.shape[0]:
            self._thresholds = np.concatenate([self._thresholds, np.full_like(self._thresholds, np.inf)])
        self._thresholds[position, : values.shape[0]] = values


def _tiles_of(n_rows: int, categorical: Sequence[CategoryColumn]) -> Tiles:
    tiles = Tiles(n_rows, len(categorical))
    for column in categorical:
        use = np.where(column.is_usable, NEW, SKIPPED).astype(np.uint8)
        tiles.append_categories(column.first_feature, column.codes, use, column.is_whole)
    return tiles
