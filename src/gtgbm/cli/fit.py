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

from gtgbm.callbacks import Progress
from gtgbm.cli.errors import UserError
from gtgbm.cli.loading import Loaded, Roles, load
from gtgbm.cli.output import print_json, print_selection, selection
from gtgbm.data.frames import EncodedFrame
from gtgbm.estimators import (
    GTGBMClassifier,
    GTGBMRanker,
    GTGBMRegressor,
    MultitaskGTGBMClassifier,
    MultitaskGTGBMRegressor,
)
from gtgbm.model_file.writing import save_model

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
    if not options.out.parent.is_dir():
        raise UserError(f"--out {options.out}: there is no directory {options.out.parent}; make it")
    loaded = load(
        options.table, options.roles, console, exclude=options.exclude, categorical=options.categorical
    )
    if "target" not in loaded.columns:
        raise UserError("--target is missing: name the column to predict")
    train, valid = _parts(loaded, options, console)
    model = make_model(kind_of_task(options.kind, loaded.columns), loaded.columns, options.parameters)
    begin = monotonic()
    callbacks = [] if options.time_limit is None else [_stop_after(options.time_limit)]
    fit_model(model, train, valid, callbacks)
    seconds = monotonic() - begin
    about = {"table": str(options.table), **options.roles.named()}
    save_model(model, options.out, about=about)
    if options.as_json:
        summary = {"model": str(options.out), "rows": train.n_rows, "columns": int(model.n_features_in_)}
        print_json(summary | selection(model) | {"seconds": seconds})
    else:
        print_selection(model, Console())
        console.print(
            f"{model.n_features_in_:,} columns, {train.n_rows:,} rows, {seconds:.1f} s: {options.out}"
        )


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
    if (kind == "ranking") != ("qid" in columns) and kind in ("ranking", "auto"):
        if kind == "ranking":
            raise UserError("--qid is missing: rankings need the column that names the query of each row")
        return "ranking"
    if kind != "auto":
        return kind
    target = columns["target"]
    is_classes = target.dtype.kind in "bUS" or np.unique(target[:100_000]).shape[0] == 2
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
        return loaded, load(Path(options.valid), options.roles, console, schema=schema)
    if not 0 < fraction < 1:
        raise UserError(f"--valid {options.valid} is no fraction between 0 and 1, and no file")
    return loaded.split(fraction, seed=int(options.parameters.get("random_state") or 0))


def _stop_after(seconds: float) -> Callable[[Progress], bool]:
    end = monotonic() + seconds
    return lambda _: monotonic() >= end
