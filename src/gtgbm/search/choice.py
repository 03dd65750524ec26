"""Which search suits a table: a cost model in nanoseconds, with constants measured on one core.

The constants are rough on purpose. They decide between plans that usually differ tenfold; where they are
close, either choice is fine.
"""

from __future__ import annotations

import numpy as np

from gtgbm.data import AnyTable
from gtgbm.exact import I64
from gtgbm.search.dealing import GroupTestSettings, divide
from gtgbm.search.trend_tests import n_trend_rows

_LEVELS = 6
"""Levels of a typical tree."""
_NODES = 60
"""Nodes of a typical tree that are searched."""
_BIN = 8.0
"""Find a value's bin."""
_ADD = 0.35
"""Add a row to the histogram of one column."""
_SCAN = 250.0
"""Find the best split of one column's histogram."""
_TEST_SCAN = 40.0
"""The same for the few codes of a pseudo-feature."""
_CANDIDATES = 8
"""Candidates measured at a node."""
_DEAL = 0.15
"""Add a feature's value to a group sum."""
_TREND = 0.1
"""Add a row to the trends of one column."""
_TREND_NODES = 3
"""Nodes of a tree that are tested for trends."""
_FEW_COLUMNS = 128
"""Columns below which groups are not tested: there is little to save, and a sum of the few may hide any."""
_SPARSE = 0.05
"""Share of values that differ from the most frequent one below which sums drown single features."""


class SearchChoice(str):
    """A search's name, with the reason it was taken.

    Attributes
    ----------
    reason : str
    """

    reason: str

    def __new__(cls, name: str, reason: str) -> SearchChoice:
        """Make a string that knows why."""
        self = super().__new__(cls, name)
        self.reason = reason
        return self

    def __getnewargs__(self) -> tuple[str, str]:  # type: ignore[override]
        """Arguments for copying and unpickling."""
        return str(self), self.reason


def choose_search(
    table: AnyTable, searched: I64, n_trees: int, n_test_rows: int, settings: GroupTestSettings
) -> SearchChoice:
    """Take the search that is expected to be cheaper, unless group tests would select worse.

    Parameters
    ----------
    searched : ndarray of int64
        The columns of numbers; categories are looked at in any case.
    """
    n, d = table.shape[0], searched.shape[0]
    if d == 0:
        return SearchChoice("exhaustive", "there are only categories, and those are all looked at")
    if d < _FEW_COLUMNS:
        return SearchChoice(
            "exhaustive", f"{d} columns of numbers: with fewer than {_FEW_COLUMNS}, group tests save little"
        )
    filled = density(table, searched)
    if filled < _SPARSE:
        return SearchChoice(
            "exhaustive",
            f"only {filled:.1%} of the values differ from their column's most frequent one; group sums would "
            "drown single features",
        )
    # Sparse or not: the same table shall give the same model however it is stored.
    exhaustive = n * d * (_BIN + n_trees * _LEVELS * _ADD) + n_trees * _NODES * d * _SCAN
    size, p, kept = settings.subsets_of(d, n_test_rows)
    first, rest = _histograms_per_subset(size, settings.parts)
    histograms = p * first + kept * rest
    deals = 1 if settings.redeal_every is None else -(-n_trees // settings.redeal_every)
    group = n_test_rows * (d * _BIN + deals * p * size * _DEAL + n_trees * _LEVELS * histograms * _ADD)
    group += n_trees * _NODES * histograms * _TEST_SCAN
    group += n_trend_rows(d, n, n_test_rows) * d * (_BIN + n_trees * _TREND_NODES * _TREND)
    # Candidates are binned and measured one by one, which loses half of the speed of eight together.
    measured = min(d, _CANDIDATES)
    group += n * measured * (_BIN + n_trees * _LEVELS * 2 * _ADD) + n_trees * _NODES * measured * _SCAN
    costs = (
        f"rough estimate for the search alone, on one core: {group * 1e-9:.2g} s with group tests, "
        f"{exhaustive * 1e-9:.2g} s over all features"
    )
    return SearchChoice("group-testing" if group < exhaustive else "exhaustive", costs)


def density(table: AnyTable, searched: I64) -> float:
    """Share of values that differ from their column's most frequent value, from a small sample."""
    rows = table[:: max(1, table.shape[0] // 200)][:200]
    columns = searched[:: max(1, searched.shape[0] // 200)][:200]
    sample = rows[:, columns]
    shares = []
    for column in (np.asarray(sample) if isinstance(sample, np.ndarray) else sample.toarray()).T:
        _, counts = np.unique(column, return_counts=True)
        shares.append(1.0 - counts.max() / column.shape[0])
    return float(np.mean(shares))


def _histograms_per_subset(size: int, parts: int) -> tuple[int, int]:
    """Histograms filled in the first step, and on the rest of the way to one feature."""
    tree = divide(size, parts)
    group, counts = 0, []
    while tree.n_children[group]:
        counts.append(int(tree.n_children[group]))
        group = int(tree.first_child[group])
    return (counts[0], sum(counts[1:])) if counts else (1, 0)
