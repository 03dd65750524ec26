"""Gradient boosted trees that choose few features while they train.

Names are imported when they are first asked for, so that commands which train nothing start at once.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gtgbm import losses, metrics
    from gtgbm.boosting import Callback, HistoryEntry, Progress
    from gtgbm.data import ParquetTable
    from gtgbm.estimators import (
        AGBMClassifier,
        AGBMRegressor,
        GBFSClassifier,
        GBFSRegressor,
        GTGBMClassifier,
        GTGBMRanker,
        GTGBMRegressor,
        MultitaskGTGBMClassifier,
        MultitaskGTGBMRanker,
        MultitaskGTGBMRegressor,
        TaskComparison,
        compare_tasks,
        load_model,
        save_model,
    )
    from gtgbm.explain import selection_path
    from gtgbm.model_file import ModelFileError
    from gtgbm.selection import SelectionPath
    from gtgbm.tree import Tree

__all__ = [
    "AGBMClassifier",
    "AGBMRegressor",
    "Callback",
    "GBFSClassifier",
    "GBFSRegressor",
    "GTGBMClassifier",
    "GTGBMRanker",
    "GTGBMRegressor",
    "HistoryEntry",
    "ModelFileError",
    "MultitaskGTGBMClassifier",
    "MultitaskGTGBMRanker",
    "MultitaskGTGBMRegressor",
    "ParquetTable",
    "Progress",
    "SelectionPath",
    "TaskComparison",
    "Tree",
    "compare_tasks",
    "load_model",
    "losses",
    "metrics",
    "save_model",
    "selection_path",
]

_HOME = {
    "Callback": "boosting",
    "HistoryEntry": "boosting",
    "ModelFileError": "model_file",
    "ParquetTable": "data",
    "Progress": "boosting",
    "SelectionPath": "selection",
    "Tree": "tree",
    "selection_path": "explain",
}
"""Packages that public names come from; all others come from the estimators."""


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("gtgbm")
    if name in ("losses", "metrics"):
        return import_module(f"gtgbm.{name}")
    if name in __all__:
        return getattr(import_module(f"gtgbm.{_HOME.get(name, 'estimators')}"), name)
    raise AttributeError(f"module 'gtgbm' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, "__version__", *globals()})
