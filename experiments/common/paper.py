"""The paper's numbers, for the tables beside ours."""

from __future__ import annotations

from typing import NamedTuple


class Row(NamedTuple):
    """A line of Table 3: features, RMSE, AUC in per cent."""

    features: int | None
    rmse: float | None
    auc: float


TABLE3: dict[str, dict[str, Row]] = {
    "Gisette": {
        "GBDT-topK": Row(178, 0.187, 97.88),
        "GBFS": Row(172, 0.183, 99.01),
        "A-GBM": Row(178, 0.182, 99.18),
        "GT-GBM": Row(170, 0.182, 99.19),
        "all features": Row(None, None, 99.33),
    },
    "Epsilon": {
        "GBDT-topK": Row(306, 0.377, 91.8),
        "GBFS": Row(306, 0.363, 93.0),
        "A-GBM": Row(250, 0.366, 93.2),
        "GT-GBM": Row(255, 0.373, 93.2),
        "all features": Row(None, None, 92.34),
    },
    "Flight": {
        "GBDT-topK": Row(67, 0.391, 71.1),
        "GBFS": Row(67, 0.389, 71.6),
        "A-GBM": Row(48, 0.389, 71.7),
        "GT-GBM": Row(45, 0.390, 71.6),
        "all features": Row(None, None, 71.74),
    },
}
"""Table 3; all features: the appendix."""

RANKING = {
    "R1": {"MRR": (0.530, 0.531, 0.532), "RMSE": (0.159, 0.158, 0.158)},
    "R2": {"MRR": (0.496, 0.499, 0.498), "RMSE": (0.103, 0.101, 0.101)},
}
"""Table 4, on the authors' own data: GBDT-topK, GBFS, GT-GBM. It prints 0531 for GBFS's MRR on R1."""

CLASSIFICATION = {
    "C1": {"AUC": (0.918, 0.922, 0.920), "precision@2": (0.751, 0.770, 0.773), "RMSE": (0.260, 0.258, 0.258)},
    "C2": {"AUC": (0.910, 0.910, 0.912), "precision@2": (0.874, 0.875, 0.878), "RMSE": (0.219, 0.218, 0.218)},
}
"""The appendix's table of classification, on the authors' own data, in the same order."""
PROPRIETARY_METHODS = ("GBDT-topK", "GBFS", "GT-GBM")

COMPLEXITY = {
    ("A-GBM", "precomputation"): ("(n log n) d", "n d"),
    ("A-GBM", "training"): ("n d", "n d"),
    ("GT-GBM", "precomputation"): ("(n log s) d", "n d log s"),
    ("GT-GBM", "training"): ("s log(s) log(d/s) n log n", "n"),
}
"""Table 2: orders of time and space."""
