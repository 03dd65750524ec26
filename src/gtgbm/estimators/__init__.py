"""The scikit-learn estimators, single-task and multitask.

They validate parameters, tables and targets, set the fitted attributes, and save, load and compact models.
"""

from gtgbm.estimators.base import BaseGTGBM
from gtgbm.estimators.classifiers import AGBMClassifier, GBFSClassifier, GTGBMClassifier
from gtgbm.estimators.comparison import TaskComparison, compare_tasks
from gtgbm.estimators.cross_validation import cross_validated, selected_of_all
from gtgbm.estimators.held_out import HeldOut, kind_of
from gtgbm.estimators.multitask import MultitaskGTGBMClassifier, MultitaskGTGBMRegressor
from gtgbm.estimators.multitask_ranker import MultitaskGTGBMRanker
from gtgbm.estimators.parts import Part, Parts, is_multitask, parts_of
from gtgbm.estimators.path_rows import PathRows, folds_of
from gtgbm.estimators.ranker import GTGBMRanker
from gtgbm.estimators.regressors import AGBMRegressor, GBFSRegressor, GTGBMRegressor
from gtgbm.estimators.rows import checked_qid, checked_weight, weight_of_queries
from gtgbm.estimators.rows_of_tasks import task_rows
from gtgbm.estimators.saving import load_model, save_model, stored_model
from gtgbm.estimators.sharded import ShardedTable, TablePart, fit_shard
from gtgbm.estimators.tables import read_table
from gtgbm.estimators.targets import numbers
from gtgbm.estimators.threads import pool_for_rows

__all__ = [
    "AGBMClassifier",
    "AGBMRegressor",
    "BaseGTGBM",
    "GBFSClassifier",
    "GBFSRegressor",
    "GTGBMClassifier",
    "GTGBMRanker",
    "GTGBMRegressor",
    "HeldOut",
    "MultitaskGTGBMClassifier",
    "MultitaskGTGBMRanker",
    "MultitaskGTGBMRegressor",
    "Part",
    "Parts",
    "PathRows",
    "ShardedTable",
    "TablePart",
    "TaskComparison",
    "checked_qid",
    "checked_weight",
    "compare_tasks",
    "cross_validated",
    "fit_shard",
    "folds_of",
    "is_multitask",
    "kind_of",
    "load_model",
    "numbers",
    "parts_of",
    "pool_for_rows",
    "read_table",
    "save_model",
    "selected_of_all",
    "stored_model",
    "task_rows",
    "weight_of_queries",
]
