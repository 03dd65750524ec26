"""Names of the columns of a fitted model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def feature_names(estimator: Any, names: Sequence[Any] | None = None) -> list[str]:
    """Return the names of all columns: `names`, those of the training table, or x0, x1, ..."""
    n_features = estimator.n_features_in_
    names = getattr(estimator, "feature_names_in_", None) if names is None else names
    if names is None:
        return [f"x{j}" for j in range(n_features)]
    if len(names) != n_features:
        raise ValueError(f"names has {len(names)} entries; the model was fitted on {n_features} columns")
    return [str(name) for name in names]
