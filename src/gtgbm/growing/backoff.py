"""Back-off of the search: after each fruitless search, skip 1, 2, … trees."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class SearchBackoff:
    """Decides which trees search for new features.

    Attributes
    ----------
    longest : int
        Most trees in a row that do not search; 0: every tree searches.
    length, left : int
        Trees to skip after the last search, and how many of them are left.
    searched : bool
        Whether the last tree searched.
    n_owned : int
        Features that were owned before the last tree.
    """

    longest: int
    length: int = 0
    left: int = 0
    searched: bool = False
    n_owned: int = 0

    def start_tree(self, n_owned: int) -> bool:
        """Return whether the next tree searches; `n_owned` features are owned before it."""
        if self.searched:
            was_fruitful = n_owned > self.n_owned
            self.length = 0 if was_fruitful else min(self.length + 1, self.longest)
            self.left = self.length
        self.searched = self.left == 0
        self.left -= not self.searched
        self.n_owned = n_owned
        return self.searched
