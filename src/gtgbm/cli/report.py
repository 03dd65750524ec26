"""``gtgbm report``: writes the HTML report of a model on the rows of a table file."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console

from gtgbm.cli.columns import check_named
from gtgbm.cli.errors import UserError
from gtgbm.cli.files import open_table
from gtgbm.cli.loading import LibsvmColumns, Roles, is_libsvm, load, values_of
from gtgbm.cli.prediction_file import check_out
from gtgbm.cli.splitting import Split, held_out
from gtgbm.cli.table_file import TableFile, Wanted
from gtgbm.cli.text_format import TextFormat
from gtgbm.estimators import load_model
from gtgbm.exact import Bool

if TYPE_CHECKING:
    from gtgbm.report import RowSource

_MOST_ROWS = 50_000
"""Maximum number of rows of a report; from larger tables they are drawn at random."""
_MOST_CELLS = 50_000_000
_FEWEST_ROWS = 10_000
"""Wide tables are limited to this many values, but at least this many rows."""


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
    from gtgbm.report import held_out_part, write_report

    check_out(out)
    model = load_model(path)
    about = model._about
    split = Split.of(about)
    if table is None and split is not None and split.file is not None:
        table = split.file
    table = Path(about["table"]) if table is None and "table" in about else table
    if table is None:
        raise UserError(f"{path} does not name its training table: give a table file")
    stored = Roles(**{role: about.get(role) for role in ("target", "weight", "qid", "task")})
    roles = Roles(
        *(option or old for option, old in zip(vars(roles).values(), vars(stored).values(), strict=True))
    )
    if roles.target is None and not is_libsvm(table):
        raise UserError(f"--target is missing: {path} does not say which column to predict")
    X, columns, source = _rows(model, table, roles, text_format.or_as_in(about), console)
    qid, task = columns.get("qid"), columns.get("task")
    X, y, qid, task, source = held_out_part(model, X, columns["target"], qid, task, source)
    written = write_report(
        model, X, y, out, title=title, source=source, max_rows=_MOST_ROWS, qid=qid, task=task
    )
    if source.use == "training":
        console.print(
            "warning: the report is of rows that the model was trained on, so its metrics are too "
            "optimistic: fit with --valid 0.2, or name a file of held-out rows after the model",
            markup=False,
            highlight=False,
        )
    console.print(f"{written} ({written.stat().st_size / 1e6:.1f} MB)", markup=False, highlight=False)


def _rows(
    model: Any, path: Path, roles: Roles, text_format: TextFormat, console: Console
) -> tuple[Any, dict[str, Any], RowSource]:
    """Read the rows of a table that were held out, or all if none were; of very many, a sample."""
    if is_libsvm(path):
        loaded = load(path, Roles(target=roles.target), console, libsvm=LibsvmColumns.of(model))
        kept, source = _kept(model, path, loaded.n_rows, loaded.columns.get("qid"))
        return loaded.X[kept], {role: values[kept] for role, values in loaded.columns.items()}, source
    import pyarrow as pa

    file = open_table(path, text_format)
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        raise UserError(f"the model was trained without column names: {path} must be a libsvm file")
    named = {role: name for role, name in roles.named().items() if role != "weight"}
    of_roles = {f"--{role}": [name] for role, name in named.items()}
    check_named(path, file.names, {"the training table": list(names)} | of_roles)
    # Counted first, so that only the rows of the report are kept in memory.
    first = roles.qid or named["target"]
    counted = pa.concat_tables(_batches(file, Wanted([first], exact=[first], mixed=[first])))
    qid = values_of(path, first, counted.column(first)) if roles.qid else None
    kept, source = _kept(model, path, counted.num_rows, qid)
    wanted = Wanted.like(model._schema, list(names), list(named.values()))
    rows = pa.concat_tables(_batches(file, wanted, kept))
    columns = {role: values_of(path, name, rows.column(name)) for role, name in named.items()}
    return rows.select(list(names)), columns, source


def _batches(file: TableFile, wanted: Wanted, kept: Bool | None = None) -> list[Any]:
    """Read columns of a file, of all rows or of those kept."""
    import pyarrow as pa

    found: list[Any] = []
    begin = 0
    for batch in file.batches(wanted, lambda _: None):
        if batch is None:
            found, begin = [], 0
            continue
        end = begin + batch.num_rows
        found.append(batch if kept is None else batch.filter(pa.array(kept[begin:end])))
        begin = end
    if not begin:
        raise UserError("the table has no rows")
    return found


def _kept(model: Any, path: Path, n_rows: int, qid: Any) -> tuple[Bool, RowSource]:
    """Choose rows of a table with so many, and say what they are."""
    from gtgbm.explain import drawn_rows
    from gtgbm.report import RowSource

    is_candidate, source = np.ones(n_rows, dtype=np.bool_), RowSource(path.name)
    split, trained_on = Split.of(model._about), model._about.get("table")
    if split is not None and split.file is not None and _is_same(path, split.file):
        source = RowSource(path.name, "held-out", f"All rows of {path.name}, the file given as --valid.")
    elif trained_on is not None and _is_same(path, Path(trained_on)):
        is_candidate, source = _held_out_part(path, split, n_rows, qid)
    elif trained_on is not None:
        source = RowSource(path.name, note=f"All rows; the model was trained on {Path(trained_on).name}.")
    if source.use == "held-out" and model.early_stopping_rounds is not None:
        source = replace(source, note=f"{source.note} Early stopping chose the number of rounds on them.")
    rows = np.flatnonzero(is_candidate)
    source = replace(source, n_rows=rows.shape[0])
    most_rows = min(_MOST_ROWS, max(_FEWEST_ROWS, _MOST_CELLS // model.n_features_in_))
    if rows.shape[0] > most_rows:
        ids = rows if qid is None else qid[rows]
        rows = rows[drawn_rows(ids, most_rows, np.random.default_rng(0))]
    kept = np.zeros(n_rows, dtype=np.bool_)
    kept[rows] = True
    return kept, source


def _held_out_part(path: Path, split: Split | None, n_rows: int, qid: Any) -> tuple[Bool, RowSource]:
    """Draw again, from the training table, the rows that were held out."""
    from gtgbm.report import RowSource

    fraction = None if split is None else split.fraction
    everything = np.ones(n_rows, dtype=np.bool_)
    if split is None or fraction is None:
        return everything, RowSource(path.name, "training", "All rows of the training file.")
    if split.n_rows != n_rows:
        note = (
            f"{path.name} had {split.n_rows:,} rows when the model was trained and has {n_rows:,} now, so "
            "the rows held out then cannot be told from the others."
        )
        return everything, RowSource(path.name, "training", note)
    note = f"The {fraction:.0%} of rows that --valid {split.valid} held out (seed {split.seed})."
    return held_out(n_rows, qid, fraction, split.seed), RowSource(path.name, "held-out", note)


def _is_same(a: Path, b: Path) -> bool:
    return a.resolve() == b.resolve()
