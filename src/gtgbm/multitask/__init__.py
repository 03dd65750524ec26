"""Several tasks that share features.

Prices under the shared set Ω_G, turns of tasks, common trees, and columns binned once for all tasks.
"""

from gtgbm.multitask.task import Task, TaskSharing
from gtgbm.multitask.training import FittedTasks, train_tasks

__all__ = [
    "FittedTasks",
    "Task",
    "TaskSharing",
    "train_tasks",
]
