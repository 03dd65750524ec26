"""Predictions in a file: CSV, Parquet or Feather, by the suffix."""

from __future__ import annotations

import codecs
import csv
import io
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Protocol

from gtgbm.cli.errors import UserError
from gtgbm.cli.table_file import arrow
from gtgbm.files import check_writable, write_aside

_BLOCK = 1 << 20


class Writer(Protocol):
    """Takes columns, batch by batch, and puts them into an open file."""

    def add(self, columns: Mapping[str, Any]) -> None:
        """Write some rows: lists or Arrow arrays, by name."""
        ...

    def restart(self) -> None:
        """Forget what was written."""
        ...

    def finish(self) -> None:
        """Write what belongs at the end."""
        ...


class _Csv:
    """Numbers as they are, text in quotes, nothing changed: what reads it gets the labels back."""

    def __init__(self, file: IO[bytes], delimiter: str) -> None:
        self._file, self._delimiter, self._has_names = file, delimiter, False

    def add(self, columns: Mapping[str, Any]) -> None:
        text = io.StringIO(newline="")
        if not self._has_names:
            csv.writer(text, delimiter=self._delimiter, lineterminator="\n").writerow(columns)
            self._has_names = True
        writer = csv.writer(
            text, delimiter=self._delimiter, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC
        )
        values = [one if isinstance(one, list) else one.to_pylist() for one in columns.values()]
        writer.writerows(zip(*values, strict=True))
        self._file.write(text.getvalue().encode())

    def restart(self) -> None:
        self._file.seek(0)
        self._file.truncate()
        self._has_names = False

    def finish(self) -> None:
        self._file.flush()


class _Arrow:
    def __init__(self, file: IO[bytes], is_parquet: bool) -> None:
        self._file, self._is_parquet = file, is_parquet
        self._writer: Any = None

    def add(self, columns: Mapping[str, Any]) -> None:
        pa = arrow()
        table = pa.table(dict(columns))
        if self._writer is None:
            self._writer = self._begin(table.schema)
        self._writer.write_table(table.cast(self._schema))

    def _begin(self, schema: Any) -> Any:
        from pyarrow import ipc, parquet

        self._schema = schema
        if self._is_parquet:
            return parquet.ParquetWriter(self._file, schema)
        return ipc.new_file(self._file, schema)

    def restart(self) -> None:
        self.finish()
        self._file.seek(0)
        self._file.truncate()
        self._writer = None

    def finish(self) -> None:
        if self._writer is not None:
            self._writer.close()


_FORMATS: dict[str, Any] = {
    ".csv": lambda file: _Csv(file, ","),
    ".tsv": lambda file: _Csv(file, "\t"),
    ".txt": lambda file: _Csv(file, ","),
    ".parquet": lambda file: _Arrow(file, is_parquet=True),
    ".pq": lambda file: _Arrow(file, is_parquet=True),
    ".feather": lambda file: _Arrow(file, is_parquet=False),
    ".arrow": lambda file: _Arrow(file, is_parquet=False),
}


def check_out(out: Path) -> None:
    """Say now, and not after the work, what would keep a file from being written."""
    check_writable(out)
    if out.exists() and not out.is_file():
        return  # a pipe or a device
    try:
        with tempfile.TemporaryFile(dir=out.resolve().parent):
            pass
    except OSError as error:
        raise UserError(f"--out {out} cannot be written: {error.strerror or error}; name another") from error


def check_format(out: Path) -> None:
    """Refuse a file of predictions whose suffix says nothing."""
    is_device = out.exists() and not out.is_file() and not out.is_dir()
    if not is_device and out.suffix.lower() not in _FORMATS:
        raise UserError(f"--out {out} has a suffix that is not known; known are {', '.join(_FORMATS)}")
    if out.suffix.lower() in (".parquet", ".pq", ".feather", ".arrow"):
        arrow()


@contextmanager
def predictions_to(out: Path | None) -> Iterator[Writer]:
    """Write aside: a column may turn out to be of another type late, and then all is predicted again."""
    suffix = ".csv" if out is None else out.suffix.lower()
    with tempfile.TemporaryFile("w+b") as file:
        writer: Writer = _FORMATS.get(suffix, _FORMATS[".csv"])(file)
        yield writer
        writer.finish()
        file.seek(0)
        blocks = iter(lambda: file.read(_BLOCK), b"")
        if out is not None:
            write_aside(out, blocks)
            return
        for text in codecs.iterdecode(blocks, "utf-8"):
            sys.stdout.write(text)
