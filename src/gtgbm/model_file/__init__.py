"""Model files: readable JSON, exact floats.

The layout of a file, its bytes, and its parameters; a file is checked in full when it is read.
"""

from gtgbm.model_file.layout import (
    FORMAT_VERSION,
    MAX_FEATURES,
    MAX_UNNAMED,
    BoughtLayout,
    ClassesLayout,
    Header,
    ModelFileError,
    ModelLayout,
    OwnedLayout,
    PartLayout,
    SearchLayout,
    TasksLayout,
    TreeLayout,
)
from gtgbm.model_file.parameters import as_plain, from_plain

__all__ = [
    "FORMAT_VERSION",
    "MAX_FEATURES",
    "MAX_UNNAMED",
    "BoughtLayout",
    "ClassesLayout",
    "Header",
    "ModelFileError",
    "ModelLayout",
    "OwnedLayout",
    "PartLayout",
    "SearchLayout",
    "TasksLayout",
    "TreeLayout",
    "as_plain",
    "from_plain",
]
