"""Cells hold enough of a residual, whatever the number of rows and their weights, and never overflow."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gtgbm import _core
from gtgbm.exact import FitContext, RowWeights, newton_problem, pack
from gtgbm.exact.arrays import F64, I64
from tests.strategies import seeds

FEW = 1000
"""Rows of a test; heavy ones stand for many."""


def heavy(total_bits: int, n: int = FEW) -> RowWeights:
    """Give rows such whole weights as so many bits of rows have together."""
    cells: I64 = np.full(n, (1 << total_bits) // n, dtype=np.int64)
    return RowWeights(n, cells, cells, 1.0, 1.0, int(cells.sum()), int(cells.sum()), n)


def levels(residuals: F64, weights: RowWeights) -> float:
    """Return the mean absolute residual in units of its rounding."""
    cells = pack(residuals, weights, FitContext(_core.Pool(1)))
    each = weights.cells if weights.cells.shape[0] else np.ones(residuals.shape[0])
    return float(np.abs(cells.gradients(cells.values)).sum() / each.sum())


# Once: bits were those of the largest residual if all rows had it: 8 at 2**24 rows with weights, 4 at 2**26.
# Then those that 64 bits leave beside two counts: 10 at 2**26, 6 at 2**28.
@pytest.mark.parametrize(
    ("total_bits", "fewest"), [(24, 2**13), (25, 2**11), (26, 2**24), (27, 2**24), (28, 2**24), (30, 2**24)]
)
@pytest.mark.parametrize("kind", ["normal", "classes", "heavy tail"])
def test_many_rows_leave_enough_levels(kind: str, total_bits: int, fewest: int) -> None:
    rng = np.random.default_rng(0)
    residuals = rng.normal(size=FEW)
    if kind == "classes":
        residuals = np.where(rng.random(FEW) < 0.3, 0.7, -0.3)
    if kind == "heavy tail":
        residuals = rng.standard_t(2, FEW)
    assert levels(residuals, heavy(total_bits)) >= fewest


@pytest.mark.parametrize(("n_bits", "is_wide"), [(20, False), (21, False), (22, True), (27, True)])
@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("is_newton", [False, True])
def test_tables_of_many_rows_have_wide_cells(
    n_bits: int, is_wide: bool, is_weighted: bool, is_newton: bool
) -> None:
    """Few rows stand for many: only their number and the sum of their weights say how wide cells are."""
    n_total = (1 << n_bits) - 1
    residuals, curvatures = curvature_table(FEW)
    # Fractional weights have 23 bits together, or 30 where cells are wide.
    total = (1 << (30 if is_wide else 23) if is_weighted else n_total) // FEW * FEW
    each: I64 = np.full(FEW, total // FEW, dtype=np.int64)
    weights = RowWeights(FEW, each, each, 1.0, 1.0, total, total, n_total)
    context = FitContext.serial()
    if is_newton:
        residuals, weights = newton_problem(residuals, curvatures, weights, context)
    cells = pack(residuals, weights, context)
    assert cells.format.is_wide == is_wide
    assert levels(residuals, weights) >= 2 ** (20 if is_wide else 12)


def test_weights_that_add_up_to_too_much_are_refused() -> None:
    residuals = np.random.default_rng(0).normal(size=FEW)
    assert levels(residuals, heavy(31)) >= 2**24
    with pytest.raises(ValueError, match="units, which is 2\\*\\*31 or more: train on a sample"):
        levels(residuals, heavy(32))


@given(seed=seeds, total_bits=st.integers(10, 31), tail=st.sampled_from([0.5, 1.0, 4.0]))
def test_no_sum_of_rows_overflows(seed: int, total_bits: int, tail: float) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 60))
    residuals = rng.normal(size=n) * rng.standard_exponential(n) ** tail + rng.normal() * 100.0
    cells = rng.integers(0, (1 << total_bits) // n, n)
    cells[0] += 1
    weights = RowWeights(n, cells, cells, 1.0, 1.0, int(cells.sum()), int(cells.sum()), n)
    packed = pack(residuals, weights, FitContext(_core.Pool(1)))
    values, count_bits, is_wide = packed.values.tolist(), packed.format.count_bits, packed.format.is_wide
    each = [value & ((1 << count_bits) - 1) for value in values]
    assert each == cells.tolist()
    gradients = [(value >> count_bits) * (w if is_wide else 1) for value, w in zip(values, each, strict=True)]
    assert packed.gradients(packed.values).tolist() == gradients
    # Of all subsets, those of one sign have the largest sums.
    for rows in ([k for k in range(n) if gradients[k] > 0], [k for k in range(n) if gradients[k] <= 0]):
        total = sum(gradients[k] for k in rows)
        assert -(2**63) <= total < 2**63
        if not is_wide:
            assert -(2**63) <= (total << count_bits) + sum(each[k] for k in rows) < 2**63


def curvature_table(n: int, seed: int = 0) -> tuple[F64, F64]:
    """Make residuals and curvatures of classes, most of which are predicted with near certainty."""
    p = 1.0 / (1.0 + np.exp(np.random.default_rng(seed).normal(size=n) * 3.0))
    y = np.random.default_rng(seed + 1).random(n) < p
    return y - p, p * (1.0 - p)


# Once: at most 12 bits for the largest target, which is a thousand times an ordinary one.
def test_newton_steps_have_levels_in_small_tables() -> None:
    residuals, curvatures = curvature_table(5000)
    target, weights = newton_problem(residuals, curvatures, RowWeights.equal(5000), FitContext.serial())
    assert levels(target, weights) >= 2**10
    weight = np.random.default_rng(2).random(5000)
    target, weights = newton_problem(residuals, curvatures, RowWeights.of(weight), FitContext.serial())
    assert levels(target, weights) >= 2**13


@pytest.mark.parametrize("n_bits", [26, 27, 28])
def test_newton_weights_of_many_rows_take_few_bits(n_bits: int) -> None:
    """Rows and weights had bits of their own: 32 together at 2**26 rows, more than squares have room for."""
    residuals, curvatures = curvature_table(FEW)
    n_rows = (1 << n_bits) - 1
    each = n_rows * 4 // FEW
    fine: I64 = np.full(FEW, each, dtype=np.int64)
    many = RowWeights(FEW, fine, fine, 4.0, 4.0, int(fine.sum()), int(fine.sum()), n_rows)
    target, weights = newton_problem(residuals, curvatures, many, FitContext.serial())
    assert weights.total_cells.bit_length() <= 31
    assert levels(target, weights) >= 2**20
    # What a row adds to the gradient is its weighted residual, however its weight was rounded.
    unit = weights.total_cells / np.average(np.maximum(curvatures, 2.0**-10 * curvatures.max())) / FEW
    np.testing.assert_allclose(target * weights.cells, residuals * unit, rtol=1e-2, atol=1e-6 * unit)
