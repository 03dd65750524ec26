"""``gtgbm report``: writes the HTML report of a model on the rows of a table file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from gtgbm.cli.errors import UserError
from gtgbm.cli.files import Wanted, open_table
from gtgbm.cli.loading import LibsvmColumns, Roles, is_libsvm, load, values_of
from gtgbm.data import lacking, listed
from gtgbm.estimators import load_model
from gtgbm.files import check_writable

_MOST_ROWS = 20_000
"""Expected number of rows that are drawn at random from larger tables."""


def run_report(
    path: Path, table: Path | None, roles: Roles, out: Path, title: str | None, console: Console
) -> None:
    """Write the report of a model on the rows of a table."""
    try:
        from gtgbm.report import write_report
    except ImportError as error:
        raise UserError("reports need matplotlib and jinja2: pip install 'gtgbm[report]'") from error
    check_writable(out)
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
        raise UserError(f"--target is missing: {path} does not name its target column")
    X, columns = _sample(model, table, roles, console)
    arguments = {role: columns[role] for role in ("qid", "task") if role in columns}
    written = write_report(model, X, columns["target"], out, title=title, **arguments)
    console.print(f"{written} ({written.stat().st_size / 1e6:.1f} MB)", markup=False, highlight=False)


def _sample(model: Any, path: Path, roles: Roles, console: Console) -> tuple[Any, dict[str, Any]]:
    """Read a random sample of the rows of a table, or all rows of a libsvm file."""
    if is_libsvm(path):
        loaded = load(path, Roles(target=roles.target), console, libsvm=LibsvmColumns.of(model))
        return loaded.X, loaded.columns
    import pyarrow as pa

    file = open_table(path)
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        raise UserError(f"the model was trained without column names: {path} must be a libsvm file")
    named = {role: name for role, name in roles.named().items() if role != "weight"}
    missing = lacking([*names, *named.values()], file.names)
    if missing:
        raise UserError(f"{path} has no columns {listed(missing)}, which the report needs")
    wanted = Wanted([*names, *named.values()], model._schema.text_names, list(named.values()))
    # Each row is drawn with the same probability, since the exact number of rows is not known yet.
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
