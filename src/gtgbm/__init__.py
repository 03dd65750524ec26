"""Gradient boosted trees that choose few features while they train."""

from gtgbm.boosting import HistoryEntry, Progress
from gtgbm.estimators import (
    AGBMClassifier,
    AGBMRegressor,
    GBFSClassifier,
    GBFSRegressor,
    GTGBMClassifier,
    GTGBMRegressor,
)
from gtgbm.tree import Tree

__version__ = "0.1.0"

__all__ = [
    "AGBMClassifier",
    "AGBMRegressor",
    "GBFSClassifier",
    "GBFSRegressor",
    "GTGBMClassifier",
    "GTGBMRegressor",
    "HistoryEntry",
    "Progress",
    "Tree",
]
