"""Chooses the estimator for a table, and sets its parameters from the command line."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gtgbm.cli.errors import UserError
from gtgbm.cli.loading import Loaded
from gtgbm.estimators import (
    GTGBMClassifier,
    GTGBMRanker,
    GTGBMRegressor,
    MultitaskGTGBMClassifier,
    MultitaskGTGBMRanker,
    MultitaskGTGBMRegressor,
)
from gtgbm.parameters import PARAMETERS

DEFAULTS: dict[str, Any] = {"categorical": "column", "random_state": 0, "verbose": 1}
"""Defaults of the command line that differ from the estimators'."""

_MODELS: dict[str, Any] = {
    "classification": GTGBMClassifier,
    "regression": GTGBMRegressor,
    "ranking": GTGBMRanker,
}
_TASK_MODELS: dict[str, Any] = {
    "classification": MultitaskGTGBMClassifier,
    "regression": MultitaskGTGBMRegressor,
    "ranking": MultitaskGTGBMRanker,
}
_METRICS = {"classification": "auc", "regression": "rmse", "ranking": "ndcg"}
_MULTICLASS_METRIC = "accuracy"


@dataclass(frozen=True)
class ModelOptions:
    """The kind of model, and the parameters of its estimator that the user set."""

    kind: str
    parameters: dict[str, Any]

    def make(self, loaded: Loaded) -> Any:
        """Return an estimator for a table."""
        kind = kind_of_task(self.kind, loaded.columns)
        return make_model(kind, loaded, with_possible_limit(loaded, self.parameters))


def kind_of_task(kind: str, columns: dict[str, NDArray[Any]]) -> str:
    """Return the kind of model; "auto" is decided by the target and the query column."""
    if kind == "ranking" and "qid" not in columns:
        raise UserError("--qid is missing: ranking needs the column with the query of each row")
    if "qid" in columns:
        if kind not in ("auto", "ranking"):
            raise UserError(f"--qid is for ranking, but --kind is {kind}: leave one of them out")
        return "ranking"
    if kind != "auto":
        return kind
    target = columns["target"]
    is_classes = target.dtype.kind in "bUS" or np.unique(target).shape[0] == 2
    return "classification" if is_classes else "regression"


def make_model(kind: str, loaded: Loaded, parameters: dict[str, Any]) -> Any:
    """Return an estimator; parameters that it does not have are a user error."""
    has_tasks = "task" in loaded.columns
    cls = (_TASK_MODELS if has_tasks else _MODELS)[kind]
    values = _in_terms_of(loaded, parameters)
    if has_tasks and "penalty" in values:
        if "group_penalty" in values:
            raise UserError("--penalty means --group-penalty for multitask models: give one of them")
        values["group_penalty"] = values.pop("penalty")
    known = inspect.signature(cls).parameters
    for name in values:
        if name not in known:
            what = f"multitask {kind}" if has_tasks else kind
            why = f"{cls.__name__} has no {name}"
            raise UserError(f"{PARAMETERS[name].flag} does not apply to {what}: {why}; leave it out")
    if not has_tasks:
        is_multiclass = kind == "classification" and np.unique(loaded.columns["target"]).shape[0] > 2
        values.setdefault("eval_metric", _MULTICLASS_METRIC if is_multiclass else _METRICS[kind])
    return cls(**(DEFAULTS | values))


def default_of(name: str) -> str:
    """Return the default of a parameter for the help; the estimators may have different defaults."""
    if name == "eval_metric":
        return " or ".join([*_METRICS.values(), _MULTICLASS_METRIC])
    if name in DEFAULTS:
        return str(DEFAULTS[name])
    signatures = [inspect.signature(cls).parameters for cls in (*_MODELS.values(), *_TASK_MODELS.values())]
    values = dict.fromkeys(str(known[name].default) for known in signatures if name in known)
    return " or ".join(values).replace("None", "none")


def with_possible_limit(loaded: Loaded, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters; a limit of more features than columns becomes their number, with a warning."""
    limit = parameters.get("n_features_to_select")
    if not isinstance(limit, int) or limit <= loaded.n_columns or parameters.get("categorical") == "category":
        return parameters
    warnings.warn(
        f"{PARAMETERS['n_features_to_select'].flag} {limit} is more than the {loaded.n_columns} columns of "
        "the table, so that it limits nothing",
        UserWarning,
        stacklevel=2,
    )
    return parameters | {"n_features_to_select": loaded.n_columns}


def _in_terms_of(loaded: Loaded, parameters: dict[str, Any]) -> dict[str, Any]:
    """Replace text by the classes, tasks and columns it names."""
    values = dict(parameters)
    for name, role in (("class_weight", "target"), ("learning_rate", "task"), ("task_penalty", "task")):
        if isinstance(values.get(name), dict) and role in loaded.columns:
            labels = np.unique(loaded.columns[role]).tolist()
            values[name] = {_label(key, labels): value for key, value in values[name].items()}
    if loaded.libsvm is not None:
        if isinstance(values.get("monotone_constraints"), dict):
            values["monotone_constraints"] = {
                _column(key): value for key, value in values["monotone_constraints"].items()
            }
        if values.get("categorical_features"):
            values["categorical_features"] = [_column(name) for name in values["categorical_features"]]
    return values


def _label(text: str, labels: Sequence[Any]) -> Any:
    """Return the label with this text; other text is returned for the estimator to reject."""
    for label in labels:
        if str(label) == text or (isinstance(label, bool) and str(label).lower() == text.lower()):
            return label
    try:
        number = float(text)
    except ValueError:
        return text
    return next((label for label in labels if not isinstance(label, str | bool) and label == number), text)


def _column(text: Any) -> Any:
    return int(text) if isinstance(text, str) and text.isdecimal() else text
