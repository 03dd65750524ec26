"""The paper's methods: their names, and our estimators for them."""

from __future__ import annotations

from typing import Any

from measuring.peers.gtgbm_models import Target, estimator

TOPK, GBFS, AGBM = "GBDT-topK", "GBFS", "A-GBM"
GT_PAPER, GT_OURS = "GT-GBM, the paper's test", "GT-GBM, our defaults"
ALL_FEATURES = "all features (LightGBM)"
CEGB, CATBOOST = "LightGBM CEGB", "CatBoost select_features"
N_RELEVANT, DELTA = 3, 0.1
"""s and δ of the paper's test: those of its Figure 1, since it does not tell what Table 3 was made with."""


def paper_estimator(method: str, target: Target, **parameters: Any) -> Any:
    """Return GBFS, A-GBM or GT-GBM, not fitted; as in the paper squared error from 0, except our defaults."""
    if method == GT_OURS:
        return estimator("auto", target, **parameters)
    given = {"loss": "squared_error", "init": "zero"} | parameters
    if method == GT_PAPER:
        given = {"n_relevant": N_RELEVANT, "failure_probability": DELTA} | given
    return estimator({GBFS: "gbfs", AGBM: "exhaustive", GT_PAPER: "paper"}[method], target, **given)
