"""``gtgbm fit``: a table file in, a model file out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from gtgbm.boosting import Progress
from gtgbm.cli.errors import UserError
from gtgbm.cli.loading import Loaded, Roles, load
from gtgbm.cli.output import print_json, print_selection, selection
from gtgbm.data import EncodedFrame
from gtgbm.estimators import (
    GTGBMClassifier,
    GTGBMRanker,
    GTGBMRegressor,
    MultitaskGTGBMClassifier,
    MultitaskGTGBMRegressor,
    save_model,
    stored_model,
)
from gtgbm.files import check_writable

_METRICS = {"classification": "auc", "regression": "rmse", "ranking": "ndcg"}


@dataclass(frozen=True)
class FitOptions:
    """What ``gtgbm fit`` was asked for."""

    table: Path
    roles: Roles
    out: Path
    kind: str
    parameters: dict[str, Any]
    """Of the estimator; None where its default is wanted."""
    exclude: Sequence[str]
    categorical: Sequence[str]
    valid: str | None
    time_limit: float | None
    as_json: bool


def run_fit(options: FitOptions, console: Console) -> None:
    """Read, train, write the model, say what was selected."""
    check_writable(options.out)
    _check_shortlist(options)
    loaded = load(
        options.table, options.roles, console, exclude=options.exclude, categorical=options.categorical
    )
    if "target" not in loaded.columns:
        raise UserError("--target is missing: name the column to predict")
    train, valid = _parts(loaded, options, console)
    parameters = at_most(options.parameters, loaded.n_columns)
    model = make_model(kind_of_task(options.kind, loaded.columns), loaded.columns, parameters)
    begin = monotonic()
    callbacks = [] if options.time_limit is None else [_stop_after(options.time_limit)]
    fit_model(model, train, valid, callbacks)
    seconds = monotonic() - begin
    about = {"table": str(options.table), **options.roles.named()}
    if loaded.libsvm is not None:
        about["first_column"] = str(loaded.libsvm.first)
    save_model(model, options.out, about=about)
    stored = stored_model(model, about)
    if options.as_json:
        summary = {"model": str(options.out), "rows": train.n_rows, "columns": int(model.n_features_in_)}
        print_json(summary | selection(stored) | {"seconds": seconds})
    else:
        print_selection(stored, Console())
        rows = f"{model.n_features_in_:,} columns, {train.n_rows:,} rows, {seconds:.1f} s"
        console.print(f"{type(model).__name__}, {rows}: {options.out}", markup=False, highlight=False)


def _check_shortlist(options: FitOptions) -> None:
    if options.parameters.get("shortlist") is None:
        return
    if options.parameters["n_features_to_select"] is None:
        raise UserError("--shortlist needs --max-features, which it is a multiple of: give both")
    if options.roles.task is not None:
        raise UserError("--shortlist and --task do not go together: there is no shortlist of several tasks")
    if options.time_limit is not None:
        raise UserError("--shortlist and --time-limit do not go together: only its last fit could be stopped")


def at_most(parameters: dict[str, Any], n_columns: int) -> dict[str, Any]:
    """Lower a limit on features that is higher than the table is wide: it limits nothing."""
    limit = parameters["n_features_to_select"]
    if limit is None or limit < n_columns or parameters.get("categorical") == "category":
        return parameters
    return {**parameters, "n_features_to_select": n_columns}


def make_model(kind: str, columns: dict[str, NDArray[Any]], parameters: dict[str, Any]) -> Any:
    """Return an estimator for a kind of task."""
    given = {name: value for name, value in parameters.items() if value is not None}
    if "task" in columns:
        if kind == "ranking":
            raise UserError("--task and --qid do not go together: there is no ranking of several tasks")
        penalty = given.pop("penalty", None)
        given |= {} if penalty is None else {"group_penalty": penalty}
        cls = MultitaskGTGBMClassifier if kind == "classification" else MultitaskGTGBMRegressor
        return cls(**given)
    given.pop("task_penalty", None)
    several = kind == "classification" and np.unique(columns["target"]).shape[0] > 2
    metric = "accuracy" if several else _METRICS[kind]
    given.setdefault("eval_metric", metric)
    makers = {"classification": GTGBMClassifier, "regression": GTGBMRegressor, "ranking": GTGBMRanker}
    return makers[kind](**given)


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


def fit_model(
    model: Any, train: Loaded, valid: Loaded | None, callbacks: Sequence[Callable[[Progress], object]]
) -> None:
    """Fit an estimator to the columns of a loaded table."""
    given: dict[str, Any] = {"sample_weight": train.columns.get("weight")}
    for role in ("qid", "task"):
        if role in train.columns:
            given[role] = train.columns[role]
    if valid is not None:
        given["eval_set"] = (valid.X, valid.columns["target"])
        for role in ("qid", "task"):
            if role in valid.columns:
                given[f"eval_{role}"] = valid.columns[role]
        if "weight" in valid.columns and "task" not in valid.columns:
            given["eval_sample_weight"] = valid.columns["weight"]
    model.fit(train.X, train.columns["target"], callbacks=callbacks, **given)


def _parts(loaded: Loaded, options: FitOptions, console: Console) -> tuple[Loaded, Loaded | None]:
    """Rows to train on, and rows to follow the metric on."""
    if options.valid is None:
        if options.parameters.get("early_stopping_rounds") is not None:
            raise UserError("--early-stopping needs --valid: give a file, or a fraction such as 0.2")
        return loaded, None
    try:
        fraction = float(options.valid)
    except ValueError:
        schema = loaded.X.schema if isinstance(loaded.X, EncodedFrame) else None
        return loaded, load(Path(options.valid), options.roles, console, schema=schema, libsvm=loaded.libsvm)
    if not 0 < fraction < 1:
        raise UserError(f"--valid {options.valid} is no fraction between 0 and 1, and no file")
    return loaded.split(fraction, seed=int(options.parameters.get("random_state") or 0))


def _stop_after(seconds: float) -> Callable[[Progress], bool]:
    end = monotonic() + seconds
    return lambda _: monotonic() >= end
