"""Whole subtrees from one call: the tree that plain recursion grows, on any number of threads."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gtgbm import _core
from gtgbm.exact.arrays import CATEGORICAL, CELLS, F64, I32, I64, LANES, NEW, OWNED, RISING, SKIPPED, U8
from tests.kernels import reference
from tests.kernels.reference import Columns
from tests.strategies import Nodes, assert_refused, pools, rich_level, seeds

NO_LIMIT = 1 << 40
ENTRIES = len(_core.SUBTREE_FIELDS)


@dataclass(frozen=True)
class Job:
    """Everything the kernel is told, but for scratch and outputs."""

    codes: U8
    widths: I64
    columns: Columns
    nodes: Nodes
    depth: I64
    stop_rows: I64
    fewest_rows: int
    min_leaf: int
    l2: float
    max_depth: int

    @property
    def first(self) -> I64:
        """Places for the nodes: k leaves have k - 1 parents. One place more for each, to stay untouched."""
        leaves = self.nodes.total % 2**self.nodes.count_bits // self.min_leaf
        leaves = np.minimum(leaves, self.nodes.end - self.nodes.begin)
        return np.concatenate([[0], np.cumsum(np.maximum(2 * leaves - 1, 1) + 1)])


class Grown(NamedTuple):
    """What the kernel wrote."""

    rows: I32
    nodes: I64
    gain: F64
    n_nodes: I64


class Node(NamedTuple):
    """A node of a tree, with its rows in their order."""

    rows: list[int]
    total: int
    depth: int
    gain: float = 0.0
    split: tuple[int, int, int] = (-1, -1, reference.UNSEEN)
    children: tuple[Any, ...] = ()


def random_job(rng: np.random.Generator, n: int, max_depths: list[int], gradient: int) -> Job:
    """Nodes to grow subtrees from, some of them empty; tiles are often as narrow as their codes."""
    codes, columns, nodes = rich_level(rng, n, gradient)
    widths = np.full(codes.shape[0], CELLS, dtype=np.int64)
    if rng.random() < 0.7:
        for tile in range(codes.shape[0]):
            bins = columns.n_bins[tile * LANES : (tile + 1) * LANES]
            widths[tile] = max(int(codes[tile].max()) + 1, int(bins.max()))
    kept = np.flatnonzero(rng.random(nodes.begin.shape[0]) < 0.9)
    nodes = replace(nodes, begin=nodes.begin[kept], end=nodes.end[kept])
    stops = [[0], [0], [0, 0, 5, n // 8, n]][rng.integers(3)]
    stop_rows = rng.choice(stops, kept.shape[0]).astype(np.int64)
    depth, min_leaf = rng.integers(0, 3, kept.shape[0]), int(rng.choice([1, 1, 2, 5]))
    fewest_rows = int(rng.choice([2, 2 * min_leaf, 20]))
    max_depth = int(rng.choice(max_depths))
    l2 = float(rng.choice([0.0, 0.0, 0.7, 12.5]))
    return Job(codes, widths, columns, nodes, depth, stop_rows, fewest_rows, min_leaf, l2, max_depth)


def jobs(sizes: list[int], max_depths: list[int], gradient: int = 8) -> st.SearchStrategy[Job]:
    """Draw jobs."""
    return st.builds(
        lambda n, seed: random_job(np.random.default_rng(seed), n, max_depths, gradient),
        st.sampled_from(sizes),
        seeds,
    )


small_jobs = jobs([1, 2, 3, 17, 60, 300, 300, 1000], [0, 4, NO_LIMIT, NO_LIMIT])
# From 8,192 rows on histograms, from 16,384 on partitions are shared by threads.
large_jobs = jobs([9000, 16_400, 20_000, 40_000], [4, 5, 6], 2**20)


def grow(pool: _core.Pool, job: Job, shared: bool, first: I64 | None = None) -> Grown:
    """Grow all subtrees with the kernel."""
    nodes, n = job.nodes, job.nodes.rows.shape[0]
    first = job.first if first is None else first
    out = Grown(
        nodes.rows.copy(),
        np.full((first[-1], ENTRIES), 77, dtype=np.int64),
        np.full(first[-1], 77.0),
        np.full(nodes.begin.shape[0], 77, dtype=np.int64),
    )
    subtrees = (nodes.begin, nodes.end, nodes.sums, job.depth, job.stop_rows)
    limits = (nodes.format, job.fewest_rows, job.min_leaf, job.l2, job.max_depth)
    scratch = np.full((2, n), 77, dtype=np.int32), np.full(n, 77, dtype=np.int64)
    tiles = _core.TileSet(job.codes, job.widths, _core.TileColumns(*job.columns))
    _core.grow_subtrees(
        pool, tiles, *subtrees, *limits, out.rows, nodes.values, *scratch, first, out.nodes, out.gain,
        out.n_nodes, shared,
    )  # fmt: skip
    return out


def plain(job: Job, rows: I32, total: int, depth: int, stop_rows: int) -> Node:
    """Grow a subtree by recursion."""
    leaf, bits = Node(rows.tolist(), total, depth), job.nodes.count_bits
    weight = total % 2**bits
    if weight < job.fewest_rows or weight <= stop_rows or depth >= job.max_depth:
        return leaf
    cells, columns = job.nodes.cells[rows], range(job.columns.use.shape[0])
    hist = np.stack([reference.histogram(job.codes[c // LANES, rows, c % LANES], cells) for c in columns])
    found = reference.scan_columns(hist, job.columns, OWNED, total, bits, job.min_leaf, job.l2)
    if found.column < 0:
        return leaf
    codes = job.codes[found.column // LANES, rows, found.column % LANES]
    is_category = int(job.columns.use[found.column] == CATEGORICAL)
    left = reference.goes_left(codes, found.bin, is_category, int(found.missing_side == reference.LEFT))
    sums = found.left, total - found.left
    sides = zip((rows[left], rows[~left]), sums, strict=True)
    children = tuple(plain(job, side, side_sum, depth + 1, stop_rows) for side, side_sum in sides)
    return leaf._replace(gain=found.gain, split=found[1:4], children=children)


def tree_of(job: Job, grown: Grown, entries: I64, gains: F64, k: int, seen: set[int]) -> Node:
    """Read what was written as a tree. A parent's rows are its children's: compare leaves' only."""
    seen.add(k)
    column, bin, side, left, begin, end, gradient, count, depth = entries[k].tolist()
    total = (gradient << job.nodes.count_bits) + count
    node = Node(grown.rows[begin:end].tolist(), total, depth, float(gains[k]), (column, bin, side))
    if left < 0:
        return node
    assert left > k, "parents stand before children"
    assert (entries[left, 4], entries[left + 1, 5]) == (begin, end)
    assert entries[left, 5] == entries[left + 1, 4]
    children = (tree_of(job, grown, entries, gains, child, seen) for child in (left, left + 1))
    return node._replace(children=tuple(children))


