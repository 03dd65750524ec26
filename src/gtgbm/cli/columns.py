"""Columns of a table file: those that options name, those that only number the rows, and what they hold."""

from __future__ import annotations

import difflib
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import numpy as np
from rich.console import Console

from gtgbm.cli.errors import UserError
from gtgbm.cli.table_file import TableFile, Wanted
from gtgbm.data import FrameSchema, lacking, listed

_OF_PANDAS = "__index_level_0__"
"""What pandas calls the numbers of rows in Parquet files."""
_UNNAMED = ("", "Unnamed: 0")
"""Names of a first column that numbers the rows."""
_KIND_NAMES: dict[Literal["number", "time", "category"], str] = {
    "number": "numbers",
    "time": "times",
    "category": "categories",
}


def check_named(path: Path, present: Sequence[str], named: Mapping[str, Sequence[str | None]]) -> None:
    """Refuse names of columns that a table does not have.

    Parameters
    ----------
    named : mapping of str to sequence of str or None
        Names, by the option that gave them.
    """
    for option, names in named.items():
        absent = lacking([name for name in names if name is not None], present)
        if absent:
            raise UserError(f"{path} has no column {listed(absent)} of {option}{meant(absent[0], present)}")


def meant(name: str, present: Sequence[str]) -> str:
    """Return names that are much like one, or else some of all, to end a message with."""
    lower = {one.lower(): one for one in reversed(present)}
    close = [lower[one] for one in difflib.get_close_matches(name.lower(), lower, n=3, cutoff=0.7)]
    return f"; did you mean {' or '.join(map(repr, close))}?" if close else f"; it has {listed(present)}"


def numbers_of_rows(path: Path, file: TableFile, used: Sequence[str]) -> list[str]:
    """Return columns that only number the rows, and are no features.

    Raises
    ------
    UserError
        If a column has no name, and does not count either.
    """
    found = []
    for name in file.names:
        is_first = name == file.names[0]
        if name in used or not (name in ("", _OF_PANDAS) or (is_first and name in _UNNAMED)):
            continue
        if name == _OF_PANDAS or (is_first and _counts(file, name)):
            found.append(name)
        elif not name:
            place = file.names.index(name) + 1
            raise UserError(
                f"{path}: column {place} has no name: give it one, or leave it out by --exclude ''"
            )
    return found


def _counts(file: TableFile, name: str) -> bool:
    """Whether a column goes up by one from row to row, as far as its beginning shows."""
    for batch in file.batches(Wanted([name], exact=[name]), lambda _: None):
        if batch is None:
            return False
        if batch.num_rows:
            values = batch.column(name).to_numpy()
            return values.dtype.kind in "iu" and bool(np.all(np.diff(values) == 1))
    return False


def say_what_was_read(
    console: Console,
    path: Path,
    n_rows: int,
    schema: FrameSchema,
    numbering: Sequence[str],
    doubts: Sequence[str] = (),
) -> None:
    """Print what the columns of a table were read as, and warn of columns that may be read wrongly.

    Parameters
    ----------
    numbering : sequence of str
        Columns that are left out because they number the rows.
    doubts : sequence of str
        What is odd about other columns.
    """
    count = Counter(column.kind for column in schema.columns)
    parts = [f"{count[kind]:,} of {_KIND_NAMES[kind]}" for kind in _KIND_NAMES if count[kind]]
    line = f"{path.name}: {n_rows:,} rows; columns: {', '.join(parts)}"
    console.print(line, markup=False, highlight=False, soft_wrap=True)
    left_out = [f"column {name!r} only numbers the rows: it is left out" for name in numbering]
    for doubt in (*left_out, *doubts):
        warnings.warn(doubt, stacklevel=2)  # a quiet console would not show it
