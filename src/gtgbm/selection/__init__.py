"""Selection strategies that run several fits.

They decide which features the last fit owns: forward-backward selection for one task and for several.
"""

from gtgbm.selection.path import SelectionPath, stability_of
from gtgbm.selection.training import train_path, train_selecting
from gtgbm.selection.training_tasks import train_tasks_path, train_tasks_selecting

__all__ = [
    "SelectionPath",
    "stability_of",
    "train_path",
    "train_selecting",
    "train_tasks_path",
    "train_tasks_selecting",
]
