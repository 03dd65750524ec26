"""Models for other tools: LightGBM, and trees as a dataframe.

What they share is a `PlainModel`: trees whose sums are the scores, and the link to predictions.
"""

from gtgbm.export.files import export_files
from gtgbm.export.frames import model_to_frame
from gtgbm.export.lightgbm_model import export_lightgbm, lightgbm_text, to_lightgbm
from gtgbm.export.plain_model import PlainModel, encode_table, plain_model, plain_models

__all__ = [
    "PlainModel",
    "encode_table",
    "export_files",
    "export_lightgbm",
    "lightgbm_text",
    "model_to_frame",
    "plain_model",
    "plain_models",
    "to_lightgbm",
]
