"""The parameters of all estimators, in one table.

The table holds the meaning, the valid values and the text form of each parameter. Validation, docstrings and
command-line flags are made from it.
"""

from gtgbm.parameters.kinds import Choice, Context, Flag, Kind
from gtgbm.parameters.table import METHODS, PARAMETERS, Parameter

__all__ = ["METHODS", "PARAMETERS", "Choice", "Context", "Flag", "Kind", "Parameter"]
