"""Which estimator suits a table, and its parameters from what the command line says."""

from __future__ import annotations

import inspect
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
}
_METRICS = {"classification": "auc", "regression": "rmse", "ranking": "ndcg"}
_METRIC_OF_MANY = "accuracy"
"""Of more than two classes."""


@dataclass(frozen=True)
class ModelOptions:
    """What kind of model is wanted, and the parameters of its estimator that are not left alone."""

    kind: str
    parameters: dict[str, Any]

    def make(self, loaded: Loaded) -> Any:
        """Return an estimator for a table."""
        kind = kind_of_task(self.kind, loaded.columns)
        return make_model(kind, loaded, self.parameters)


def kind_of_task(kind: str, columns: dict[str, NDArray[Any]]) -> str:
    """Tell what kind of model a target asks for."""
    if kind == "ranking" and "qid" not in columns:
        raise UserError("--qid is missing: rankings need the column that names the query of each row")
    if "qid" in columns:
        if kind not in ("auto", "ranking"):
            raise UserError(f"--qid is for rankings, --kind is {kind}: leave one of them out")
        return "ranking"
    if kind != "auto":
        return kind
    target = columns["target"]
    is_classes = target.dtype.kind in "bUS" or np.unique(target).shape[0] == 2
    return "classification" if is_classes else "regression"


def make_model(kind: str, loaded: Loaded, parameters: dict[str, Any]) -> Any:
    """Return an estimator for a kind of task; parameters that it does not have are a user error."""
    has_tasks = "task" in loaded.columns
    if has_tasks and kind == "ranking":
        raise UserError("--task and --qid do not go together: there is no ranking of several tasks")
    cls = (_TASK_MODELS if has_tasks else _MODELS)[kind]
    given = _in_terms_of(loaded, parameters)
    if has_tasks and "penalty" in given:
        if "group_penalty" in given:
            raise UserError("--penalty and --group-penalty are the same for several tasks: give one of them")
        given["group_penalty"] = given.pop("penalty")
    known = inspect.signature(cls).parameters
    for name in given:
        if name not in known:
            what = f"{kind} of several tasks" if has_tasks else kind
            why = f"{cls.__name__} has no {name}"
            raise UserError(f"{PARAMETERS[name].flag} does not apply to {what}: {why}; leave it out")
    if not has_tasks:
        several = kind == "classification" and np.unique(loaded.columns["target"]).shape[0] > 2
        given.setdefault("eval_metric", _METRIC_OF_MANY if several else _METRICS[kind])
    return cls(**(DEFAULTS | given))


def default_of(name: str) -> str:
    """Return the default of a parameter as help shows it; models of several kinds may differ."""
    if name == "eval_metric":
        return " or ".join([*_METRICS.values(), _METRIC_OF_MANY])
    if name in DEFAULTS:
        return str(DEFAULTS[name])
    signatures = [inspect.signature(cls).parameters for cls in (*_MODELS.values(), *_TASK_MODELS.values())]
    values = dict.fromkeys(str(known[name].default) for known in signatures if name in known)
    return " or ".join(values).replace("None", "none")


def _in_terms_of(loaded: Loaded, parameters: dict[str, Any]) -> dict[str, Any]:
    """Replace text by the classes, tasks and columns that it names, and lower a limit that limits nothing."""
    found = dict(parameters)
    for name, role in (("class_weight", "target"), ("learning_rate", "task"), ("task_penalty", "task")):
        if isinstance(found.get(name), dict) and role in loaded.columns:
            labels = np.unique(loaded.columns[role]).tolist()
            found[name] = {_label(key, labels): value for key, value in found[name].items()}
    if loaded.libsvm is not None:
        if isinstance(found.get("monotone_constraints"), dict):
            found["monotone_constraints"] = {
                _column(key): value for key, value in found["monotone_constraints"].items()
            }
        if found.get("categorical_features"):
            found["categorical_features"] = [_column(one) for one in found["categorical_features"]]
    limit = found.get("n_features_to_select")
    if limit is not None and limit > loaded.n_columns and found.get("categorical") != "category":
        found["n_features_to_select"] = loaded.n_columns
    return found


def _label(text: str, labels: Sequence[Any]) -> Any:
    """Return the label that is written so; other text stays, for the estimator to refuse."""
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
