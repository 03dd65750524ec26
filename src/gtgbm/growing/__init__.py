"""One tree.

The grower, owned columns, splitting a level, whole subtrees, back-off, leaf values, monotone bounds.
"""

from gtgbm.growing.grower import Grown, TreeGrower
from gtgbm.growing.leaf_values import leaf_steps
from gtgbm.growing.monotone import bounded_values
from gtgbm.growing.other_tasks_columns import OfferedColumns
from gtgbm.growing.owned_columns import ResidentColumns

__all__ = [
    "Grown",
    "OfferedColumns",
    "ResidentColumns",
    "TreeGrower",
    "bounded_values",
    "leaf_steps",
]
