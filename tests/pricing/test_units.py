"""Units of purchase: what is bought together, and what it costs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gtgbm.pricing import PLAIN, FeatureCosts, FeatureUnits, SpendingLimits, Units, highest_cost
from gtgbm.selection.features import Feature
from gtgbm.selection.limits import Limits, Size


def test_costs_of_one_and_groups_of_one_are_plain() -> None:
    assert Units.of(np.ones(3), np.array([0, 1, -1]), []) == PLAIN
    units = Units.of(np.array([1.0, 2.0, 1.0]), np.array([0, 0, 1]), [2])
    assert units.group is not None
    assert units.group.tolist() == [0, 0, -1]
    assert not units.is_plain


def test_what_a_budget_leaves() -> None:
    costs, group = np.array([1.0, 1.0, 3.0, 5.0, np.inf]), np.array([0, 0, -1, -1, -1])
    units = Units.of(costs, group, [0, 1]).within(4.0)
    assert (units.fixed_units, units.fixed_cost) == ([0], 1.0)
    assert units.forbidden.tolist() == [3, 4]
    assert units.typical_cost == 1.0
    assert Units.of(np.array([2.0, 4.0, 1.0]), None, []).relative().cost.tolist() == [1.0, 2.0, 1.0]  # type: ignore[union-attr]


def test_columns_with_the_others_of_their_groups() -> None:
    units = Units(group=np.array([-1, 0, 1, 0, 1, -1]))
    assert units.with_groups([3, 5]) == [1, 3, 5]
    assert units.with_groups([]) == []
    assert Units().with_groups([2, 0]) == [0, 2]


def test_rounding_does_not_make_a_budget_smaller() -> None:
    assert 0.1 + 0.1 + 0.1 > 0.3
    assert highest_cost(0.1 + 0.1, 0.3) >= 0.1
    assert np.inf > highest_cost(5.0, None)


def test_units_of_categories() -> None:
    """Columns 0 and 1 are a group; column 1 has the categories 3 and 4, column 2 the category 5."""
    units = Units.of(np.array([2.0, 2.0, 7.0]), np.array([0, 0, -1]), [])
    features = units.of_features(
        np.array([0, 1, 2, 1, 1, 2]), np.array([True, False, False, True, True, True])
    )
    assert features.members(4).tolist() == features.members(0).tolist() == [0, 3, 4]
    assert features.members(5).tolist() == [5]
    assert [features.cost_of(feature) for feature in (0, 3, 5)] == [2.0, 2.0, 7.0]


def test_a_group_is_bought_and_given_back_as_a_whole() -> None:
    units = FeatureUnits(4, np.array([2.0, 2.0, 1.0, 4.0]), np.array([0, 0, -1, -1]))
    costs = FeatureCosts(units, 0.1, "root", SpendingLimits(None, 5.0))
    costs.start_tree(10.0, 1.0)
    assert costs.prices(np.arange(4)).tolist() == [2.0, 2.0, 1.0, 4.0]
    assert costs.new_price == 1.0
    costs.buy(1)
    assert costs.prices(np.arange(4)).tolist() == [0.0, 0.0, 1.0, np.inf]
    costs.buy(2)
    assert costs.new_price == np.inf
    costs.give_back(1)
    assert costs.is_owned.tolist() == [False, False, True, False]
    assert costs.prices(np.arange(4)).tolist() == [2.0, 2.0, 0.0, 4.0]


@given(st.lists(st.floats(0.0, 1.0), min_size=8, max_size=8), st.floats(0.0, 12.0), st.booleans())
def test_what_stays_is_within_the_limits(values: list[float], budget: float, by_value: bool) -> None:
    costs, group = np.array([1.0, 1.0, 2.0, 0.0, 5.0, 0.3, 2.0, 1.0]), np.array([0, 0, 1, -1, -1, -1, 1, -1])
    limits = Limits(4, None, budget, Units.of(costs, group, []))
    importance = {Feature(column): value for column, value in enumerate(values)}
    kept = limits.cut([importance], [1.0], limits.wanted, by_value=by_value)
    size = limits.size(kept)
    assert not size.exceeds(limits.wanted)
    columns = {feature.column for feature in kept[0]}
    assert {0, 1} <= columns or not columns & {0, 1}
    assert {2, 6} <= columns or not columns & {2, 6}
    # No unit that is left out would fit in.
    if size.total < 4:
        left = {int(group[c]) if group[c] >= 0 else -2 - c: costs[c] for c in range(8) if c not in columns}
        assert all(size.cost + cost > budget for cost in left.values())


def test_features_are_kept_for_what_they_cost() -> None:
    limits = Limits(None, None, 3.0, Units.of(np.array([3.0, 1.0, 1.0, 1.0]), None, []))
    importance = {Feature(column): value for column, value in enumerate([0.5, 0.2, 0.2, 0.05])}
    assert {feature.column for feature in limits.first(importance, np.inf, 3.0)} == {1, 2, 3}
    assert {feature.column for feature in limits.first(importance, np.inf, 3.0, by_value=True)} == {0}
    assert limits.size([importance]) == Size(4, 4, 6.0)


@pytest.mark.parametrize("doubted", [{0}, {0, 1}, {2}])
def test_a_unit_is_in_doubt_if_all_its_features_are(doubted: set[int]) -> None:
    limits = Limits(1, None, None, Units.of(None, np.array([0, 0, -1]), []))
    features = [Feature(column) for column in range(3)]
    found = limits.whole(features, {Feature(column) for column in doubted})
    assert {feature.column for feature in found} == (set() if doubted == {0} else doubted)
