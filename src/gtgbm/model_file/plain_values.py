"""Converts parameters of estimators to JSON values and back."""

from __future__ import annotations

import dataclasses
import numbers
from typing import Any

import numpy as np

from gtgbm.losses import NAMED_LOSSES, LossFunction
from gtgbm.model_file.layout import ModelFileError

_TRAINING_ONLY = ("random_state", "eval_metric")
"""Parameters that matter only in training: objects that cannot be written become None."""
_LOSSES: dict[str, type[LossFunction]] = {loss.__name__: loss for loss in NAMED_LOSSES}


_INFINITE = ("feature_costs",)
"""Parameters that may hold infinite numbers, which JSON has no words for."""


def as_plain(name: str, value: Any) -> Any:
    """Return a parameter as a JSON value: dicts as lists of pairs, losses by name."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, np.generic):
        return as_plain(name, value.item())
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, float) and np.isfinite(value):
        return value
    if isinstance(value, float) and name in _INFINITE:
        return {"number": str(value)}
    if isinstance(value, list | tuple | np.ndarray):
        plain = [as_plain(name, item) for item in value]
        return [item for item in plain if item is not None] if name in _TRAINING_ONLY else plain
    if hasattr(value, "to_dict") and hasattr(value, "index"):
        return as_plain(name, value.to_dict())  # a series of pandas
    if isinstance(value, dict):
        return {"pairs": [[as_plain(name, key), as_plain(name, item)] for key, item in value.items()]}
    if type(value) in _LOSSES.values():
        return {"loss": type(value).__name__, "settings": dataclasses.asdict(value)}
    if name in _TRAINING_ONLY:
        return None
    raise ValueError(
        f"{name}={value!r} cannot be written to a model file, which holds plain values and gtgbm's own "
        "losses: pickle the model instead"
    )


def from_plain(name: str, value: Any) -> Any:
    """Undo `as_plain`."""
    if isinstance(value, list):
        return [from_plain(name, item) for item in value]
    if not isinstance(value, dict):
        return value
    if set(value) == {"pairs"} and isinstance(value["pairs"], list):
        if not all(isinstance(pair, list) and len(pair) == 2 and _is_key(pair[0]) for pair in value["pairs"]):
            raise ModelFileError(f"parameters.{name} does not hold pairs")
        return {key: from_plain(name, item) for key, item in value["pairs"]}
    if value == {"number": "inf"} and name in _INFINITE:
        return float("inf")
    if set(value) == {"loss", "settings"} and isinstance(value["loss"], str) and value["loss"] in _LOSSES:
        try:
            return _LOSSES[value["loss"]](**value["settings"])
        except (TypeError, ValueError) as error:
            raise ModelFileError(f"parameters.{name}: {error}") from error
    raise ModelFileError(f"parameters.{name} is not a plain value, a list of pairs or a loss of gtgbm")


def _is_key(value: Any) -> bool:
    return isinstance(value, bool | int | float | str)