def rows_of_leaves(node: Node) -> Node:
    """The same tree, parents with their rows in the order of their leaves."""
    if not node.children:
        return node
    children = tuple(map(rows_of_leaves, node.children))
    return node._replace(rows=children[0].rows + children[1].rows, children=children)


def check(job: Job, grown: Grown) -> None:
    """Compare all subtrees with those of plain recursion."""
    outside = np.ones(job.nodes.rows.shape[0], dtype=np.bool_)
    for s, (b, e) in enumerate(zip(job.nodes.begin.tolist(), job.nodes.end.tolist(), strict=True)):
        outside[b:e] = False
        place, after = job.first[s : s + 2].tolist()
        count, seen = int(grown.n_nodes[s]), set[int]()
        entries, gains = grown.nodes[place:after], grown.gain[place:after]
        found = tree_of(job, grown, entries, gains, 0, seen)
        assert seen == set(range(count)), "all entries belong to the tree"
        assert (entries[count:] == 77).all(), "nothing is written beyond them"
        total, depth, stop = int(job.nodes.total[s]), int(job.depth[s]), int(job.stop_rows[s])
        assert found == rows_of_leaves(plain(job, job.nodes.rows[b:e], total, depth, stop))
    np.testing.assert_array_equal(grown.rows[outside], job.nodes.rows[outside])


