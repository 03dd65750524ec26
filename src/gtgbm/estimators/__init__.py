"""scikit-learn estimators."""

from gtgbm.estimators.classifiers import AGBMClassifier, GBFSClassifier, GTGBMClassifier
from gtgbm.estimators.comparison import TaskComparison, compare_tasks
from gtgbm.estimators.multitask import MultitaskGTGBMClassifier, MultitaskGTGBMRegressor
from gtgbm.estimators.ranker import GTGBMRanker
from gtgbm.estimators.regressors import AGBMRegressor, GBFSRegressor, GTGBMRegressor

__all__ = [
    "AGBMClassifier",
    "AGBMRegressor",
    "GBFSClassifier",
    "GBFSRegressor",
    "GTGBMClassifier",
    "GTGBMRanker",
    "GTGBMRegressor",
    "MultitaskGTGBMClassifier",
    "MultitaskGTGBMRegressor",
    "TaskComparison",
    "compare_tasks",
]
