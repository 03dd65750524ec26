"""Deals features into random subsets, and divides a subset step by step into single features."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gtgbm import _core
from gtgbm.exact import CELLS, F64, I64, LANES

_MAX_HISTOGRAMS = 2048
_BUDGET_ROWS = 2000
"""The first step of a node's search may fill `_MAX_HISTOGRAMS` histograms with `_BUDGET_ROWS` test rows, and
proportionally more with fewer rows (docs/group-testing.md)."""
MAX_CANDIDATES = 8
"""Number of subsets per node that are searched down to single features."""


@dataclass(frozen=True)
class GroupTestSettings:
    """How groups are formed and scored.

    Attributes
    ----------
    n_relevant : int or None
        s: number of features expected to be relevant at one node; p = ceil(e s ln(s / δ)) subsets of d / s
        features are drawn independently. None: every feature is dealt to exactly one subset, and subsets are
        as small as `_MAX_HISTOGRAMS` allows, since a feature is easier to detect in a sum of few.
    failure_probability : float
        δ: probability that some relevant feature is never the only relevant one in its subsets. Has no effect
        without `n_relevant`.
    parts : int
        Number of parts into which a group is divided at each step. 2 is the paper's halving; 8 tests smaller
        groups at about the same cost.
    paper_scaling : bool
        True: features are scaled by their minimum and maximum, and sums are binned by sorted order. False:
        features are scaled by rank, which is robust against outliers, and codes are coarser.
    signed : bool
        Whether a feature enters sums with the sign of its correlation with the residuals, so that effects
        within a group do not cancel.
    redeal_every : int or None
        Subsets of the features not owned yet are re-drawn, and signs updated, every this many searched trees;
        None: subsets are drawn only once.
    """

    n_relevant: int | None = None
    failure_probability: float = 0.1
    parts: int = LANES
    paper_scaling: bool = False
    signed: bool = True
    redeal_every: int | None = 10

    @classmethod
    def of_paper(cls, n_relevant: int | None, failure_probability: float) -> GroupTestSettings:
        """Return the settings of the paper's algorithm."""
        s = 1 if n_relevant is None else n_relevant
        return cls(s, failure_probability, 2, paper_scaling=True, signed=False, redeal_every=None)

    @property
    def n_codes(self) -> int:
        """Number of codes of a pseudo-feature: few are enough for tests, and faster to clear and scan."""
        return CELLS - 1 if self.paper_scaling else 16

    def subsets_of(self, n_features: int, n_rows: int) -> tuple[int, int, int]:
        """Return the size of subsets, their number p, and how many are searched down to single features."""
        if self.n_relevant is None:
            size = subset_size(n_features, self.parts, n_rows)
            p = -(-n_features // size)
            return size, p, min(p, MAX_CANDIDATES)
        p = n_subsets(self.n_relevant, self.failure_probability)
        return -(-n_features // min(self.n_relevant, n_features)), p, p

    def deal(self, features: I64, n_rows: int, rng: np.random.Generator, prices: F64 | None = None) -> I64:
        """Draw the subsets to be tested on `n_rows` rows, shape (p, size).

        Parameters
        ----------
        prices : ndarray of float64, or None
            Price of each feature; None: all are equal.
        """
        size, p, _ = self.subsets_of(features.shape[0], n_rows)
        if self.n_relevant is None:
            return deal_partition(features, size, rng, prices)
        return deal_subsets(features, min(self.n_relevant, features.shape[0]), p, rng)


def n_subsets(n_relevant: int, failure_probability: float) -> int:
    """Return the number of subsets, p = ceil(e s ln(s / δ))."""
    return max(1, math.ceil(math.e * n_relevant * math.log(n_relevant / failure_probability)))


def deal_subsets(features: I64, n_relevant: int, p: int, rng: np.random.Generator) -> I64:
    """Draw p random subsets of ceil(d / s) features each, independently.

    Returns
    -------
    ndarray of int64, shape (p, ceil(d / s))
    """
    size = -(-features.shape[0] // n_relevant)
    return np.stack([rng.permutation(features)[:size] for _ in range(p)])


def deal_partition(features: I64, size: int, rng: np.random.Generator, prices: F64 | None = None) -> I64:
    """Deal all features into subsets of equal size; the last one is filled up with features of the first.

    With prices, features of similar prices are dealt together: the test of a subset finds its feature of the
    largest gain, which would hide a cheap feature that gains a little less than an expensive one.

    Returns
    -------
    ndarray of int64, shape (ceil(d / size), size)
    """
    if prices is None:
        shuffled = rng.permutation(features)
    else:
        order = rng.permutation(features.shape[0])
        shuffled = features[order[np.argsort(prices[order], kind="stable")]]
    return np.resize(shuffled, (-(-shuffled.shape[0] // size), size))


def subset_size(n_features: int, parts: int, n_rows: int) -> int:
    """Return the smallest power of `parts` for which the first step stays within its budget of histograms."""
    most = _MAX_HISTOGRAMS * max(1.0, _BUDGET_ROWS / n_rows)
    size = parts
    while size < n_features and -(-n_features // size) * parts > most:
        size *= parts
    return min(size, n_features)


@dataclass(frozen=True)
class GroupTree:
    """Division of a subset of a given size into groups, down to single features.

    Groups are numbered level by level; the children of a group have consecutive numbers.

    Attributes
    ----------
    begin, end : ndarray of int64, shape (groups,)
        Group g covers positions ``[begin[g], end[g])`` of the subset.
    first_child, n_children : ndarray of int64, shape (groups,)
    tile : ndarray of int64, shape (groups,)
        Index of the tile that stores the children's codes, -1 if the children are single features.
    """

    begin: I64
    end: I64
    first_child: I64
    n_children: I64
    tile: I64

    @property
    def n_tiles(self) -> int:
        """Number of groups whose children's codes are stored."""
        return int(self.tile.max(initial=-1)) + 1

    def native(self) -> _core.GroupShape:
        """Return the arrays as one native object."""
        return _core.GroupShape(self.begin, self.end, self.first_child, self.n_children, self.tile)


def divide(size: int, parts: int) -> GroupTree:
    """Divide positions 0 .. size - 1 into at most `parts` near-equal groups at each step.

    With p parts, ceil(log_p(size)) steps are enough. Each step divides into as many parts as the remaining
    steps need on average (a root of the size), so that no step has more parts than necessary.
    """
    begins, ends = [np.zeros(1, dtype=np.int64)], [np.full(1, size, dtype=np.int64)]
    counts: list[I64] = []
    while True:
        sizes = ends[-1] - begins[-1]
        n_children = _parts_of(sizes, parts)
        counts.append(n_children)
        if not n_children.any():
            break
        parent = np.repeat(np.arange(sizes.shape[0]), n_children)
        first = np.cumsum(n_children) - n_children
        which = np.arange(parent.shape[0]) - first[parent]
        start = begins[-1][parent]
        begins.append(start + which * sizes[parent] // n_children[parent])
        ends.append(start + (which + 1) * sizes[parent] // n_children[parent])
    begin, end, n_children = np.concatenate(begins), np.concatenate(ends), np.concatenate(counts)
    first_child = 1 + np.cumsum(n_children) - n_children
    stored = (n_children > 0) & (end - begin > n_children)
    tile = np.where(stored, np.cumsum(stored) - 1, -1)
    return GroupTree(begin, end, np.where(n_children > 0, first_child, 0), n_children, tile)


def _parts_of(sizes: I64, parts: int) -> I64:
    steps = np.zeros_like(sizes)
    reach = np.ones_like(sizes)
    while (short := reach < sizes).any():
        reach[short] *= parts
        steps[short] += 1
    balanced = np.ceil(sizes ** (1.0 / np.maximum(steps, 1)) - 1e-9).astype(np.int64)
    return np.where(sizes > 1, np.clip(balanced, 2, parts), 0)