@given(pools, small_jobs, st.booleans())
def test_subtrees_are_those_of_plain_recursion(pool: _core.Pool, job: Job, shared: bool) -> None:
    check(job, grow(pool, job, shared))


@settings(max_examples=20)
@given(pools, large_jobs, st.booleans())
def test_large_subtrees_are_those_of_plain_recursion(pool: _core.Pool, job: Job, shared: bool) -> None:
    check(job, grow(pool, job, shared))


@pytest.mark.parametrize("seed", range(12))
def test_many_subtrees(seed: int) -> None:
    """Always the same jobs, of which it is known that they grow deep trees."""
    rng = np.random.default_rng(seed)
    pool, n_nodes = _core.Pool(1 + seed % 3), 0
    for n, gradient in ((60, 2), (300, 4), (600, 2**20), (1000, 8), (18_000, 2**20)):
        for shared in (False, True):
            job = random_job(rng, n, [3 if n > 1000 else NO_LIMIT], gradient)
            grown = grow(pool, job, shared)
            check(job, grown)
            n_nodes += int(grown.n_nodes.sum())
    assert n_nodes > 300


@settings(max_examples=20)
@given(jobs([9000, 20_000, 60_000], [3, 8, NO_LIMIT], 2**20))
def test_threads_change_nothing(job: Job) -> None:
    expected = grow(_core.Pool(1), job, shared=False)
    for size in (1, 2, 3):
        for shared in (False, True):
            for part, expected_part in zip(grow(_core.Pool(size), job, shared), expected, strict=True):
                np.testing.assert_array_equal(part, expected_part)


@given(pools, small_jobs, st.booleans(), seeds)
def test_too_little_room_is_refused(pool: _core.Pool, job: Job, shared: bool, seed: int) -> None:
    if job.nodes.begin.shape[0] == 0:
        return
    n_nodes = grow(pool, job, shared).n_nodes
    enough = np.concatenate([[0], np.cumsum(n_nodes)])
    np.testing.assert_array_equal(grow(pool, job, shared, enough).n_nodes, n_nodes)
    one = np.random.default_rng(seed).integers(n_nodes.shape[0])
    scarce = enough - (np.arange(enough.shape[0]) > one)
    with pytest.raises(ValueError, match="too few places"):
        grow(pool, job, shared, scarce)


def one_job(**changes: Any) -> Job:
    """Four rows of one column, in two halves of opposite residuals."""
    codes = np.zeros((1, 4, LANES), dtype=np.uint8)
    codes[0, :, 0] = [0, 1, 0, 1]
    cells = np.array([-3, 3, -3, 3]) * 8 + 1
    rows, zero = np.arange(4, dtype=np.int32), np.zeros(1, dtype=np.int64)
    columns = Columns(
        np.full(1, 2, np.int32), np.full(1, OWNED, np.uint8), np.full(1, -1, np.int32),
        np.zeros((0, CELLS), np.uint8),
    )  # fmt: skip
    nodes = Nodes(rows, cells, zero, zero + 4, 3)
    return replace(Job(codes, np.array([2]), columns, nodes, zero, zero, 2, 1, 0.0, NO_LIMIT), **changes)


@pytest.mark.parametrize("shared", [False, True])
def test_a_known_tree(shared: bool) -> None:
    grown = grow(_core.Pool(1), one_job(), shared)
    assert grown.rows.tolist() == [0, 2, 1, 3]
    assert grown.n_nodes.tolist() == [3]
    unseen = reference.UNSEEN
    assert grown.nodes[:3].tolist() == [
        [0, 0, reference.LEFT, 1, 0, 4, 0, 4, 0],
        [-1, -1, unseen, -1, 0, 2, -6, 2, 1],
        [-1, -1, unseen, -1, 2, 4, 6, 2, 1],
    ]
    assert grown.gain[:3].tolist() == [36.0, 0.0, 0.0]


