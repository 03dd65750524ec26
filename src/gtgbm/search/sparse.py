"""Best splits over the columns of a sparse table: each entry is read once per level."""

from __future__ import annotations

import numpy as np

from gtgbm import _core
from gtgbm.data import SparseCodes
from gtgbm.exact import F64, I64, SKIPPED, U8, Bool
from gtgbm.tree import Level, Splits, TreeContext


class SparseLevelSearch:
    """Searches all sparse columns that are not skipped.

    Parameters
    ----------
    sparse : SparseCodes
    use : ndarray of uint8, shape (columns,)
        NEW, plus RISING or FALLING where a column has a monotone constraint.
    """

    def __init__(self, sparse: SparseCodes, use: U8) -> None:
        self._sparse = sparse
        self._use = use.copy()
        self._use_of_new = use
        self._allowed: Bool = np.ones(use.shape[0], dtype=np.bool_)

    def start_tree(self, allowed: Bool) -> None:
        """Search only the allowed features, given by a mask (d,)."""
        self._allowed = allowed[self._sparse.columns]

    def skip(self, feature: int) -> None:
        """Exclude a feature from later searches."""
        self._use[self._sparse.columns == feature] = SKIPPED

    def search_again(self, feature: int) -> None:
        """Include a feature in later searches that was excluded."""
        place = self._sparse.columns == feature
        self._use[place] = self._use_of_new[place]

    @property
    def features(self) -> I64:
        """The columns, shape (columns,)."""
        return self._sparse.columns

    def best_splits(self, tree: TreeContext, level: Level, nodes: I64, price: F64 | None) -> Splits:
        """Return the best split of each of some nodes.

        Parameters
        ----------
        price : ndarray of float64, shape (columns,), or None
            What the first use of each column costs, in units of gain; None: the same for all.
        """
        k, sparse = nodes.shape[0], self._sparse
        gain, where = np.empty(k), np.empty((k, 3), dtype=np.int32)
        _core.search_sparse(
            pool=tree.pool,
            start=sparse.start,
            rows=sparse.rows,
            codes=sparse.codes,
            columns=sparse.place,
            n_bins=sparse.n_bins,
            zero_code=sparse.zero_code,
            use=np.where(self._allowed, self._use, SKIPPED).astype(np.uint8),
            price=np.empty(0) if price is None else price,
            node_rows=tree.order.rows,
            begin=level.begin[nodes],
            end=level.end[nodes],
            total=level.total[nodes],
            cells=tree.cells.values,
            format=tree.cells.format,
            min_leaf=tree.min_leaf,
            l2=tree.limits.l2,
            gain=gain,
            where=where,
        )
        position, bins, side = where.T
        feature = np.where(position < 0, -1, sparse.columns[position])
        return Splits(feature, np.maximum(gain, 0.0), bins, side)
