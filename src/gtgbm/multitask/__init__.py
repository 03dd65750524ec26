"""Multitask training: several tasks that share features.

Prices with the shared set Ω_G, the order of tasks in a round, common trees, columns binned only once.
"""

from gtgbm.multitask.task import Task, TaskSharing
from gtgbm.multitask.training import FittedTasks, train_tasks
from gtgbm.multitask.usage import UsedFeature, charge, paid_units, used_features

__all__ = [
    "FittedTasks",
    "Task",
    "TaskSharing",
    "UsedFeature",
    "charge",
    "paid_units",
    "train_tasks",
    "used_features",
]