def test_a_known_regularized_gain() -> None:
    # Sums -6 and 6 of two rows each: 36 / (2 + 4) for each side, nothing for the node.
    grown = grow(_core.Pool(1), one_job(l2=4.0), shared=False)
    assert grown.gain[:3].tolist() == [12.0, 0.0, 0.0]


@pytest.mark.parametrize(
    "changes",
    [
        {"max_depth": 0},
        {"depth": np.array([5]), "max_depth": 5},
        {"stop_rows": np.array([4])},
        {"fewest_rows": 5},
        {"min_leaf": 3},
        {"columns": one_job().columns._replace(use=np.array([NEW], np.uint8))},
        {"columns": one_job().columns._replace(use=np.array([SKIPPED], np.uint8))},
    ],
)  # fmt: skip
def test_what_keeps_a_node_whole(changes: dict[str, Any]) -> None:
    grown = grow(_core.Pool(1), one_job(**changes), shared=True)
    assert grown.n_nodes.tolist() == [1]
    assert grown.nodes[0, :4].tolist() == [-1, -1, reference.UNSEEN, -1]
    assert grown.rows.tolist() == [0, 1, 2, 3]


def test_wrong_shapes_are_refused() -> None:
    i32, i64, u8 = np.int32, np.int64, np.uint8
    job = one_job()
    ones, two = np.zeros(1, i64), np.zeros(2, i64)
    tables = (job.codes, job.widths, *job.columns)
    subtrees = (job.nodes.begin, job.nodes.end, job.nodes.sums, job.depth, job.stop_rows)
    arrays = (job.nodes.rows, job.nodes.cells, np.zeros((2, 4), i32), np.zeros(4, i64))
    outputs = (np.array([0, 3]), np.zeros((3, ENTRIES), i64), np.zeros(3), np.zeros(1, i64))
    good = (_core.Pool(2), *tables, *subtrees, _core.CellFormat(3), 2, 1, 0.0, 9, *arrays, *outputs, False)
    bad: dict[str, dict[int, object]] = {
        "directed category": {4: np.array([CATEGORICAL | RISING], u8)},
        "lanes": {1: np.zeros((1, 4, 4), u8)},
        "few codes": {1: np.zeros((1, 3, LANES), u8)},
        "few tiles": {1: np.zeros((0, 4, LANES), u8), 2: np.zeros(0, i64)},
        "widths": {2: np.array([2, 2])},
        "no width": {2: np.array([0])},
        "wide": {2: np.array([257])},
        "narrower than the bins": {2: np.array([1])},
        "bins": {2: np.array([256]), 3: np.array([256], i32)},
        "columns": {3: np.full(2, 2, i32)},
        "use": {4: np.array([16], u8)},
        "category row": {4: np.array([CATEGORICAL], u8)},
        "category uses": {6: np.zeros((1, 255), u8)},
        "before": {8: np.array([-1])},
        "backwards": {8: np.array([3]), 9: np.array([2])},
        "beyond": {9: np.array([5])},
        **{f"subtree array {k}": {k: two} for k in (8, 9, 11, 12, 25)},
        "totals": {10: np.zeros((2, 2), i64)},
        "gradient and count": {10: np.zeros((1, 1), i64)},
        "one row to split": {14: 1},
        "empty leaves": {15: 0},
        "rows": {18: np.arange(3, dtype=i32)},
        "cells": {19: np.ones(3, i64)},
        "half the scratch": {20: np.zeros((1, 4), i32)},
        "short scratch": {20: np.zeros((2, 3), i32)},
        "ordered": {21: np.zeros(3, i64)},
        "first": {22: ones},
        "places before": {22: np.array([-1, 3])},
        "places backwards": {22: np.array([3, 0])},
        "places beyond": {22: np.array([0, 4])},
        "no place": {22: np.array([0, 0])},
        "entries": {23: np.zeros((3, ENTRIES - 1), i64)},
        "gain": {24: np.zeros(2)},
    }

    def grow_them(pool: _core.Pool, codes: U8, widths: I64, *given: Any) -> None:
        tiles = _core.TileSet(codes, widths, _core.TileColumns(*given[:5]))
        _core.grow_subtrees(pool, tiles, *given[5:])

    assert_refused(grow_them, good, bad)
