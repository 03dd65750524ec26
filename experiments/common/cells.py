"""Scores by table, method, size and split: kept as they come, compared in pairs over the splits."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from scipy.stats import rankdata

from measuring.files import write_text

Judging: TypeAlias = Literal["judge", "own"]


class Score(NamedTuple):
    """One method's result for one size on one split.

    Attributes
    ----------
    features : int
        Columns chosen, at most as many as wanted.
    judge, own : float
        Test score of LightGBM retrained on the columns, and of the method's own model.
    seconds : float
        Of the processor, from the table to the method's own model.
    """

    features: int
    judge: float
    own: float
    seconds: float


class Difference(NamedTuple):
    """Mean of our score minus another's over common splits, and its standard error."""

    mean: float
    error: float
    n_splits: int

    @property
    def sign(self) -> int:
        """1 or −1 if the mean is more than two standard errors from 0, else 0; 0 for a single split."""
        return int(np.sign(self.mean)) if self.n_splits > 1 and abs(self.mean) > 2 * self.error else 0


@dataclass
class Cells:
    """All scores; written to a file whenever one is added.

    Attributes
    ----------
    tables : dict
        Plain JSON: for each table what describes it, and ``scores`` by method, size and split, the latter
        two as text.
    path : Path or None
        None: not written.
    """

    tables: dict[str, Any]
    path: Path | None = None

    @classmethod
    def read(cls, path: Path, otherwise: dict[str, Any]) -> Cells:
        """Read what an interrupted run has kept, if it has, and go on from there."""
        kept = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else otherwise
        return cls(kept, path)

    def missing(self, table: str, method: str, sizes: Sequence[int], split: int) -> list[int]:
        """Return the sizes that have no score yet."""
        scores = self.tables.get(table, {}).get("scores", {}).get(method, {})
        return [size for size in sizes if str(split) not in scores.get(str(size), {})]

    def add(self, table: str, method: str, size: int, split: int, score: Score | None) -> None:
        """Keep a score; None says that the method has no choice of this size."""
        of_size = self.tables[table]["scores"].setdefault(method, {}).setdefault(str(size), {})
        of_size[str(split)] = None if score is None else [round(value, 6) for value in score]
        if self.path is not None:
            write_text(self.path, json.dumps(self.tables) + "\n")

    def describe(self, table: str, **about: Any) -> None:
        """Begin a table, or go on with it."""
        self.tables.setdefault(table, {"scores": {}}).update(about)

    def scores(self, table: str, method: str, size: int) -> dict[int, Score]:
        """Return the scores by split."""
        found = self.tables[table]["scores"].get(method, {}).get(str(size), {})
        return {int(split): Score(*score) for split, score in found.items() if score is not None}

    def n_splits(self, table: str, method: str) -> int:
        """Return the largest number of splits that any size has."""
        sizes = self.tables[table]["scores"].get(method, {})
        return max((len(self.scores(table, method, int(size))) for size in sizes), default=0)

    def places(self) -> Iterator[tuple[str, int]]:
        """Yield every table and size that any method has scores for."""
        for table, known in self.tables.items():
            sizes = {int(size) for by_size in known["scores"].values() for size in by_size}
            for size in sorted(sizes):
                yield table, size

    def mean(self, table: str, method: str, size: int, judging: Judging) -> tuple[float, float] | None:
        """Return the mean score and its standard error, which a single split leaves at 0."""
        values = [getattr(score, judging) for score in self.scores(table, method, size).values()]
        if not values:
            return None
        error = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0
        return float(np.mean(values)), float(error)

    def difference(
        self, place: tuple[str, int], mine: str, other: str, judging: Judging
    ) -> Difference | None:
        """Compare two methods on the splits both have; None if there are none."""
        table, size = place
        left, right = (self.scores(table, method, size) for method in (mine, other))
        gaps = [getattr(left[k], judging) - getattr(right[k], judging) for k in sorted(left.keys() & right)]
        if not gaps:
            return None
        error = np.std(gaps, ddof=1) / np.sqrt(len(gaps)) if len(gaps) > 1 else 0.0
        return Difference(float(np.mean(gaps)), float(error), len(gaps))

    def mean_ranks(self, methods: Sequence[str], judging: Judging) -> tuple[dict[str, float], int]:
        """Rank methods in each place by their mean over common splits, 1 is best, and average.

        Returns
        -------
        ranks : dict of float
        n_places : int
            Tables × sizes at which all of the methods have a common split; others are left out.
        """
        ranks = []
        for table, size in self.places():
            found = [self.scores(table, method, size) for method in methods]
            common = set.intersection(*(set(scores) for scores in found))
            if common:
                means = [np.mean([getattr(scores[k], judging) for k in sorted(common)]) for scores in found]
                ranks.append(rankdata(-np.round(means, 6)))
        if not ranks:
            return {}, 0
        return dict(zip(methods, np.mean(ranks, axis=0).tolist(), strict=True)), len(ranks)
