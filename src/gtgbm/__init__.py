"""Gradient boosted trees that choose few features while they train."""

from gtgbm import losses, metrics
from gtgbm.boosting import Callback, HistoryEntry, Progress
from gtgbm.estimators import (
    AGBMClassifier,
    AGBMRegressor,
    GBFSClassifier,
    GBFSRegressor,
    GTGBMClassifier,
    GTGBMRanker,
    GTGBMRegressor,
    MultitaskGTGBMClassifier,
    MultitaskGTGBMRegressor,
    TaskComparison,
    compare_tasks,
    load_model,
    save_model,
)
from gtgbm.model_file import ModelFileError
from gtgbm.tree import Tree

__version__ = "0.1.0"

__all__ = [
    "AGBMClassifier",
    "AGBMRegressor",
    "Callback",
    "GBFSClassifier",
    "GBFSRegressor",
    "GTGBMClassifier",
    "GTGBMRanker",
    "GTGBMRegressor",
    "HistoryEntry",
    "ModelFileError",
    "MultitaskGTGBMClassifier",
    "MultitaskGTGBMRegressor",
    "Progress",
    "TaskComparison",
    "Tree",
    "compare_tasks",
    "load_model",
    "losses",
    "metrics",
    "save_model",
]
