"""Pictures of fitted models, in scikit-learn's manner: classes made by ``from_estimator`` that ``plot``.

They need matplotlib (``pip install "gtgbm[plot]"``), which is imported when something is drawn.
"""

from gtgbm.plots.correlation import CorrelationDisplay
from gtgbm.plots.importance import ImportanceDisplay
from gtgbm.plots.selection_path import SelectionPathDisplay
from gtgbm.plots.tasks import TaskCurvesDisplay, TaskMatrixDisplay
from gtgbm.plots.trees import TreeDisplay, to_graphviz

__all__ = [
    "CorrelationDisplay",
    "ImportanceDisplay",
    "SelectionPathDisplay",
    "TaskCurvesDisplay",
    "TaskMatrixDisplay",
    "TreeDisplay",
    "to_graphviz",
]
