"""The searches that users can name."""

from __future__ import annotations

from gtgbm.boosting import SEARCHES
from gtgbm.parameters.table import SEARCH_NAMES


def test_the_parameter_takes_every_search() -> None:
    assert ("auto", *SEARCHES) == SEARCH_NAMES
