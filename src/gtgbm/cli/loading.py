"""Loads a table file for a fit: features as numbers, and target, weight, query and task columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from gtgbm.cli.columns import check_named, numbers_of_rows, say_what_was_read
from gtgbm.cli.errors import UserError
from gtgbm.cli.files import open_table
from gtgbm.cli.libsvm_file import read_libsvm
from gtgbm.cli.splitting import held_out
from gtgbm.cli.table_file import Report, TableFile, Wanted
from gtgbm.cli.text_format import TextFormat
from gtgbm.data import (
    EncodedFrame,
    FrameSchema,
    ParquetTable,
    TableBuilder,
    as_frame,
    as_values,
    columns_of,
    repeated,
)

_LIBSVM = (".libsvm", ".svm", ".svmlight")


@dataclass(frozen=True)
class Roles:
    """Names of the columns that are not features."""

    target: str | None = None
    weight: str | None = None
    qid: str | None = None
    task: str | None = None

    def named(self) -> dict[str, str]:
        """Return the names that are set, by role."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {role: name for role, name in values.items() if name is not None}


@dataclass(frozen=True)
class LibsvmColumns:
    """Columns of a libsvm file: the index of the first one, 0 or 1, and their number."""

    first: int
    count: int

    @classmethod
    def of(cls, model: Any) -> LibsvmColumns:
        """Return the columns of the file that a model was trained on."""
        return cls(int(model._about.get("first_column", 1)), model.n_features_in_)


