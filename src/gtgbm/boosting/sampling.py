"""Row and column sampling, drawn for each round."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gtgbm.exact import ALONE, Bool, Communicator, RowWeights, Shard, drawn_rows


@dataclass(frozen=True)
class Sampling:
    """Shares of rows and columns that a round uses.

    A draw depends only on the seed, the number of the round and, of rows, the number of the row.
    """

    rows: float
    columns: float
    seed: int

    @property
    def draws(self) -> bool:
        """Whether any rows or columns are left out."""
        return self.rows < 1.0 or self.columns < 1.0

    def weights_of(
        self, number: int, weights: RowWeights, shard: Shard, communicator: Communicator = ALONE
    ) -> RowWeights:
        """Return the weights of a round: rows that are not drawn have weight 0."""
        if self.rows >= 1.0:
            return weights
        drawn = weights.only(drawn_rows(shard.ids, self.rows, self.seed, 0, number), communicator)
        # Of a few rows, none may be drawn.
        return drawn if drawn.total_cells else weights

    def columns_of(self, number: int, n_columns: int) -> Bool | None:
        """Return a mask of the columns that a round may use; None: all."""
        return None if self.columns >= 1.0 else _drawn(n_columns, self.columns, [self.seed, 1, number])


def _drawn(n: int, share: float, seed: list[int]) -> Bool:
    chosen: Bool = np.zeros(n, dtype=np.bool_)
    count = min(n, max(1, round(share * n)))
    chosen[np.random.default_rng(seed).choice(n, count, replace=False)] = True
    return chosen
