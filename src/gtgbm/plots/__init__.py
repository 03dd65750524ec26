"""Plots of fitted models: displays with ``from_estimator`` and ``plot``, like those of scikit-learn.

They need matplotlib (``pip install "gtgbm[plot]"``), which is imported when a plot is drawn.
"""

from gtgbm.plots.correlation import CorrelationDisplay
from gtgbm.plots.importance import ImportanceDisplay
from gtgbm.plots.names import bought_name, category_name, shown
from gtgbm.plots.selection_curve import SelectionCurveDisplay
from gtgbm.plots.selection_path import SelectionFrequencyDisplay, SelectionPathDisplay
from gtgbm.plots.style import COLOURS, QUIET, heat_map, plain_axes, shades
from gtgbm.plots.table import as_numbers, columns_of, table_of
from gtgbm.plots.tasks import TaskCurvesDisplay, TaskMatrixDisplay, task_matrix
from gtgbm.plots.trees import TreeDisplay, to_graphviz

__all__ = [
    "COLOURS",
    "QUIET",
    "CorrelationDisplay",
    "ImportanceDisplay",
    "SelectionCurveDisplay",
    "SelectionFrequencyDisplay",
    "SelectionPathDisplay",
    "TaskCurvesDisplay",
    "TaskMatrixDisplay",
    "TreeDisplay",
    "as_numbers",
    "bought_name",
    "category_name",
    "columns_of",
    "heat_map",
    "plain_axes",
    "shades",
    "shown",
    "table_of",
    "task_matrix",
    "to_graphviz",
]