@dataclass(frozen=True)
class Loaded:
    """A table file in memory.

    Attributes
    ----------
    X : EncodedFrame, ParquetTable or scipy CSR matrix
    columns : dict of str to ndarray, shape (n,)
        Target, weight, qid and task, by role.
    """

    X: Any
    columns: dict[str, NDArray[Any]]
    libsvm: LibsvmColumns | None = None

    @property
    def table(self) -> Any:
        """The features as an array or a CSR matrix."""
        return self.X.table if isinstance(self.X, EncodedFrame) else self.X

    @property
    def n_columns(self) -> int:
        """Number of feature columns."""
        return int(self.table.shape[1])

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.table.shape[0])

    def split(self, fraction: float, seed: int) -> tuple[Loaded, Loaded]:
        """Split the rows at random; queries stay whole.

        The table is rearranged in place to save memory, so this object must not be used afterwards.
        """
        is_taken = held_out(self.n_rows, self.columns.get("qid"), fraction, seed)
        taken, kept = np.flatnonzero(is_taken), np.flatnonzero(~is_taken)
        parts = [{role: values[rows] for role, values in self.columns.items()} for rows in (kept, taken)]
        if isinstance(self.X, ParquetTable):
            return Loaded(self.X.take(kept), parts[0]), Loaded(self.X.take(taken), parts[1])
        if not isinstance(self.X, EncodedFrame):
            of_parts = ((self.X[kept], parts[0]), (self.X[taken], parts[1]))
            first, second = (Loaded(*part, self.libsvm) for part in of_parts)
            return first, second
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
    id_columns: Sequence[str] = (),
    categorical: Sequence[str] = (),
    schema: FrameSchema | None = None,
    libsvm: LibsvmColumns | None = None,
    text_format: TextFormat | None = None,
    has_classes: bool = False,
) -> Loaded:
    """Read a table file, and say what it holds.

    Parameters
    ----------
    exclude : sequence of str
        Columns to leave out.
    id_columns : sequence of str
        The same, since they only name rows.
    categorical : sequence of str
        Categorical columns, even if they look like numbers.
    schema : FrameSchema or None
        Columns of the training table, which are read. None: all columns.
    libsvm : LibsvmColumns or None
        The same for libsvm's format.
    has_classes : bool
        Whether the target may be anything, as classes may.
    """
    named = list(roles.named().values())
    if repeated(named):
        name = repeated(named)[0]
        both = " and ".join(role for role, column in roles.named().items() if column == name)
        raise UserError(f"column {name!r} is both {both}: name a different column for one of them")
    bar = Progress(
        TextColumn("reading {task.fields[name]}", markup=False),
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
            if schema is not None:
                raise UserError(f"{path} is in libsvm's format; the model knows its columns by name")
            return _load_libsvm(path, roles, [*exclude, *id_columns, *categorical], libsvm)
        file = open_table(path, text_format)
        of_roles = {f"--{role}": [name] for role, name in roles.named().items()}
        given = {"--exclude": exclude, "--id-columns": id_columns, "--categorical-features": categorical}
        check_named(path, file.names, {**of_roles, **given})
        others, wanted = _wanted(path, file, roles, [*exclude, *id_columns], categorical, schema, has_classes)
        try:
            loaded = _load(path, file, roles, wanted, schema, report)
        except (OSError, EOFError) as error:
            raise UserError(f"{path} cannot be read: {error}") from error
    if schema is None:
        say_what_was_read(console, path, loaded.n_rows, loaded.X.schema, others, file.notes)
    return loaded


def is_libsvm(path: Path) -> bool:
    """Whether the suffix of a file is that of libsvm files."""
    suffixes = [suffix for suffix in path.suffixes if suffix not in (".gz", ".bz2")]
    return bool(suffixes) and suffixes[-1].lower() in _LIBSVM


def _wanted(
    path: Path,
    file: TableFile,
    roles: Roles,
    exclude: Sequence[str],
    categorical: Sequence[str],
    schema: FrameSchema | None,
    has_classes: bool,
) -> tuple[list[str], Wanted]:
    """Return columns that number the rows, and what to read, the features first."""
    of_roles = list(roles.named().values())
    labels = [name for name in (roles.qid, roles.task, roles.target if has_classes else None) if name]
    if schema is not None:
        names = [column.name for column in schema.columns]
        check_named(path, file.names, {"the training table": names})
        return [], replace(Wanted.like(schema, names, of_roles), mixed=labels)
    numbering = numbers_of_rows(path, file, [*of_roles, *exclude, *categorical])
    left_out = {*of_roles, *exclude, *numbering}
    names = [name for name in file.names if name not in left_out]
    if not names:
        raise UserError(f"{path} has no columns left to learn from")
    return numbering, Wanted([*names, *of_roles], categorical, of_roles, labels)


def _load(
    path: Path,
    file: TableFile,
    roles: Roles,
    wanted: Wanted,
    schema: FrameSchema | None,
    report: Report,
) -> Loaded:
    names = list(wanted.columns[: len(wanted.columns) - len(roles.named())])
    most_rows = file.most_rows(report)
    builder: TableBuilder | None = None
    columns: dict[str, list[NDArray[Any]]] = {role: [] for role in roles.named()}
    for batch in file.batches(wanted, report):
        if batch is None:
            builder, columns = None, {role: [] for role in columns}
            continue
        if batch.num_rows == 0:
            continue
        named_frame = as_frame(batch, str(path))
        assert named_frame is not None
        frame = named_frame[0]
        if builder is None:
            if schema is not None:
                builder = TableBuilder.like(schema, most_rows, np.float64, str(path))
            else:
                described = columns_of(frame.select(names), str(path))
                builder = TableBuilder(described, most_rows, np.float64, is_named=True)
        builder.add(frame)
        for role, name in roles.named().items():
            columns[role].append(values_of(path, name, batch.column(name)))
    if builder is None:
        raise UserError(f"{path} has no rows")
    table, table_schema = builder.finish()
    if schema is None and table.shape[0] < 2:
        raise UserError(f"{path} has 1 row, a minimum of 2 is required")
    return Loaded(
        EncodedFrame(table, table_schema),
        {role: np.concatenate(parts) for role, parts in columns.items()},
    )


def values_of(path: Path, name: str, column: Any) -> NDArray[Any]:
    """Return the values of a target, weight, query or task column, none of which may be missing."""
    if column.null_count:
        raise UserError(f"{path}: column {name!r} has missing values; leave these rows out")
    # Copied, since a view would keep Arrow's whole batch in memory.
    values = np.array(as_values(column))
    return values.astype(np.str_) if values.dtype.kind == "O" else values


def _load_libsvm(path: Path, roles: Roles, named: Sequence[str], like: LibsvmColumns | None) -> Loaded:
    for name in [*named, *(name for role, name in roles.named().items() if role in ("weight", "task"))]:
        raise UserError(f"{path} is a libsvm file, whose columns have no names: there is no column {name!r}")
    X, y, qid = read_libsvm(path)
    # Columns are counted from 0 or from 1: the training file decides, for all files used with the model.
    first = like.first if like is not None else int(X.indices.min(initial=1) > 0)
    count = like.count if like is not None else max(X.shape[1] - first, 1)
    X.resize(X.shape[0], max(X.shape[1], count + first))
    if X.shape[1] > count + first:
        raise UserError(f"{path} has {X.shape[1] - first} columns, the model takes {count}")
    columns = {"target": y} | ({"qid": qid} if qid.shape[0] else {})
    return Loaded(X[:, first:], columns, LibsvmColumns(first, count))
