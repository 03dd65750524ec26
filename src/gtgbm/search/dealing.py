"""How features are dealt into subsets, and how a subset is divided down to single features."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gtgbm import _core
from gtgbm.exact import CELLS, I64, LANES

_MAX_HISTOGRAMS = 2048
_BUDGET_ROWS = 2000
"""Histograms the first step of one node's search may fill, with so many test rows; with fewer rows, more
(docs/group-testing.md)."""
MAX_CANDIDATES = 8
"""Subsets of a node that are searched to the end."""


@dataclass(frozen=True)
class GroupTestSettings:
    """How groups are formed and scored.

    Attributes
    ----------
    n_relevant : int or None
        s: features expected to matter at one node; p = ceil(e s ln(s / δ)) subsets of d / s features are
        drawn independently. None: every feature is dealt to exactly one subset, and subsets are as small as
        `_MAX_HISTOGRAMS` allows, since a sum over fewer features drowns each of them less.
    failure_probability : float
        δ: chance that some relevant feature is never alone in a subset; of no effect without `n_relevant`.
    parts : int
        Into how many parts a group is divided at each step: 2 is the paper's halving; 8 tests smaller groups
        at about the same cost.
    paper_scaling : bool
        True: features scaled by their smallest and largest value, sums cut by sorted order. False: features
        scaled by rank, which no outlier can squeeze, and coarser codes.
    signed : bool
        Whether a feature enters sums with the sign of its correlation with the residuals, so that effects
        within a group do not cancel.
    redeal_every : int or None
        Trees that look for features after which subsets are dealt (and signs set) anew, without the owned
        ones; None: dealt once.
    """

    n_relevant: int | None = None
    failure_probability: float = 0.1
    parts: int = LANES
    paper_scaling: bool = False
    signed: bool = True
    redeal_every: int | None = 10

    @classmethod
    def of_paper(cls, n_relevant: int | None, failure_probability: float) -> GroupTestSettings:
        """Make the settings of the paper's algorithm."""
        s = 1 if n_relevant is None else n_relevant
        return cls(s, failure_probability, 2, paper_scaling=True, signed=False, redeal_every=None)

    @property
    def n_codes(self) -> int:
        """Codes of a pseudo-feature: tests need few, and few are quick to clear and scan."""
        return CELLS - 1 if self.paper_scaling else 16

    def subsets_of(self, n_features: int, n_rows: int) -> tuple[int, int, int]:
        """Return the size of subsets, their number p, and how many a node's search follows to the end."""
        if self.n_relevant is None:
            size = subset_size(n_features, self.parts, n_rows)
            p = -(-n_features // size)
            return size, p, min(p, MAX_CANDIDATES)
        p = n_subsets(self.n_relevant, self.failure_probability)
        return -(-n_features // min(self.n_relevant, n_features)), p, p

    def deal(self, features: I64, n_rows: int, rng: np.random.Generator) -> I64:
        """Draw the subsets to be tested on `n_rows` rows, shape (p, size)."""
        size, p, _ = self.subsets_of(features.shape[0], n_rows)
        if self.n_relevant is None:
            return deal_partition(features, size, rng)
        return deal_subsets(features, min(self.n_relevant, features.shape[0]), p, rng)


def n_subsets(n_relevant: int, failure_probability: float) -> int:
    """Return the number of subsets, p = ceil(e s ln(s / δ))."""
    return max(1, math.ceil(math.e * n_relevant * math.log(n_relevant / failure_probability)))


def deal_subsets(features: I64, n_relevant: int, p: int, rng: np.random.Generator) -> I64:
    """Draw p random subsets of ceil(d / s) features each, in random order.

    Returns
    -------
    ndarray of int64, shape (p, ceil(d / s))
    """
    size = -(-features.shape[0] // n_relevant)
    return np.stack([rng.permutation(features)[:size] for _ in range(p)])


def deal_partition(features: I64, size: int, rng: np.random.Generator) -> I64:
    """Deal all features into subsets of one size; the last subset is filled up with features of the first.

    Returns
    -------
    ndarray of int64, shape (ceil(d / size), size)
    """
    shuffled = rng.permutation(features)
    return np.resize(shuffled, (-(-shuffled.shape[0] // size), size))


def subset_size(n_features: int, parts: int, n_rows: int) -> int:
    """Return the smallest power of `parts` whose first step stays within its budget."""
    most = _MAX_HISTOGRAMS * max(1.0, _BUDGET_ROWS / n_rows)
    size = parts
    while size < n_features and -(-n_features // size) * parts > most:
        size *= parts
    return min(size, n_features)


@dataclass(frozen=True)
class GroupTree:
    """How a subset of a given size is divided, down to single features.

    Group g covers positions ``[begin[g], end[g])``; its children are consecutive groups. Groups are numbered
    level by level. ``tile[g]`` is the place of the children's codes, -1 if they are single features.
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
        """Hand the arrays to the kernels."""
        return _core.GroupShape(self.begin, self.end, self.first_child, self.n_children, self.tile)


def divide(size: int, parts: int) -> GroupTree:
    """Divide positions 0 .. size - 1 into at most `parts` near-equal groups at each step.

    With p parts, ceil(log_p(size)) steps suffice; each step then divides by the root of what is left, so that
    no step has more parts than it needs.
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
