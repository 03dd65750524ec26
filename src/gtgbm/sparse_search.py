"""Best splits over the columns of a sparse table: each entry is looked at once per level."""

from __future__ import annotations

import numpy as np

from gtgbm import _core
from gtgbm.arrays import I64, U8
from gtgbm.data.sparse import SparseCodes
from gtgbm.level import Level, Splits, TreeContext


class SparseLevelSearch:
    """Looks at all sparse columns that are not skipped."""

    def __init__(self, sparse: SparseCodes) -> None:
        self._sparse = sparse
        self._skipped: U8 = np.zeros(sparse.columns.shape[0], dtype=np.uint8)

    def skip(self, feature: int) -> None:
        """Look at a feature no more."""
        self._skipped[self._sparse.columns == feature] = 1

    def best_splits(self, tree: TreeContext, level: Level, nodes: I64) -> Splits:
        """Best split of each of some nodes."""
        k, sparse = nodes.shape[0], self._sparse
        gain, where = np.empty(k), np.empty((k, 3), dtype=np.int32)
        _core.search_sparse(
            tree.pool,
            sparse.start,
            sparse.rows,
            sparse.codes,
            sparse.columns,
            sparse.n_bins,
            sparse.zero_code,
            self._skipped,
            tree.order.rows,
            level.begin[nodes],
            level.end[nodes],
            level.total[nodes],
            tree.cells.values,
            tree.cells.count_bits,
            tree.min_leaf,
            gain,
            where,
        )
        position, bins, side = where.T
        feature = np.where(position < 0, -1, sparse.columns[position])
        return Splits(feature, np.maximum(gain, 0.0), bins, side)
