"""Back-off of the search: after each fruitless search, skip 1, 2, … trees."""

from __future__ import annotations


class SearchBackoff:
    """Decides which trees search for new features.

    Parameters
    ----------
    longest : int
        Most trees in a row that do not search; 0: every tree searches.
    """

    def __init__(self, longest: int) -> None:
        self._longest = longest
        # Trees to skip after the last search, and how many of them are left.
        self._length = self._left = 0
        self._searched = False
        self._n_owned = 0

    def start_tree(self, n_owned: int) -> bool:
        """Return whether the next tree searches; `n_owned` features are owned before it."""
        if self._searched:
            was_fruitful = n_owned > self._n_owned
            self._length = 0 if was_fruitful else min(self._length + 1, self._longest)
            self._left = self._length
        self._searched = self._left == 0
        self._left -= not self._searched
        self._n_owned = n_owned
        return self._searched
