"""One fit.

Settings, assembling the parts, rounds of boosting, row and column sampling, evaluation, callbacks.
"""

from gtgbm.boosting.callbacks import AnyCallback, Callback, Callbacks, Progress
from gtgbm.boosting.evaluation import Validation
from gtgbm.boosting.progress import ProgressBar
from gtgbm.boosting.rounds import Criterion, HistoryEntry, Model
from gtgbm.boosting.training import Evaluated, Fit, Fitted, SearchName, Settings, TaskParts, prepare, train

__all__ = [
    "AnyCallback",
    "Callback",
    "Callbacks",
    "Criterion",
    "Evaluated",
    "Fit",
    "Fitted",
    "HistoryEntry",
    "Model",
    "Progress",
    "ProgressBar",
    "SearchName",
    "Settings",
    "TaskParts",
    "Validation",
    "prepare",
    "train",
]
