"""Feature costs, and the set of features that a model owns.

The set Ω of owned features, prices in units of a tree's gain, and the purchases at the nodes of a level.
"""

from gtgbm.pricing.chance import chance_gain, chance_of_gain
from gtgbm.pricing.feature_costs import FeatureCosts, PenaltyScale
from gtgbm.pricing.purchases import NodePurchase, buy_features

__all__ = ["FeatureCosts", "NodePurchase", "PenaltyScale", "buy_features", "chance_gain", "chance_of_gain"]
