"""Boosting: one fit of a model.

Settings, assembling the parts, boosting rounds, row and column sampling, evaluation, callbacks.
"""

from gtgbm.boosting.assembling import Fit, Fitted, TaskParts, assemble, empty_model, train
from gtgbm.boosting.callbacks import AnyCallback, Callback, Callbacks, Progress
from gtgbm.boosting.dataset import Dataset
from gtgbm.boosting.model import HistoryEntry, Model
from gtgbm.boosting.problem import Evaluated, Problem
from gtgbm.boosting.progress import ProgressBar, tracked
from gtgbm.boosting.settings import (
    ColumnSettings,
    Criterion,
    PriceSettings,
    RoundSettings,
    SearchName,
    SearchSettings,
    Settings,
    TreeSettings,
)

__all__ = [
    "AnyCallback",
    "Callback",
    "Callbacks",
    "ColumnSettings",
    "Criterion",
    "Dataset",
    "Evaluated",
    "Fit",
    "Fitted",
    "HistoryEntry",
    "Model",
    "PriceSettings",
    "Problem",
    "Progress",
    "ProgressBar",
    "RoundSettings",
    "SearchName",
    "SearchSettings",
    "Settings",
    "TaskParts",
    "TreeSettings",
    "assemble",
    "empty_model",
    "tracked",
    "train",
]
