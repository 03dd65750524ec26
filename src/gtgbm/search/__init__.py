"""Searches for new features.

Exhaustive and sparse search, group tests, trend tests, screening of candidates, and the choice of a search.
"""

from gtgbm.search.base import Search, SearchState
from gtgbm.search.choice import FEW_COLUMNS, SearchChoice, choose_search, density
from gtgbm.search.dealing import GroupTestSettings
from gtgbm.search.exhaustive import ExhaustiveSearch
from gtgbm.search.group_search import SCREENING_CODES, GroupSearch, Screening
from gtgbm.search.group_tests import GroupTests
from gtgbm.search.joint import JointPurchase, JointSearch
from gtgbm.search.trend_tests import TREND_LEVELS, TrendTests, n_trend_rows

__all__ = [
    "FEW_COLUMNS",
    "SCREENING_CODES",
    "TREND_LEVELS",
    "ExhaustiveSearch",
    "GroupSearch",
    "GroupTestSettings",
    "GroupTests",
    "JointPurchase",
    "JointSearch",
    "Screening",
    "Search",
    "SearchChoice",
    "SearchState",
    "TrendTests",
    "choose_search",
    "density",
    "n_trend_rows",
]
