"""What a feature costs and who owns it.

The set Ω of owned features, prices in units of a tree's gain, and the purchases of a level's nodes.
"""

from gtgbm.pricing.feature_costs import FeatureCosts, PenaltyScale
from gtgbm.pricing.purchases import NodePurchase, buy_features

__all__ = ["FeatureCosts", "NodePurchase", "PenaltyScale", "buy_features"]
