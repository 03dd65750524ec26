"""``gtgbm report``: writes the HTML report of a model on the rows of a table file."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from gtgbm.cli.columns import check_named
from gtgbm.cli.errors import UserError
from gtgbm.cli.files import open_table
from gtgbm.cli.loading import LibsvmColumns, Roles, is_libsvm, load, values_of
from gtgbm.cli.prediction_file import check_out
from gtgbm.cli.table_file import Wanted
from gtgbm.cli.text_format import TextFormat
from gtgbm.estimators import load_model

_MOST_ROWS = 20_000
"""Expected number of rows that are drawn at random from larger tables."""


def run_report(
    path: Path,
    table: Path | None,
    roles: Roles,
    out: Path,
    title: str | None,
    text_format: TextFormat,
    console: Console,
) -> None:
    """Write the report of a model on the rows of a table."""
    for package in ("jinja2", "matplotlib"):
        import_module(package)  # to find out now what is not installed, not after minutes of work
    from gtgbm.report import write_report

    check_out(out)
    model = load_model(path)
    about = model._about
    table = Path(about["table"]) if table is None and "table" in about else table
    if table is None:
        raise UserError(f"{path} does not name its training table: give a table file")
    stored = Roles(**{role: about.get(role) for role in ("target", "weight", "qid", "task")})
    roles = Roles(
        *(option or old for option, old in zip(vars(roles).values(), vars(stored).values(), strict=True))
    )
    if roles.target is None and not is_libsvm(table):
        raise UserError(f"--target is missing: {path} does not say which column to predict")
    X, columns = _sample(model, table, roles, text_format.or_as_in(about), console)
    given = {role: columns[role] for role in ("qid", "task") if role in columns}
    written = write_report(model, X, columns["target"], out, title=title, **given)
    console.print(f"{written} ({written.stat().st_size / 1e6:.1f} MB)", markup=False, highlight=False)


def _sample(
    model: Any, path: Path, roles: Roles, text_format: TextFormat, console: Console
) -> tuple[Any, dict[str, Any]]:
    """Read a table, and keep some of its rows; of a libsvm file all."""
    if is_libsvm(path):
        loaded = load(path, Roles(target=roles.target), console, libsvm=LibsvmColumns.of(model))
        return loaded.X, loaded.columns
    import pyarrow as pa

    file = open_table(path, text_format)
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        raise UserError(f"the model was trained without column names: {path} must be a libsvm file")
    named = {role: name for role, name in roles.named().items() if role != "weight"}
    of_roles = {f"--{role}": [name] for role, name in named.items()}
    check_named(path, file.names, {"the training table": list(names)} | of_roles)
    wanted = Wanted.like(model._schema, list(names), list(named.values()))
    # Each row is kept with the same chance, before the number of rows is known exactly.
    share = min(1.0, _MOST_ROWS / file.most_rows(lambda _: None))
    rng = np.random.default_rng(0)
    kept: list[Any] = []
    for batch in file.batches(wanted, lambda _: None):
        if batch is None:
            kept, rng = [], np.random.default_rng(0)
        else:
            kept.append(batch.filter(pa.array(rng.random(batch.num_rows) < share)))
    rows = pa.concat_tables(kept) if kept else None
    if rows is None or rows.num_rows == 0:
        raise UserError(f"{path} has no rows")
    columns = {role: values_of(path, name, rows.column(name)) for role, name in named.items()}
    return rows.select(list(names)), columns
