"""Numeric columns that other tasks own but this task does not."""

from __future__ import annotations

from gtgbm.data import BinnedColumn, Tiles
from gtgbm.exact import F64, I64, LANES, NEW, SKIPPED, U8, Bool
from gtgbm.pricing import FeatureCosts
from gtgbm.tree import Level, LevelHistograms, ScanPrices, Splits, TreeContext


class OtherTasksColumns:
    """Finds the best splits over columns that other tasks own.

    They are separate so that they do not enlarge the histograms of owned columns, which every node needs.

    Parameters
    ----------
    directions : ndarray of uint8, shape (columns,)
        RISING or FALLING where a column has a monotone constraint, else 0.
    """

    def __init__(self, n_rows: int, directions: U8) -> None:
        self._n_rows = n_rows
        self._directions = directions
        self._position: dict[int, int] = {}
        self._thresholds: dict[int, F64] = {}
        self._use_tiles(Tiles(n_rows))

    def _use_tiles(self, tiles: Tiles) -> None:
        self._tiles = tiles
        self._histograms = LevelHistograms(tiles)

    def __contains__(self, feature: int) -> bool:
        """Whether other tasks own a feature but this task does not."""
        return feature in self._position

    def __len__(self) -> int:
        """Return the number of such features."""
        return len(self._position)

    @property
    def features(self) -> list[int]:
        """These features, in the order of their columns."""
        return list(self._position)

    def add(self, feature: int, column: BinnedColumn) -> None:
        """Add a feature that another task has bought."""
        use = NEW | int(self._directions[feature])
        self._position[feature] = self._tiles.append(feature, column.codes, column.n_bins, use)
        self._thresholds[feature] = column.thresholds

    def take_column(self, feature: int) -> BinnedColumn:
        """Return the column of a feature that this task has just bought; it is no longer proposed."""
        position = self._position.pop(feature)
        self._tiles.use[position] = SKIPPED
        codes, n_bins = self._tiles.column(position), int(self._tiles.n_bins[position])
        return BinnedColumn(codes, n_bins, self._thresholds.pop(feature))

    def start_tree(self, allowed: Bool | None) -> None:
        """Discard the last tree's histograms; only `allowed` features (d,) are searched, None: all."""
        if self._tiles.n_columns >= LANES + 2 * len(self):
            self._close_gaps()
        self._histograms.start_tree()
        self._tiles.skip(None if allowed is None else ~allowed[self._tiles.first_feature])

    def best_splits(self, tree: TreeContext, level: Level, nodes: I64, costs: FeatureCosts) -> Splits:
        """Return the best split of each of some nodes, after the prices of the features."""
        prices = ScanPrices(costs.other_tasks_prices(self._tiles.first_feature))
        return self._histograms.best_splits(tree, level, nodes, prices).new

    def _close_gaps(self) -> None:
        """Drop the columns that this task has bought."""
        old, tiles = self._tiles, Tiles(self._n_rows, max(len(self), 1))
        for feature, position in self._position.items():
            n_bins, use = int(old.n_bins[position]), int(old.use[position])
            self._position[feature] = tiles.append(feature, old.column(position), n_bins, use)
        self._use_tiles(tiles)
