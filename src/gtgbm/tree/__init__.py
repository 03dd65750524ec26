"""The structures of a tree.

Nodes of a level, splits, histograms with sibling subtraction, the builder, the finished tree, the forest.
"""

from gtgbm.tree.builder import Draft, SplitRules
from gtgbm.tree.forest import Forest
from gtgbm.tree.histograms import BestSplits, LevelHistograms, measure_pairs, scan_pairs
from gtgbm.tree.nodes import ALWAYS_DUE, Level, RowOrder, Splits, TreeContext, TreeLimits, node_table
from gtgbm.tree.tree import Tree, importances

__all__ = [
    "ALWAYS_DUE",
    "BestSplits",
    "Draft",
    "Forest",
    "Level",
    "LevelHistograms",
    "RowOrder",
    "SplitRules",
    "Splits",
    "Tree",
    "TreeContext",
    "TreeLimits",
    "importances",
    "measure_pairs",
    "node_table",
    "scan_pairs",
]
