"""Twins of native/search."""

from __future__ import annotations

import numpy as np

from gtgbm.exact.arrays import F64, I8, I16, I32, I64, U8, U16
from gtgbm.search.dealing import GroupTree
from tests.kernels.reference.histograms import best_split, histogram


def codes_by_order(sums: I64, n_codes: int) -> U8:
    """One code per distinct sum while they last, else codes of about equally many rows."""
    distinct, code = np.unique(sums, return_inverse=True)
    if distinct.shape[0] <= n_codes:
        return code.astype(np.uint8)
    ends = np.arange(1, n_codes + 1) * sums.shape[0] // n_codes
    last = np.unique(np.sort(sums)[ends - 1])
    return np.searchsorted(last, sums).astype(np.uint8)


def codes_by_width(sums: I64, n_codes: int) -> U8:
    """Codes of equal width, in single precision as the kernel computes them."""
    above = (sums - sums.min()).astype(np.float32)
    scaled = above * (np.float32(n_codes) / (above.max() + np.float32(1.0)))
    codes: U8 = np.minimum(scaled, np.float32(n_codes - 1)).astype(np.uint8)
    return codes


def build_group_codes(
    values: U8 | U16, top: int, members: I64, sign: I8, tree: GroupTree, n_codes: int, exact: bool, tiles: U8
) -> U8:
    """Codes of the children of every group that has a tile."""
    tiles = tiles.copy()
    turned = np.where(sign[:, None] < 0, top - values.astype(np.int64), values.astype(np.int64))
    code = codes_by_order if exact else codes_by_width
    for subset, features in enumerate(members):
        for g in np.flatnonzero(tree.tile >= 0).tolist():
            for child in range(int(tree.n_children[g])):
                group = tree.first_child[g] + child
                sums = turned[features[tree.begin[group] : tree.end[group]]].sum(axis=0)
                tiles[subset, tree.tile[g], :, child] = code(sums, n_codes)
    return tiles


def search_groups(
    tiles: U8,
    codes: U8,
    members: I64,
    tree: GroupTree,
    positions: I32,
    cells: I64,
    begin: I64,
    end: I64,
    count_bits: int,
    min_leaf: int,
    l2: int,
    kept: int,
    price: F64,
) -> tuple[I64, F64]:
    """Feature reached and its gain when every group is followed into its best child.

    With fewer places than subsets, those with the best first step after their prices, best first.
    The price of a group is that of its cheapest feature.
    """
    shape = (begin.shape[0], members.shape[0])
    feature, gain = np.zeros(shape, dtype=np.int64), np.full(shape, -np.inf)
    first = np.zeros(shape)
    for node, subset in np.ndindex(shape):
        rows, weights = positions[begin[node] : end[node]], cells[begin[node] : end[node]]
        total = sum(weights.tolist())

        def gain_of(codes: U8, rows: I32 = rows, weights: I64 = weights, total: int = total) -> float:
            return best_split(histogram(codes[rows], weights), total, count_bits, min_leaf, l2=l2).gain

        def price_of(part: int, subset: int = subset) -> float:
            return float(price[subset, tree.begin[part] : tree.end[part]].min()) if price.size else 0.0

        g = 0
        if tree.n_children[0] == 0:
            gain[node, subset] = gain_of(codes[members[subset, 0]])
            first[node, subset] = gain[node, subset] - price_of(0)
        while n_children := int(tree.n_children[g]):
            if tree.tile[g] >= 0:
                child_codes = tiles[subset, tree.tile[g], :, :n_children].T
            else:
                child_codes = codes[members[subset, tree.begin[g] : tree.end[g]]]
            gains = [gain_of(child) for child in child_codes]
            parts = range(int(tree.first_child[g]), int(tree.first_child[g]) + n_children)
            net = [found - price_of(part) for found, part in zip(gains, parts, strict=True)]
            best = int(np.argmax(net))
            gain[node, subset] = gains[best]
            first[node, subset] = net[best] if g == 0 else first[node, subset]
            g = parts[best]
        feature[node, subset] = members[subset, tree.begin[g]]
    if kept == shape[1]:
        return feature, gain
    order = np.argsort(-first, axis=1, kind="stable")[:, :kept]
    return np.take_along_axis(feature, order, axis=1), np.take_along_axis(gain, order, axis=1)


def correlate(codes: U8, weight: I16) -> I64:
    """Sum over rows of code times weight, for each feature."""
    return codes.astype(np.int64) @ weight.astype(np.int64)


def trend_sums(codes: U8, weight: I16) -> I64:
    """Sums over rows (nodes, features, 2) of weight times the distance from code 8, and times its square."""
    off = codes.astype(np.int64) - 8
    return np.stack([weight.astype(np.int64) @ off.T, weight.astype(np.int64) @ (off**2).T], axis=2)
