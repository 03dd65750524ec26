"""Feature costs, and the set of features that a model owns.

The set Ω of owned features, units of purchase, prices in units of a tree's gain, and purchases at nodes.
"""

from gtgbm.pricing.chance import chance_gain, chance_of_gain
from gtgbm.pricing.feature_costs import FeatureCosts, PenaltyScale, SpendingLimits, priced
from gtgbm.pricing.purchases import NodePurchase, buy_features
from gtgbm.pricing.units import PLAIN, FeatureUnits, Units, highest_cost

__all__ = [
    "PLAIN",
    "FeatureCosts",
    "FeatureUnits",
    "NodePurchase",
    "PenaltyScale",
    "SpendingLimits",
    "Units",
    "buy_features",
    "chance_gain",
    "chance_of_gain",
    "highest_cost",
    "priced",
]
