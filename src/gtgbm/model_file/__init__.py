"""Model files: readable JSON with exact floats.

The layout, reading, validation and writing of files. A stored model does not need scikit-learn.
"""

from gtgbm.model_file.layout import FORMAT_VERSION, Label, ModelFileError
from gtgbm.model_file.reading import model_file_errors, read_model_file
from gtgbm.model_file.stored import (
    ESTIMATORS,
    StoredColumns,
    StoredEstimator,
    StoredModel,
    StoredPart,
    StoredTasks,
)
from gtgbm.model_file.writing import write_model_file

__all__ = [
    "ESTIMATORS",
    "FORMAT_VERSION",
    "Label",
    "ModelFileError",
    "StoredColumns",
    "StoredEstimator",
    "StoredModel",
    "StoredPart",
    "StoredTasks",
    "model_file_errors",
    "read_model_file",
    "write_model_file",
]
