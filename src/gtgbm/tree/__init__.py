"""Data structures of trees.

Nodes of a level, splits, histograms, the builder, the fitted tree; the forest, and what is asked of it.
"""

from gtgbm.tree.builder import TreeBuilder
from gtgbm.tree.context import RowOrder, TreeContext, TreeLimits
from gtgbm.tree.contributions import ForestContributions
from gtgbm.tree.forest import Forest
from gtgbm.tree.histograms import LevelHistograms
from gtgbm.tree.nodes import (
    ALWAYS_DUE,
    Level,
    from_left_to_right,
    node_table,
    with_squares,
    without_parents,
)
from gtgbm.tree.pair_histograms import PairColumns, PairRows, measure_pairs, sampled_gains
from gtgbm.tree.permuted_scores import PermutedScores
from gtgbm.tree.splits import SAME_PRICES, BestSplits, ScanPrices, SplitRules, Splits
from gtgbm.tree.tree import Tree, importances, leaf_tree

__all__ = [
    "ALWAYS_DUE",
    "SAME_PRICES",
    "BestSplits",
    "Forest",
    "ForestContributions",
    "Level",
    "LevelHistograms",
    "PairColumns",
    "PairRows",
    "PermutedScores",
    "RowOrder",
    "ScanPrices",
    "SplitRules",
    "Splits",
    "Tree",
    "TreeBuilder",
    "TreeContext",
    "TreeLimits",
    "from_left_to_right",
    "importances",
    "leaf_tree",
    "measure_pairs",
    "node_table",
    "sampled_gains",
    "with_squares",
    "without_parents",
]
