"""The parameters of all estimators, in one table.

Meaning, valid values and text form of each; checks, documentation and command-line flags come from here.
"""

from gtgbm.parameters.kinds import Choice, Context, Flag, Kind
from gtgbm.parameters.table import METHODS, PARAMETERS, Parameter

__all__ = ["METHODS", "PARAMETERS", "Choice", "Context", "Flag", "Kind", "Parameter"]
