"""``gtgbm fit``: fits a model to a table file and writes a model file."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic
from typing import Any

from rich.console import Console

from gtgbm.boosting import Progress
from gtgbm.cli.errors import UserError
from gtgbm.cli.files import is_parquet
from gtgbm.cli.large_files import open_on_disk, stays_on_disk
from gtgbm.cli.loading import Loaded, Roles, is_libsvm, load
from gtgbm.cli.models import ModelOptions
from gtgbm.cli.output import print_json, print_selection, selection
from gtgbm.cli.prediction_file import check_out
from gtgbm.cli.splitting import Split
from gtgbm.cli.text_format import TextFormat
from gtgbm.data import EncodedFrame, ParquetTable
from gtgbm.estimators import save_model, stored_model


@dataclass(frozen=True)
class Source:
    """A table file, and the columns of it that are not features."""

    table: Path
    roles: Roles
    exclude: Sequence[str]
    text_format: TextFormat
    id_columns: Sequence[str] = ()
    is_piped: bool = False

    def load(self, kind: str, parameters: dict[str, Any], console: Console) -> Loaded:
        """Read the table; columns that a parameter says hold categories are read as text.

        A large Parquet table is not read: training reads what it needs.
        """
        if not self.is_piped and stays_on_disk(self.table, self.roles, parameters):
            return open_on_disk(self.table, self.roles, self.exclude, self.id_columns, console)
        # Those of libsvm's format have no names; the estimator knows them by number.
        named = None if is_libsvm(self.table) else parameters.get("categorical_features")
        return load(
            self.table,
            self.roles,
            console,
            exclude=self.exclude,
            id_columns=self.id_columns,
            categorical=named or [],
            text_format=self.text_format,
            has_classes=kind == "classification",
        )


@dataclass(frozen=True)
class Running:
    """How training is followed, stopped, and continued after an interruption."""

    valid: str | None = None
    time_limit: float | None = None
    checkpoint: Path | None = None


@dataclass(frozen=True)
class FitOptions:
    """Options of ``gtgbm fit``."""

    source: Source
    model: ModelOptions
    out: Path
    running: Running
    as_json: bool


def run_fit(options: FitOptions, console: Console) -> None:
    """Read, train, write the model, say what was selected."""
    check_out(options.out)
    options = _stoppable(options, console)
    source = options.source
    loaded = source.load(options.model.kind, options.model.parameters, console)
    if "target" not in loaded.columns:
        raise UserError("--target is missing: name the target column")
    model = options.model.make(loaded)
    n_rows = loaded.n_rows
    train, valid = _parts(loaded, options, console)
    begin = monotonic()
    callbacks = [] if options.running.time_limit is None else [_stop_after(options.running.time_limit)]
    fit_model(model, train, valid, callbacks, options.running.checkpoint)
    seconds = monotonic() - begin
    about = {} if source.is_piped else {"table": str(source.table)}
    about |= source.roles.named() | source.text_format.as_about()
    if source.id_columns:
        about["id_columns"] = json.dumps(list(source.id_columns))
    if options.running.valid is not None:
        about |= Split(options.running.valid, _seed(options), n_rows).about()
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


def _stoppable(options: FitOptions, console: Console) -> FitOptions:
    """Return the options; with a time limit, features are selected by a single fit, which can be stopped."""
    parameters = options.model.parameters
    limits = [parameters.get(name) for name in ("n_features_to_select", "n_features_per_task", "cost_budget")]
    if options.running.time_limit is None or limits == [None] * len(limits):
        return options
    selection = parameters.get("selection", "auto")
    if parameters.get("n_features_to_select") == "auto":
        raise UserError(
            "--n-features-to-select auto and --time-limit exclude each other: only the last of its fits can "
            "be stopped; leave one of them out, or give a number"
        )
    if selection == "forward-backward":
        raise UserError(
            "--selection forward-backward and --time-limit exclude each other: only the last of its fits "
            "can be stopped; leave one of them out, or give --selection forward"
        )
    if selection == "auto":
        console.print("--time-limit: --selection forward, a single fit, which can be stopped")
    model = replace(options.model, parameters=parameters | {"selection": "forward"})
    return replace(options, model=model)


def fit_model(
    model: Any,
    train: Loaded,
    valid: Loaded | None,
    callbacks: Sequence[Callable[[Progress], object]],
    checkpoint: Path | None = None,
) -> None:
    """Fit an estimator to a loaded table."""
    arguments: dict[str, Any] = {"sample_weight": train.columns.get("weight")}
    for role in ("qid", "task"):
        if role in train.columns:
            arguments[role] = train.columns[role]
    if valid is not None:
        arguments["eval_set"] = (valid.X, valid.columns["target"])
        for role in ("qid", "task"):
            if role in valid.columns:
                arguments[f"eval_{role}"] = valid.columns[role]
        if "weight" in valid.columns:
            arguments["eval_sample_weight"] = valid.columns["weight"]
    model.fit(train.X, train.columns["target"], callbacks=callbacks, checkpoint=checkpoint, **arguments)


def _parts(loaded: Loaded, options: FitOptions, console: Console) -> tuple[Loaded, Loaded | None]:
    """Return training rows and validation rows."""
    parameters = options.model.parameters
    if options.running.valid is None:
        stops_early = parameters.get("early_stopping_rounds") is not None
        if stops_early and "validation_fraction" not in parameters:
            raise UserError(
                "--early-stopping needs --valid, a file or a fraction such as 0.2, or --validation-fraction"
            )
        return loaded, None
    try:
        fraction = float(options.running.valid)
    except ValueError:
        schema = loaded.X.schema if isinstance(loaded.X, EncodedFrame) else None
        source = options.source
        if isinstance(loaded.X, ParquetTable):
            path = Path(options.running.valid)
            if not is_parquet(path):
                raise UserError(
                    f"--valid {path} is not Parquet: the table is read from disk, so it must be"
                ) from None
            return loaded, open_on_disk(path, source.roles, source.exclude, source.id_columns, console)
        return loaded, load(
            Path(options.running.valid),
            source.roles,
            console,
            schema=schema,
            libsvm=loaded.libsvm,
            text_format=source.text_format,
            has_classes=options.model.kind == "classification",
        )
    if not 0 < fraction < 1:
        raise UserError(f"--valid {options.running.valid} is neither a fraction between 0 and 1 nor a file")
    return loaded.split(fraction, seed=_seed(options))


def _seed(options: FitOptions) -> int:
    """Return the seed of the rows that ``--valid`` holds out."""
    return int(options.model.parameters.get("random_state") or 0)


def _stop_after(seconds: float) -> Callable[[Progress], bool]:
    end = monotonic() + seconds
    return lambda _: monotonic() >= end
