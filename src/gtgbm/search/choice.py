"""Chooses the search for a table by a cost model in nanoseconds, with constants measured on one core.

Rough constants are enough: the costs of the two searches usually differ tenfold, and where they are close,
either choice is fine.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gtgbm.exact import F64, I64
from gtgbm.search.dealing import GroupTestSettings, divide
from gtgbm.search.trend_tests import n_trend_rows

_LEVELS = 6
"""Number of levels of a typical tree."""
_NODES = 60
"""Number of nodes of a typical tree that are searched."""
_BIN = 8.0
"""Cost of finding the bin of a value."""
_ADD = 0.35
"""Cost of adding a row to the histogram of one column."""
_SCAN = 250.0
"""Cost of finding the best split in the histogram of one column."""
_TEST_SCAN = 40.0
"""Cost of the same for a pseudo-feature, which has few codes."""
_CANDIDATES = 8
"""Number of candidates measured on all rows of a node."""
_DEAL = 0.15
"""Cost of adding the value of a feature to a group sum."""
_TREND = 0.1
"""Cost of adding a row to the trends of one column."""
_TREND_NODES = 3
"""Number of nodes of a tree that are tested for trends."""
FEW_COLUMNS = 128
"""With fewer columns, group tests save little, and the sum of a group may hide each of its features."""
_SPARSE = 0.05
"""Group tests are not used if a smaller share of values differs from the most frequent one: in a sum of such
features, the signal of a single feature is lost."""


class SearchChoice(str):
    """Name of a search, with the reason why it was chosen.

    Attributes
    ----------
    reason : str
    """

    reason: str

    def __new__(cls, name: str, reason: str) -> SearchChoice:
        """Create a string with a reason."""
        self = super().__new__(cls, name)
        self.reason = reason
        return self

    def __getnewargs__(self) -> tuple[str, str]:  # type: ignore[override]
        """Return the arguments of `__new__` for copying and unpickling."""
        return str(self), self.reason


def choose_search(
    n: int, searched: I64, filled: float, n_trees: int, n_test_rows: int, settings: GroupTestSettings
) -> SearchChoice:
    """Choose the search that is expected to be cheaper, unless group tests would select worse features.

    Parameters
    ----------
    n : int
        Rows of the table.
    searched : ndarray of int64
        The numeric columns; categories are always searched exhaustively.
    filled : float
        See `density`.
    n_trees : int
    n_test_rows : int
        Rows that a group test uses.
    """
    d = searched.shape[0]
    if d == 0:
        return SearchChoice(
            "exhaustive", "all columns are categorical, and categories are always searched exhaustively"
        )
    if d < FEW_COLUMNS:
        return SearchChoice(
            "exhaustive", f"{d} numeric columns: with fewer than {FEW_COLUMNS}, group tests save little"
        )
    if filled < _SPARSE:
        return SearchChoice(
            "exhaustive",
            f"only {filled:.1%} of the values differ from their column's most frequent one; group sums would "
            "drown single features",
        )
    # Costs are those of a dense table: the model must not depend on whether the table is stored as sparse.
    exhaustive = n * d * (_BIN + n_trees * _LEVELS * _ADD) + n_trees * _NODES * d * _SCAN
    size, p, kept = settings.subsets_of(d, n_test_rows)
    first, rest = _histograms_per_subset(size, settings.parts)
    histograms = p * first + kept * rest
    deals = 1 if settings.redeal_every is None else -(-n_trees // settings.redeal_every)
    group = n_test_rows * (d * _BIN + deals * p * size * _DEAL + n_trees * _LEVELS * histograms * _ADD)
    group += n_trees * _NODES * histograms * _TEST_SCAN
    group += n_trend_rows(d, n, n_test_rows) * d * (_BIN + n_trees * _TREND_NODES * _TREND)
    # Candidates are binned and measured one by one, at half the speed of eight columns together.
    measured = min(d, _CANDIDATES)
    group += n * measured * (_BIN + n_trees * _LEVELS * 2 * _ADD) + n_trees * _NODES * measured * _SCAN
    costs = (
        f"rough estimate for the search alone, on one core: {group * 1e-9:.2g} s with group tests, "
        f"{exhaustive * 1e-9:.2g} s over all features"
    )
    return SearchChoice("group-testing" if group < exhaustive else "exhaustive", costs)


def density(n_rows: int, searched: I64, values: Callable[[I64, I64], F64]) -> float:
    """Estimate the share of values that differ from the most frequent value of their column, by a sample.

    Parameters
    ----------
    values : callable
        ``values(columns, rows)`` returns values of the table, shape (columns, rows).
    """
    if searched.shape[0] < FEW_COLUMNS:
        return 1.0  # the choice does not depend on it
    rows = np.arange(0, n_rows, max(1, n_rows // 200))[:200]
    columns = searched[:: max(1, searched.shape[0] // 200)][:200].copy()  # kernels want contiguous arrays
    shares = []
    for column in values(columns, rows):
        _, counts = np.unique(column, return_counts=True)
        shares.append(1.0 - counts.max() / column.shape[0])
    return float(np.mean(shares))


def _histograms_per_subset(size: int, parts: int) -> tuple[int, int]:
    """Return the numbers of histograms filled in the first step and in all later steps, for one subset."""
    tree = divide(size, parts)
    group, counts = 0, []
    while tree.n_children[group]:
        counts.append(int(tree.n_children[group]))
        group = int(tree.first_child[group])
    return (counts[0], sum(counts[1:])) if counts else (1, 0)
