"""Whole subtrees of rows that weigh, and of columns with directions: still those of plain recursion."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gtgbm import _core
from gtgbm.exact.arrays import FALLING, I64, OWNED, RISING
from tests.kernels.test_scan import directed
from tests.kernels.test_subtrees import (
    NO_LIMIT,
    Grown,
    Job,
    Node,
    check,
    grow,
    one_job,
    random_job,
    small_jobs,
    tree_of,
)
from tests.kernels.test_weights import few_kinds, kinds, random_weights, repeated, weighed
from tests.strategies import pools, seeds


def weighed_job(job: Job, weights: I64) -> Job:
    """The same job with rows that weigh."""
    return replace(job, nodes=weighed(job.nodes, weights))


def repeated_job(job: Job, weights: I64) -> tuple[Job, I64]:
    """Every row as often as it weighs, and which row each was."""
    nodes, source = repeated(job.nodes, weights)
    return replace(job, nodes=nodes, codes=np.ascontiguousarray(job.codes[:, source])), source


def trees(job: Job, grown: Grown) -> list[Node]:
    """What was written, as trees."""
    places = zip(job.first[:-1].tolist(), job.first[1:].tolist(), strict=True)
    return [tree_of(job, grown, grown.nodes[a:b], grown.gain[a:b], 0, set()) for a, b in places]


def with_rows(node: Node, source: I64, weights: I64) -> Node:
    """The same tree, with each row named by what it was, as often as it weighs."""
    rows = source[node.rows]
    children = tuple(with_rows(child, source, weights) for child in node.children)
    return node._replace(rows=np.repeat(rows, weights[node.rows]).tolist(), children=children)


@given(pools, small_jobs, kinds, seeds, st.booleans())
def test_weighted_subtrees(pool: _core.Pool, job: Job, kind: str, seed: int, shared: bool) -> None:
    rng = np.random.default_rng(seed)
    job = weighed_job(job, random_weights(rng, job.nodes.cells.shape[0], kind))
    check(job, grow(pool, job, shared))


@given(pools, small_jobs, few_kinds, seeds, st.booleans())
def test_a_weight_is_a_number_of_rows(pool: _core.Pool, job: Job, kind: str, seed: int, shared: bool) -> None:
    weights = random_weights(np.random.default_rng(seed), job.nodes.cells.shape[0], kind)
    job = weighed_job(job, weights)
    more, source = repeated_job(job, weights)
    few, many = trees(job, grow(pool, job, shared)), trees(more, grow(pool, more, shared))
    every, once = np.arange(weights.shape[0]), np.ones(source.shape[0], dtype=np.int64)
    expected = [with_rows(tree, source, once) for tree in many]
    assert [with_rows(tree, every, weights) for tree in few] == expected


@given(pools, small_jobs, seeds, st.booleans())
def test_subtrees_with_directions(pool: _core.Pool, job: Job, seed: int, shared: bool) -> None:
    rng = np.random.default_rng(seed)
    job = replace(job, columns=directed(rng, job.columns))
    check(job, grow(pool, job, shared))


@pytest.mark.parametrize("seed", range(6))
def test_many_weighted_subtrees(seed: int) -> None:
    """Always the same jobs, of which it is known that they grow deep trees."""
    rng = np.random.default_rng(seed)
    pool, n_nodes = _core.Pool(1 + seed % 3), 0
    for n, gradient in ((60, 2), (300, 4), (1000, 8), (18_000, 2**20)):
        for kind in ("small", "large"):
            job = random_job(rng, n, [3 if n > 1000 else NO_LIMIT], gradient)
            job = weighed_job(replace(job, columns=directed(rng, job.columns)), random_weights(rng, n, kind))
            grown = grow(pool, job, shared=bool(rng.integers(2)))
            check(job, grown)
            n_nodes += int(grown.n_nodes.sum())
    assert n_nodes > 200


@settings(max_examples=10)
@given(st.sampled_from([9000, 40_000]), kinds, seeds)
def test_threads_change_nothing(n: int, kind: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    job = random_job(rng, n, [3, 8, NO_LIMIT], 2**20)
    job = weighed_job(job, random_weights(rng, n, kind))
    expected = grow(_core.Pool(1), job, shared=False)
    for size in (2, 3):
        for shared in (False, True):
            for part, expected_part in zip(grow(_core.Pool(size), job, shared), expected, strict=True):
                np.testing.assert_array_equal(part, expected_part)


@pytest.mark.parametrize("shared", [False, True])
def test_the_smaller_side_may_weigh_more(shared: bool) -> None:
    """Four rows of weight 1 against two of weight 9: only the two are heavy enough to be split again."""
    job, n = one_job(), 6
    codes = np.zeros((1, n, 8), dtype=np.uint8)
    codes[0, :, 0] = [0, 0, 0, 0, 1, 2]
    weights = np.array([1, 1, 1, 1, 9, 9])
    cells = (np.array([0, 0, 0, 0, 5, 6]) * 2**6 + 1) * weights
    zero = np.zeros(1, dtype=np.int64)
    nodes = replace(
        job.nodes, rows=np.arange(n, dtype=np.int32), cells=cells, begin=zero, end=zero + n, count_bits=6
    )
    columns = job.columns._replace(n_bins=np.full(1, 3, np.int32))
    job = replace(job, codes=codes, widths=np.array([3]), columns=columns, nodes=nodes, fewest_rows=5)
    grown = grow(_core.Pool(1), job, shared)
    check(job, grown)
    assert grown.n_nodes.tolist() == [5]
    assert grown.nodes[:5, 4:6].tolist() == [[0, 6], [0, 4], [4, 6], [4, 5], [5, 6]]


def test_a_direction_keeps_a_node_whole() -> None:
    """Residuals rise with the column of one_job."""
    for use, n_nodes in ((OWNED | RISING, 3), (OWNED | FALLING, 1)):
        columns = one_job().columns._replace(use=np.array([use], np.uint8))
        assert grow(_core.Pool(1), one_job(columns=columns), shared=False).n_nodes.tolist() == [n_nodes]
