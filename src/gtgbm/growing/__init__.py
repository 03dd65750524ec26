"""Growing one tree.

The grower, owned columns, splitting a level, whole subtrees, back-off, leaf values, monotone constraints.
"""

from gtgbm.growing.feature_columns import FeatureColumns
from gtgbm.growing.grower import GrownTree, TreeGrower
from gtgbm.growing.leaf_values import leaf_steps
from gtgbm.growing.monotone import bounded_values
from gtgbm.growing.other_tasks_columns import OtherTasksColumns
from gtgbm.growing.owned_columns import OwnedColumns
from gtgbm.growing.state import GrowerState

__all__ = [
    "FeatureColumns",
    "GrowerState",
    "GrownTree",
    "OtherTasksColumns",
    "OwnedColumns",
    "TreeGrower",
    "bounded_values",
    "leaf_steps",
]
