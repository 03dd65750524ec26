"""The classes of this package that files of skops contain, and MLflow, which writes such files."""

from __future__ import annotations

from gtgbm.losses import NAMED_LOSSES
from gtgbm.model_file import ESTIMATORS

_HOMES = {"Classifier": "classifiers", "Regressor": "regressors", "Ranker": "ranker"}


def _home(name: str) -> str:
    """Return the module of an estimator."""
    if name.startswith("Multitask"):
        return "multitask_ranker" if name.endswith("Ranker") else "multitask"
    return next(module for ending, module in _HOMES.items() if name.endswith(ending))


TRUSTED_TYPES: list[str] = [
    *(f"gtgbm.estimators.{_home(name)}.{name}" for name in sorted(ESTIMATORS)),
    "gtgbm.boosting.model.HistoryEntry",
    "gtgbm.boosting.model.Model",
    "gtgbm.data.frames.FrameColumn",
    "gtgbm.data.frames.FrameSchema",
    "gtgbm.estimators.compact.CompactClassifier",
    "gtgbm.estimators.compact.CompactRegressor",
    "gtgbm.estimators.compact_tasks.CompactTasksClassifier",
    "gtgbm.estimators.compact_tasks.CompactTasksRegressor",
    "gtgbm.estimators.compact_tasks.TaskForests",
    "gtgbm.losses.base.NewtonLeaf",
    "gtgbm.losses.base.QuantileLeaf",
    "gtgbm.losses.classic.LogLoss",
    "gtgbm.losses.classic.MultinomialLoss",
    "gtgbm.losses.classic.SquaredError",
    "gtgbm.losses.pointwise.Pointwise",
    *(f"{loss.__module__}.{loss.__name__}" for loss in NAMED_LOSSES),
    "gtgbm.losses.ranking.RankingLoss",
    "gtgbm.pricing.feature_costs.SpendingLimits",
    "gtgbm.search.choice.SearchChoice",
    "gtgbm.tree.forest.Forest",
    "gtgbm.tree.forest.PackedTrees",
    "gtgbm.tree.tree.Tree",
]
"""Names for ``trusted`` of ``skops.io.load`` and ``skops_trusted_types`` of MLflow.

None of these classes runs code of a file.
"""
