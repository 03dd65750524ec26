"""From a table file to what a fit takes: numbers, and the columns with a part of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from gtgbm.cli.errors import UserError
from gtgbm.cli.files import Report, TableFile, Wanted, open_table
from gtgbm.data.frames import EncodedFrame, FrameSchema, TableBuilder, as_frame, as_values, kind_of, listed

_LIBSVM = (".libsvm", ".svm", ".svmlight")


@dataclass(frozen=True)
class Roles:
    """Columns that are no features."""

    target: str | None = None
    weight: str | None = None
    qid: str | None = None
    task: str | None = None

    def named(self) -> dict[str, str]:
        """Return the name of each column there is, by its role."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {role: name for role, name in values.items() if name is not None}


@dataclass(frozen=True)
class Loaded:
    """A table file in memory.

    Attributes
    ----------
    X : EncodedFrame or scipy CSR matrix
    columns : dict of str to ndarray, shape (n,)
        Target, weight, qid and task, where there are such columns.
    """

    X: Any
    columns: dict[str, NDArray[Any]]

    @property
    def n_rows(self) -> int:
        """Rows of the table."""
        return int((self.X.table if isinstance(self.X, EncodedFrame) else self.X).shape[0])

    def split(self, fraction: float, seed: int) -> tuple[Loaded, Loaded]:
        """Part the rows at random; the table is moved within its memory, and is no longer good for itself."""
        rng, n = np.random.default_rng(seed), self.n_rows
        qid = self.columns.get("qid")
        units, of_row = (np.arange(n), np.arange(n)) if qid is None else np.unique(qid, return_inverse=True)
        n_taken = round(fraction * units.shape[0])
        if not 0 < n_taken < units.shape[0]:
            raise UserError(f"--valid {fraction} of {units.shape[0]} rows or queries leaves none on one side")
        is_taken = np.isin(of_row, rng.choice(units.shape[0], n_taken, replace=False))
        taken, kept = np.flatnonzero(is_taken), np.flatnonzero(~is_taken)
        parts = [{role: values[rows] for role, values in self.columns.items()} for rows in (kept, taken)]
        if not isinstance(self.X, EncodedFrame):
            return Loaded(self.X[kept], parts[0]), Loaded(self.X[taken], parts[1])
        table = self.X.table
        apart = replace(self.X, table=table[taken])
        for column in table.T:
            column[: kept.shape[0]] = column[kept]
        return Loaded(replace(self.X, table=table[: kept.shape[0]]), parts[0]), Loaded(apart, parts[1])


def load(
    path: Path,
    roles: Roles,
    console: Console,
    *,
    exclude: Sequence[str] = (),
    categorical: Sequence[str] = (),
    schema: FrameSchema | None = None,
) -> Loaded:
    """Read a table file.

    Parameters
    ----------
    exclude : sequence of str
        Columns to leave out.
    categorical : sequence of str
        Columns of categories, whatever they look like.
    schema : FrameSchema or None
        The columns to read, as another table has them; None: all.
    """
    bar = Progress(
        TextColumn("reading {task.fields[name]}"),
        BarColumn(bar_width=30),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=console.quiet,
    )
    with bar:
        task = bar.add_task("read", total=1.0, name=path.name)

        def report(share: float) -> None:
            bar.update(task, completed=share)

        if is_libsvm(path):
            return _load_libsvm(path, roles, exclude, categorical, schema)
        file = open_table(path)
        _check_names(path, file, [*roles.named().values(), *exclude, *categorical])
        return _load(path, file, roles, exclude, categorical, schema, report)


def is_libsvm(path: Path) -> bool:
    """Whether a file is in libsvm's format, by its suffix."""
    suffixes = [suffix for suffix in path.suffixes if suffix not in (".gz", ".bz2")]
    return bool(suffixes) and suffixes[-1].lower() in _LIBSVM


def _load(
    path: Path,
    file: TableFile,
    roles: Roles,
    exclude: Sequence[str],
    categorical: Sequence[str],
    schema: FrameSchema | None,
    report: Report,
) -> Loaded:
    others = {*roles.named().values(), *exclude}
    if schema is None:
        names = [name for name in file.names if name not in others]
        text = categorical
    else:
        names = [column.name for column in schema.columns]
        _check_names(path, file, names)
        text = [column.name for column in schema.columns if column.kind == "category"]
    if not names:
        raise UserError(f"{path} has no columns left to learn from")
    wanted = Wanted([*names, *roles.named().values()], text, list(roles.named().values()))
    most_rows = file.most_rows(report)
    builder: TableBuilder | None = None
    columns: dict[str, list[NDArray[Any]]] = {role: [] for role in roles.named()}
    for batch in file.batches(wanted, report):
        if batch is None:
            builder, columns = None, {role: [] for role in columns}
            continue
        if batch.num_rows == 0:
            continue
        found = as_frame(batch, str(path))
        assert found is not None
        frame = found[0]
        if builder is None:
            kinds = [(name, kind_of(frame[name], str(path))) for name in names]
            builder = TableBuilder(kinds, most_rows, np.float64, is_named=True, known=schema)
        builder.add(frame)
        for role, name in roles.named().items():
            columns[role].append(_values(path, name, batch.column(name)))
    if builder is None:
        raise UserError(f"{path} has no rows")
    table, found_schema = builder.finish()
    return Loaded(
        EncodedFrame(table, found_schema),
        {role: np.concatenate(parts) for role, parts in columns.items()},
    )


def _values(path: Path, name: str, column: Any) -> NDArray[Any]:
    """Values of a column with a part of its own, none of which may be missing."""
    if column.null_count:
        raise UserError(f"{path}: column {name!r} has missing values; leave these rows out")
    # A copy: what Arrow allocated would keep all of its batch.
    values = np.array(as_values(column))
    return values.astype(np.str_) if values.dtype.kind == "O" else values


def _load_libsvm(
    path: Path, roles: Roles, exclude: Sequence[str], categorical: Sequence[str], schema: FrameSchema | None
) -> Loaded:
    from sklearn.datasets import load_svmlight_file

    named = {**roles.named(), **({"exclude": exclude[0]} if exclude else {})}
    named |= {"categorical": categorical[0]} if categorical else {}
    for role in set(named) - {"target", "qid"}:
        raise UserError(f"--{role} {named[role]}: {path} is in libsvm's format, whose columns have no names")
    if schema is not None:
        raise UserError(f"{path} is in libsvm's format; the model knows its columns by name")
    try:
        X, y, qid = load_svmlight_file(str(path), query_id=True)
    except (ValueError, OverflowError, MemoryError) as error:
        raise UserError(f"{path} is not in libsvm's format: {error}") from error
    columns = {"target": y}
    if qid.shape[0]:
        columns["qid"] = qid
    return Loaded(X, columns)


def _check_names(path: Path, file: TableFile, names: Sequence[str]) -> None:
    known = set(file.names)
    absent = [name for name in names if name not in known]
    if absent:
        raise UserError(f"{path} has no columns {listed(absent)}; it has {listed(file.names)}")
