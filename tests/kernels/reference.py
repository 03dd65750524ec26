"""Plain numpy twins of the native kernels: slow, short, written from what the headers promise.

A twin returns what its kernel writes. Where a kernel leaves part of its output alone, the twin takes that
output and returns a changed copy.
"""

from __future__ import annotations

import itertools
import math
from typing import NamedTuple, TypeAlias

import numpy as np

from gtgbm.exact.arrays import (
    CATEGORICAL,
    CELLS,
    F64,
    FALLING,
    I8,
    I16,
    I32,
    I64,
    LANES,
    RISING,
    U8,
    U16,
    Bool,
    Table,
)
from gtgbm.search.dealing import GroupTree

MISSING = CELLS - 1
RIGHT, LEFT, UNSEEN = 0, 1, 2


# --- binning ---


def gather(table: Table, rows: I64, columns: I64) -> F64:
    """Values of some rows and columns, shape (columns, rows)."""
    return table[np.ix_(rows, columns)].T.astype(np.float64, order="C")


def encode(table: Table, columns: I64, thresholds: F64, n_thresholds: I32, out: U8) -> U8:
    """Codes of whole columns: how many thresholds are below a value, 255 for NaN."""
    out, lanes = out.copy(), out.shape[2]
    for c, column in enumerate(columns.tolist()):
        values = table[:, column].astype(np.float64)
        edges = thresholds[c, : max(int(n_thresholds[c]), 0)]
        below = (edges[None, :] < values[:, None]).sum(axis=1)
        out[c // lanes, :, c % lanes] = np.where(np.isnan(values), MISSING, below)
    return out


def minmax_values(table: Table, rows: I64, columns: I64) -> U16:
    """Sampled values scaled to 0 .. 65535 by each column's finite range, clipped to it; NaN becomes 0."""
    values = gather(table, rows, columns)
    out = np.zeros(values.shape, dtype=np.uint16)
    for c, column in enumerate(values):
        finite = column[np.isfinite(column)]
        if finite.size == 0 or finite.min() / 2 == finite.max() / 2:
            continue
        low, span = finite.min() / 2, finite.max() / 2 - finite.min() / 2
        scaled = np.clip((column / 2 - low) / span, 0.0, 1.0)
        out[c] = np.rint(np.where(np.isnan(column), 0.0, scaled) * 65535.0)
    return out


# --- gradients ---


def logistic_residuals(scores: F64, y: F64) -> tuple[F64, F64, float]:
    """Residuals, curvatures and summed loss of the logistic loss."""
    p = 0.5 * (1.0 + np.tanh(0.5 * scores))
    q = 0.5 * (1.0 + np.tanh(-0.5 * scores))
    return y - p, p * q, float((np.logaddexp(0.0, scores) - y * scores).sum())


def fixed_point(values: F64, scale: float) -> I64:
    """Round to whole multiples of 1 / scale, halves to even."""
    return np.rint(values * scale).astype(np.int64)


def exponentials(values: F64) -> F64:
    """Exponentials; what is too small or too large for the kernel is 0 or infinite."""
    with np.errstate(over="ignore", under="ignore"):
        return np.where(values <= -690.0, 0.0, np.where(values >= 690.0, np.inf, np.exp(values)))


def each_weight(weights: I64, n: int) -> I64:
    """Weights of n rows: 1 where none are given."""
    return weights if weights.shape[0] else np.ones(n, dtype=np.int64)


def fixed_point_sum(values: F64, weights: I64, scale: float) -> int:
    """Exact weighted sum of rounded values."""
    weights = each_weight(weights, values.shape[0])
    return sum(q * w for q, w in zip(fixed_point(values, scale).tolist(), weights.tolist(), strict=True))


def pack_cells(
    residuals: F64, weights: I64, centre: float, scale: float, count_bits: int
) -> tuple[I64, int, int]:
    """Cells, their sum, and the weighted sum of squared fixed-point residuals."""
    q, weights = fixed_point(residuals - centre, scale), each_weight(weights, residuals.shape[0])
    cells = (q * 2**count_bits + 1) * weights
    squares = (v * v * w for v, w in zip(q.tolist(), weights.tolist(), strict=True))
    return cells, sum(cells.tolist()), sum(squares)


def leaf_sums(rows: I32, begin: I64, end: I64, values: F64, weights: I64, scale: float) -> I64:
    """Exact weighted sums of rounded values over the rows of each leaf."""
    weights = each_weight(weights, values.shape[0])
    leaves = [rows[b:e] for b, e in zip(begin.tolist(), end.tolist(), strict=True)]
    sums = [fixed_point_sum(values[leaf], weights[leaf], scale) for leaf in leaves]
    return np.array(sums, dtype=np.int64)


def leaf_quantiles(rows: I32, begin: I64, end: I64, values: F64, weights: I64, share: float) -> F64:
    """Value below which a share of each leaf's weight lies; 0 where a leaf weighs nothing."""
    weights, quantiles = each_weight(weights, values.shape[0]), np.zeros(begin.shape[0])
    for leaf, (b, e) in enumerate(zip(begin.tolist(), end.tolist(), strict=True)):
        inside = rows[b:e][weights[rows[b:e]] > 0]
        if inside.shape[0] == 0:
            continue
        inside = inside[np.argsort(values[inside], kind="stable")]
        found, up_to = values[inside], np.cumsum(weights[inside])
        wanted = share * float(up_to[-1])
        k = int(np.flatnonzero(up_to >= wanted)[0])
        ends_here = up_to[k] == wanted and k + 1 < inside.shape[0]
        quantiles[leaf] = found[k] + (found[k + 1] - found[k]) / 2 if ends_here else found[k]
    return quantiles


def add_to_leaves(rows: I32, begin: I64, end: I64, step: F64, scores: F64) -> F64:
    """Scores with each leaf's step added to the leaf's rows."""
    scores = scores.copy()
    for b, e, s in zip(begin.tolist(), end.tolist(), step.tolist(), strict=True):
        scores[rows[b:e]] += s
    return scores


# --- ranking ---


def rank_residuals(
    rows: I64,
    begin: I64,
    relevance: F64,
    gain: F64,
    weight: F64,
    discount: F64,
    scores: F64,
    truncation: int,
    by_ndcg: bool,
) -> tuple[F64, F64, float]:
    """Residuals and curvatures of rows, and the loss: pair by pair, documents by falling score."""
    residuals, curvatures, losses = np.zeros_like(scores), np.zeros_like(scores), 0.0
    for q, query_weight in enumerate(weight.tolist()):
        documents = rows[begin[q] : begin[q + 1]]
        ranked: list[int] = sorted(documents.tolist(), key=lambda row: -float(scores[row]))
        differ = np.unique(scores[documents]).shape[0] > 1
        pull = loss = 0.0
        for (i, first), (j, second) in itertools.combinations(enumerate(ranked), 2):
            if i >= truncation or relevance[first] == relevance[second]:
                continue
            better, worse = (first, second) if relevance[first] > relevance[second] else (second, first)
            ahead, w = float(scores[better] - scores[worse]), query_weight
            if by_ndcg:
                w *= abs(float(gain[first] - gain[second])) * abs(float(discount[i] - discount[j]))
                w /= 0.01 + abs(ahead) if differ else 1.0
            wrong, right = (math.exp(-float(np.logaddexp(0.0, side))) for side in (ahead, -ahead))
            residuals[better] += w * wrong
            residuals[worse] -= w * wrong
            curvatures[[better, worse]] += w * wrong * right
            pull += 2.0 * w * wrong
            loss += w * float(np.logaddexp(0.0, -ahead))
        factor = math.log2(1.0 + pull) / pull if by_ndcg and pull > 0.0 else 1.0
        residuals[documents] *= factor
        curvatures[documents] *= factor
        losses += loss * factor
    return residuals, curvatures, losses


# --- histograms ---


def histogram(codes: U8, cells: I64) -> I64:
    """Cell sum of each of the 256 codes."""
    hist = np.zeros(CELLS, dtype=np.int64)
    np.add.at(hist, codes, cells)
    return hist


def build_histograms(
    codes: U8,
    rows: I32,
    cells: I64,
    begin: I64,
    end: I64,
    slot: I64,
    first_tile: int,
    last_tile: int,
    hist: I64,
) -> I64:
    """Histograms of row ranges, job k's in slot[k], for some tiles; cells are by row of the table."""
    hist = hist.copy()
    for b, e, s in zip(begin.tolist(), end.tolist(), slot.tolist(), strict=True):
        for tile in range(first_tile, last_tile):
            for lane in range(LANES):
                hist[s, tile, lane] = histogram(codes[tile, rows[b:e], lane], cells[rows[b:e]])
    return hist


def subtract_histograms(parents: I64, parent: I64, sibling: I64, slot: I64, n_cells: int, hist: I64) -> I64:
    """Histograms of the rows that a parent has and a sibling has not."""
    hist = hist.copy()
    for p, other, s in zip(parent.tolist(), sibling.tolist(), slot.tolist(), strict=True):
        hist[s, :n_cells] = parents[p, :n_cells] - hist[other, :n_cells]
    return hist


def build_pair_histograms(codes: U8, column: I64, rows: I32, cells: I64, begin: I64, end: I64) -> I64:
    """Histogram of one column over one row range, for each pair; cells are by row of the table."""
    pairs = zip(column.tolist(), begin.tolist(), end.tolist(), strict=True)
    hists = [histogram(codes[c, rows[b:e]], cells[rows[b:e]]) for c, b, e in pairs]
    return np.array(hists, dtype=np.int64).reshape(-1, CELLS)


class Split(NamedTuple):
    """A split: rows with code <= bin go left."""

    gain: float
    bin: int
    missing_side: int


def gain_of(cells: I64, split: tuple[int, int], total: int, count_bits: int) -> float:
    """Fall of the squared error by the split (bin, side of missing values), -inf if a side is empty."""
    n, g = total & ((1 << count_bits) - 1), total >> count_bits
    left: int = sum(cells[: split[0] + 1].tolist())
    if split[1] == LEFT:
        left += total - sum(cells.tolist())
    n_left, g_left = left & ((1 << count_bits) - 1), left >> count_bits
    if n_left in (0, n):
        return -np.inf
    d = g_left * n - g * n_left
    return d * d / (n_left * (n - n_left)) / n


def direction_of(use: int) -> int:
    """1 where the mean must not fall from left to right, -1 where it must not rise, 0 where it may."""
    if use & RISING:
        return 1
    return -1 if use & FALLING else 0


def best_split(cells: I64, total: int, count_bits: int, min_leaf: int, direction: int = 0) -> Split:
    """Best of all bins: first with missing values on the right, then on the left; equals keep the first.

    Splits against the direction do not count, except values against missing ones; nor do bins without rows:
    what they would separate, the bin before them does. Python's integers do not round, so equal splits are
    really equal.
    """
    n = total & ((1 << count_bits) - 1)
    best, best_fraction = Split(-np.inf, -1, UNSEEN), (0, 1)
    missing = total - sum(cells.tolist())
    for side in (RIGHT, LEFT) if missing else (UNSEEN,):
        left = missing if side == LEFT else 0
        for b, cell in enumerate(cells.tolist()):
            left += cell
            n_left = left & ((1 << count_bits) - 1)
            if cell == 0 or min(n_left, n - n_left) < max(min_leaf, 1):
                continue
            d = (left >> count_bits) * n - (total >> count_bits) * n_left
            fraction = d * d, n_left * (n - n_left)
            allowed = d * direction <= 0 or left + missing == total
            if allowed and fraction[0] * best_fraction[1] > best_fraction[0] * fraction[1]:
                best, best_fraction = Split(fraction[0] / fraction[1] / n, b, side), fraction
    return best


class Columns(NamedTuple):
    """What a scan knows about its columns; category c of column j is ``category_use[category_row[j], c]``."""

    n_bins: I32
    use: U8
    category_row: I32
    category_use: U8


class Found(NamedTuple):
    """Best split over some columns, and the cell sum of its left side."""

    gain: float = -np.inf
    column: int = -1
    bin: int = -1
    missing_side: int = UNSEEN
    left: int = 0


Offer: TypeAlias = tuple[int, int, int]


def offered(cells: list[int], total: int, category_use: list[int] | None, use: int) -> list[Offer]:
    """Splits (left, bin, missing side) a column offers to a search among owned or among new features.

    Bins without rows offer nothing: what they would separate, the bin before them does.
    """
    if category_use is not None:
        codes = [code for code in range(len(cells)) if category_use[code] == use]
        return [(total - cells[code], code, UNSEEN) for code in codes]
    occupied = [b for b, cell in enumerate(cells) if cell != 0]
    below = list(itertools.accumulate(cells[b] for b in occupied))
    missing = total - sum(cells)
    if missing == 0:
        return [(left, b, UNSEEN) for b, left in zip(occupied, below, strict=True)]
    right = [(left, b, RIGHT) for b, left in zip(occupied, below, strict=True)]
    return right + [(left + missing, b, LEFT) for left, b, _ in right]


def first_best(offers: list[Offer], total: int, count_bits: int, min_leaf: int, direction: int = 0) -> Found:
    """First of the best splits, in doubles and in the kernel's order of operations: equal to the bit."""
    mask = (1 << count_bits) - 1
    n, g = float(total & mask), float(total >> count_bits)
    best, top, bottom = Found(), 0.0, 1.0
    # All values against the missing ones, which are neither above nor below them.
    free = max((bin for _, bin, side in offers if side == RIGHT), default=-1)
    for left, bin, side in offers:
        n_left = float(left & mask)
        if min(n_left, n - n_left) < min_leaf:
            continue
        d = float(left >> count_bits) * n - g * n_left
        numerator, denominator = d * d, n_left * (n - n_left)
        allowed = d * direction <= 0.0 or (side == RIGHT and bin == free)
        if allowed and numerator * bottom > top * denominator:
            top, bottom = numerator, denominator
            best = Found(top / bottom / n, -1, bin, side, left)
    return best


def scan_columns(hist: I64, columns: Columns, use: int, total: int, count_bits: int, min_leaf: int) -> Found:
    """Best split of one node, hist (columns, 256), among features of one use; equals keep the first."""
    best = Found()
    for c, column_use in enumerate(columns.use.tolist()):
        is_category = column_use == CATEGORICAL
        if column_use & ~(RISING | FALLING) != use and not is_category:
            continue
        uses = columns.category_use[columns.category_row[c]].tolist() if is_category else None
        cells = hist[c, : max(int(columns.n_bins[c]), 0)].tolist()
        offers, direction = offered(cells, total, uses, use), direction_of(column_use)
        found = first_best(offers, total, count_bits, min_leaf, direction)
        if found.gain > best.gain:
            best = found._replace(column=c)
    return best


# --- partition ---


def goes_left(codes: U8, bin: int, is_category: int, missing_left: int) -> Bool:
    """Which rows of a column go left."""
    if is_category:
        return np.asarray(codes != bin)
    return np.where(codes == MISSING, bool(missing_left), codes <= bin)


def partition_rows(
    codes: U8, column: I64, bin: I32, is_category: U8, missing_left: U8, begin: I64, end: I64, rows: I32
) -> tuple[I32, I64]:
    """Rows after splitting row ranges, and how many went left in each."""
    rows, n_left = rows.copy(), np.zeros(column.shape[0], dtype=np.int64)
    for k, c in enumerate(column.tolist()):
        node = rows[begin[k] : end[k]].copy()
        column_codes = codes[c // LANES, node, c % LANES]
        left = goes_left(column_codes, int(bin[k]), int(is_category[k]), int(missing_left[k]))
        n_left[k] = left.sum()
        rows[begin[k] : end[k]] = np.concatenate([node[left], node[~left]])
    return rows, n_left


def node_sums(rows: I32, cells: I64, begin: I64, end: I64, count_bits: int) -> list[tuple[int, int]]:
    """Cell sum and weighted sum of squared gradients of row ranges."""
    sums = []
    for b, e in zip(begin.tolist(), end.tolist(), strict=True):
        node = cells[rows[b:e]].tolist()
        weights = [cell & ((1 << count_bits) - 1) for cell in node]
        gradients = [(cell >> count_bits) // max(w, 1) for cell, w in zip(node, weights, strict=True)]
        sums.append((sum(node), sum(q * q * w for q, w in zip(gradients, weights, strict=True))))
    return sums


def sampled_rows(
    rows: I32, cells: I64, begin: I64, end: I64, position: I32
) -> tuple[list[int], list[int], list[int], list[int]]:
    """Positions and cells of sampled rows, node after node; where each node starts; its cell sum."""
    positions: list[int] = []
    sampled: list[int] = []
    first, total = [0], []
    for b, e in zip(begin.tolist(), end.tolist(), strict=True):
        inside = [row for row in rows[b:e].tolist() if position[row] >= 0]
        positions += [int(position[row]) for row in inside]
        sampled += [int(cells[row]) for row in inside]
        first.append(len(positions))
        total.append(sum(int(cells[row]) for row in inside))
    return positions, sampled, first, total


# --- group tests ---


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
    kept: int,
) -> tuple[I64, F64]:
    """Feature reached and its gain when every group is followed into its best child.

    With fewer places than subsets, those with the best first step, best first.
    """
    shape = (begin.shape[0], members.shape[0])
    feature, gain = np.zeros(shape, dtype=np.int64), np.full(shape, -np.inf)
    first = np.zeros(shape)
    for node, subset in np.ndindex(shape):
        rows, weights = positions[begin[node] : end[node]], cells[begin[node] : end[node]]
        g = 0
        if tree.n_children[0] == 0:
            alone = histogram(codes[members[subset, 0]][rows], weights)
            gain[node, subset] = best_split(alone, sum(weights.tolist()), count_bits, min_leaf).gain
        while n_children := int(tree.n_children[g]):
            if tree.tile[g] >= 0:
                child_codes = tiles[subset, tree.tile[g], :, :n_children].T
            else:
                child_codes = codes[members[subset, tree.begin[g] : tree.end[g]]]
            total = sum(weights.tolist())
            gains = [
                best_split(histogram(child[rows], weights), total, count_bits, min_leaf).gain
                for child in child_codes
            ]
            gain[node, subset] = max(gains)
            first[node, subset] = max(gains) if g == 0 else first[node, subset]
            g = int(tree.first_child[g]) + int(np.argmax(gains))
        feature[node, subset] = members[subset, tree.begin[g]]
    if tree.n_children[0] == 0:
        first = gain
    if kept == shape[1]:
        return feature, gain
    best = np.argsort(-first, axis=1, kind="stable")[:, :kept]
    return np.take_along_axis(feature, best, axis=1), np.take_along_axis(gain, best, axis=1)


def correlate(codes: U8, weight: I16) -> I64:
    """Sum over rows of code times weight, for each feature."""
    return codes.astype(np.int64) @ weight.astype(np.int64)


def trend_sums(codes: U8, weight: I16) -> I64:
    """Sums over rows (nodes, features, 2) of weight times the distance from code 8, and times its square."""
    off = codes.astype(np.int64) - 8
    return np.stack([weight.astype(np.int64) @ off.T, weight.astype(np.int64) @ (off**2).T], axis=2)


# --- predict ---


def predict(
    table: Table,
    columns: I64,
    first: I64,
    output: I64,
    feature: I32,
    threshold: F64,
    is_category: U8,
    missing_left: U8,
    left: I32,
    value: F64,
    out: F64,
) -> F64:
    """Scores with every tree's value added, tree after tree."""
    out = out.copy()
    for tree, score in enumerate(output.tolist()):
        base = int(first[tree])
        for row in range(table.shape[0]):
            k = base
            while feature[k] >= 0:
                x = float(table[row, columns[feature[k]]])
                if np.isnan(x):
                    is_left = bool(missing_left[k])
                else:
                    is_left = x != threshold[k] if is_category[k] else x <= threshold[k]
                k = base + int(left[k]) + (0 if is_left else 1)
            out[score, row] += value[k]
    return out
