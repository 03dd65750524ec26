"""The parameters of all estimators, in one table.

Validation, docstrings and command-line flags are made from this table.
"""

from gtgbm.parameters.cost_kinds import Group, column_name
from gtgbm.parameters.kinds import Choice, Context, Flag, Kind
from gtgbm.parameters.table import METHODS, PARAMETERS, Parameter

__all__ = [
    "METHODS",
    "PARAMETERS",
    "Choice",
    "Context",
    "Flag",
    "Group",
    "Kind",
    "Parameter",
    "column_name",
]
