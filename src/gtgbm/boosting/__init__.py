"""Boosting: one fit of a model.

Settings, assembling the parts, rounds, row and column sampling, evaluation, callbacks, checkpoints.
"""

from gtgbm.boosting.assembling import (
    Fit,
    Fitted,
    TaskParts,
    assemble,
    chosen_search,
    empty_model,
    train,
)
from gtgbm.boosting.booster import BoosterState
from gtgbm.boosting.callbacks import AnyCallback, Callback, Callbacks, Progress
from gtgbm.boosting.checkpoint import NO_CHECKPOINT, Checkpoint, FitIdentity, StoredCheckpoint
from gtgbm.boosting.checkpoint_store import CheckpointFile, CheckpointMemory, CheckpointStore
from gtgbm.boosting.dataset import Dataset
from gtgbm.boosting.memory import check_memory
from gtgbm.boosting.model import HistoryEntry, Model, are_chosen_first
from gtgbm.boosting.problem import Evaluated, Problem
from gtgbm.boosting.progress import ProgressBar, announce, tracked
from gtgbm.boosting.searches import SEARCHES
from gtgbm.boosting.settings import (
    ColumnSettings,
    Criterion,
    PriceSettings,
    RoundSettings,
    SearchSettings,
    Settings,
    TreeSettings,
)

__all__ = [
    "NO_CHECKPOINT",
    "SEARCHES",
    "AnyCallback",
    "BoosterState",
    "Callback",
    "Callbacks",
    "Checkpoint",
    "CheckpointFile",
    "CheckpointMemory",
    "CheckpointStore",
    "ColumnSettings",
    "Criterion",
    "Dataset",
    "Evaluated",
    "Fit",
    "FitIdentity",
    "Fitted",
    "HistoryEntry",
    "Model",
    "PriceSettings",
    "Problem",
    "Progress",
    "ProgressBar",
    "RoundSettings",
    "SearchSettings",
    "Settings",
    "StoredCheckpoint",
    "TaskParts",
    "TreeSettings",
    "announce",
    "are_chosen_first",
    "assemble",
    "check_memory",
    "chosen_search",
    "empty_model",
    "tracked",
    "train",
]
