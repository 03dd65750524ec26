"""Weighted quantiles of groups of rows, the same for every division of the rows among workers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gtgbm import _core
from gtgbm.exact.arrays import F64, I32, I64
from gtgbm.exact.context import FitContext

_DIGIT_BITS = 11
_DIGITS = 1 << _DIGIT_BITS
"""Values are found digit by digit, with one sum of 2,048 numbers a group for each of six digits."""
_SIGN = np.uint64(1 << 63)

_Keys = NDArray[np.uint64]


def weighted_quantiles(
    rows: I32, begin: I64, end: I64, values: F64, weights: I64, share: float, context: FitContext
) -> F64:
    """Return the smallest value of each group with at least `share` of the weight at or below it.

    If it is exactly that share, it is the midpoint of this value and the next one.

    Parameters
    ----------
    rows : ndarray of int32, shape (n,)
        The rows of group k are ``rows[begin[k]:end[k]]``.
    begin, end : ndarray of int64, shape (groups,)
    values : ndarray of float64, shape (n,)
    weights : ndarray of int64, shape (n,), or empty where all rows weigh 1
    share : float
        In [0, 1].

    Returns
    -------
    ndarray of float64, shape (groups,)
    """
    if context.is_alone:
        found = np.empty(begin.shape[0])
        _core.leaf_quantiles(context.pool, rows, begin, end, values, weights, share, found)
        return found
    group = np.repeat(np.arange(begin.shape[0]), end - begin)
    at = np.concatenate([rows[:0], *(rows[first:last] for first, last in zip(begin, end, strict=True))])
    weight = weights[at] if weights.shape[0] else np.ones(at.shape[0], dtype=np.int64)
    has_weight = weight > 0
    group, at, weight = group[has_weight], at[has_weight], weight[has_weight]
    key = _ordered(values[at] + 0.0)  # minus zero is zero
    total = context.communicator.sum(np.bincount(group, weight, begin.shape[0]).astype(np.int64))
    wanted = share * total.astype(np.float64)
    found_key, reached = select(key, group, weight, wanted, context)
    quantile = _unordered(found_key)
    above = np.where(key > found_key[group], -_unordered(key), -np.inf)
    next_value = np.full(begin.shape[0], -np.inf)
    np.maximum.at(next_value, group, above)
    next_value = -context.communicator.max(next_value)
    between = (reached == wanted) & np.isfinite(next_value)
    middle = quantile + (np.where(between, next_value, quantile) - quantile) / 2
    return np.where(total > 0, np.where(between, middle, quantile), 0.0)


def select(key: _Keys, group: I64, weight: I64, wanted: F64, context: FitContext) -> tuple[_Keys, F64]:
    """Return the smallest key of each group with at least the wanted weight at or below it, and this weight.

    Parameters
    ----------
    key : ndarray of uint64, shape (n,)
    group : ndarray of int64, shape (n,)
    weight : ndarray of int64, shape (n,)
    wanted : ndarray of float64, shape (groups,)
    """
    n_groups = wanted.shape[0]
    prefix: _Keys = np.zeros(n_groups, dtype=np.uint64)
    below = np.zeros(n_groups, dtype=np.int64)
    is_open = np.ones(key.shape[0], dtype=np.bool_)
    reached = np.zeros(n_groups)
    for shift in range(64 - 64 % _DIGIT_BITS, -1, -_DIGIT_BITS):
        digit = ((key >> np.uint64(shift)) & np.uint64(_DIGITS - 1)).astype(np.int64)
        # Sums of integers are exact in floats up to 2**53, far above the sum of weights.
        place = group[is_open] * _DIGITS + digit[is_open]
        counts = np.bincount(place, weight[is_open], n_groups * _DIGITS).astype(np.int64)
        counts = context.communicator.sum(counts).reshape(n_groups, _DIGITS)
        upto = below[:, None] + np.cumsum(counts, axis=1)
        is_enough = (upto >= wanted[:, None]) & (counts > 0)
        chosen = np.where(is_enough.any(axis=1), np.argmax(is_enough, axis=1), _DIGITS - 1)
        at = np.arange(n_groups), chosen
        reached, below = upto[at].astype(np.float64), upto[at] - counts[at]
        prefix |= chosen.astype(np.uint64) << np.uint64(shift)
        is_open &= digit == chosen[group]
    return prefix, reached


def _ordered(values: F64) -> _Keys:
    """Return integers in the order of finite floats."""
    bits = values.view(np.uint64)
    return np.where(bits & _SIGN, ~bits, bits | _SIGN)


def _unordered(keys: _Keys) -> F64:
    """Return the floats of `_ordered` integers."""
    return np.where(keys & _SIGN, keys & ~_SIGN, ~keys).view(np.float64)
