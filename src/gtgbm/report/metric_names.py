"""Names of metrics as the field writes them."""

from __future__ import annotations

_LABELS = {
    "auc": "AUC",
    "average_precision": "average precision",
    "log_loss": "log loss",
    "rmse": "RMSE",
    "mae": "MAE",
    "r2": "R²",
    "poisson_deviance": "Poisson deviance",
    "ndcg": "NDCG",
    "mrr": "MRR",
}


def metric_label(name: str) -> str:
    """Return "AUC" for "auc", "NDCG@10" for "ndcg@10"; other names as they are."""
    base, at, places = name.partition("@")
    return _LABELS.get(base, base) + at + places
