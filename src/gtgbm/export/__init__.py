"""Models for other tools: LightGBM, ONNX, treelite, C; trees as a dataframe.

What they share is a `PlainModel`: trees, the scores they are added to, and the link to predictions.
"""

from gtgbm.export.c_source import export_c
from gtgbm.export.frames import model_to_frame
from gtgbm.export.lightgbm_model import export_lightgbm, lightgbm_text, to_lightgbm
from gtgbm.export.onnx_model import export_onnx, register_onnx_converters
from gtgbm.export.plain_model import PlainModel, encode_table, plain_model
from gtgbm.export.treelite_model import export_treelite, to_treelite
from gtgbm.export.trusted_types import TRUSTED_TYPES

__all__ = [
    "TRUSTED_TYPES",
    "PlainModel",
    "encode_table",
    "export_c",
    "export_lightgbm",
    "export_onnx",
    "export_treelite",
    "lightgbm_text",
    "model_to_frame",
    "plain_model",
    "register_onnx_converters",
    "to_lightgbm",
    "to_treelite",
]
