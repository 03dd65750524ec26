"""Losses that models minimise, and that users can pass as ``loss``.

Gradients and curvatures, the best constant to start from, rules for leaf values, queries for ranking.
"""

from gtgbm.losses.base import Derivatives, LeafRule, Link, Loss, QuantileLeaf, Targets
from gtgbm.losses.checking import check_loss
from gtgbm.losses.classic import LogLoss, MultinomialLoss, SquaredError
from gtgbm.losses.named import NAMED_LOSSES
from gtgbm.losses.offset import WithOffset
from gtgbm.losses.pointwise import (
    AbsoluteError,
    Huber,
    LossFunction,
    Pointwise,
    Poisson,
    Quantile,
    Tweedie,
)
from gtgbm.losses.queries import Queries
from gtgbm.losses.ranking import RankingLoss, dcg, dcg_gains, ideal_dcg, mean_of_ties, sum_of_queries
from gtgbm.losses.task_classes import of_all_tasks

__all__ = [
    "NAMED_LOSSES",
    "AbsoluteError",
    "Derivatives",
    "Huber",
    "LeafRule",
    "Link",
    "LogLoss",
    "Loss",
    "LossFunction",
    "MultinomialLoss",
    "Pointwise",
    "Poisson",
    "Quantile",
    "QuantileLeaf",
    "Queries",
    "RankingLoss",
    "SquaredError",
    "Targets",
    "Tweedie",
    "WithOffset",
    "check_loss",
    "dcg",
    "dcg_gains",
    "ideal_dcg",
    "mean_of_ties",
    "of_all_tasks",
    "sum_of_queries",
]
