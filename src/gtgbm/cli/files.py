"""Reads table files in batches of rows: CSV (also gzip), Parquet, Feather."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Protocol, cast

from gtgbm.cli.errors import UserError
from gtgbm.data import listed, repeated

Report = Callable[[float], None]
"""Called with the fraction of a file that has been read."""

_BLOCK = 2 << 20
"""Bytes per block. Arrow's allocator keeps many times as much, so blocks are small."""
_ROWS_PER_BLOCK = 32
"""A block of a CSV holds at least this many rows of the length of the header."""
_MOST_RESTARTS = 50
"""Maximum number of columns of a CSV that begin with numbers and continue with text."""
_SEPARATORS = ",;\t|"


@dataclass(frozen=True)
class Wanted:
    """The columns to read from a file.

    Attributes
    ----------
    columns : sequence of str
    text : sequence of str
        Columns to read as text, even if they look like numbers.
    exact : sequence of str
        Columns whose integers are not converted to floats.
    """

    columns: Sequence[str]
    text: Sequence[str] = ()
    exact: Sequence[str] = ()


class TableFile(Protocol):
    """A file that holds a table."""

    names: list[str]

    def most_rows(self, report: Report) -> int:
        """Return an upper bound on the number of rows."""
        ...

    def batches(self, wanted: Wanted, report: Report) -> Iterator[Any]:
        """Yield Arrow tables; None means that all earlier tables had a wrong type and are yielded again."""
        ...


def open_table(path: Path) -> TableFile:
    """Open a table file; its suffix determines the format."""
    pa = _arrow()
    if not path.is_file():
        raise UserError(f"{path} is not a file: check the path")
    suffix = path.suffixes[-2] if path.suffix == ".gz" and len(path.suffixes) > 1 else path.suffix
    makers: dict[str, type[Any]] = {
        ".csv": _Csv,
        ".tsv": _Csv,
        ".txt": _Csv,
        ".parquet": _Parquet,
        ".pq": _Parquet,
        ".feather": _Feather,
        ".arrow": _Feather,
    }
    maker = makers.get(suffix.lower())
    if maker is None or (path.suffix == ".gz" and maker is not _Csv):
        known = ", ".join(makers)
        raise UserError(
            f"{path} has an unknown suffix: give a file with one of {known}, .csv.gz, .libsvm, .svm"
        )
    try:
        table = cast(TableFile, maker(path))
    except (pa.ArrowException, EOFError, gzip.BadGzipFile) as error:
        raise UserError(f"{path} cannot be read: {error}") from error
    if any("\0" in name for name in table.names):
        raise UserError(f"{path} has a column name with a zero byte in it: is it a text file?")
    duplicates = repeated(table.names)
    if duplicates:
        raise UserError(f"{path} has several columns of the same name: {listed(duplicates)}; rename them")
    return table


class _Csv:
    """A CSV file with a header; types are those of the first block, widened if later values differ."""

    def __init__(self, path: Path) -> None:
        self._path, self._is_gzip = path, path.suffix == ".gz"
        self._size = max(path.stat().st_size, 1)
        with self._bytes() as (file, _):
            header = file.readline()
        try:
            text = header.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise UserError(f"{path} is not UTF-8 text: convert it ({error})") from error
        if not text.strip():
            raise UserError(f"{path} has no header line with column names")
        self._separator = max(_SEPARATORS, key=text.count)
        self._block = max(_BLOCK, _ROWS_PER_BLOCK * len(header))
        self._types: dict[str, Any] = {}
        with self._reader(None)[0] as reader:
            self.names = list(reader.schema.names)

    def most_rows(self, report: Report) -> int:
        """Return the number of lines, an upper bound since quoted text may have several."""
        lines = 0
        with self._bytes() as (file, raw):
            while block := file.read(_BLOCK):
                lines += max(block.count(b"\n"), block.count(b"\r"))
                report(raw.tell() / self._size)
        return lines + 1

    def batches(self, wanted: Wanted, report: Report) -> Iterator[Any]:
        """Yield Arrow tables; if a value does not fit the type of its column, yield None and restart."""
        pa = _arrow()
        self._types |= {name: pa.string() for name in wanted.text}
        with self._reader(wanted.columns)[0] as reader:
            first = reader.schema
        for field in first:
            if pa.types.is_binary(field.type):
                raise UserError(f"{self._path}: column {field.name!r} is not UTF-8 text: convert the file")
            kind = field.type if field.name in wanted.exact else _widest(field.type)
            self._types.setdefault(field.name, kind)
        for _ in range(_MOST_RESTARTS):
            problem = yield from self._attempt(wanted, report)
            if problem is None:
                return
            self._widen(problem, wanted.columns)
            yield None
        raise UserError(
            f"{self._path}: more than {_MOST_RESTARTS} columns begin with numbers and continue with text: "
            "name them with --categorical, or leave them out with --exclude"
        )

    def _attempt(self, wanted: Wanted, report: Report) -> Generator[Any, None, str | None]:
        """Yield tables up to the end, or up to a value of another type; then return the error message."""
        pa = _arrow()
        reader, raw = self._reader(wanted.columns)
        with reader:
            while True:
                try:
                    batch = reader.read_next_batch()
                except StopIteration:
                    return None
                except pa.ArrowInvalid as error:
                    return str(error)
                yield _without_empty_text(pa.table(batch))
                report(raw.tell() / self._size)
                pa.default_memory_pool().release_unused()

    def _widen(self, message: str, columns: Sequence[str]) -> None:
        """Change the type of the column that an error message names to float or text, or raise the error."""
        pa = _arrow()
        _, marker, rest = message.partition("In CSV column #")
        number = rest.partition(":")[0]
        if not marker or "conversion error" not in message or not number.isdigit():
            raise UserError(f"{self._path} cannot be read: {message}")
        name = self.names[int(number)]
        if name not in columns or self._types.get(name) == pa.string():
            raise UserError(f"{self._path}, column {name!r}: {message}")
        is_whole = pa.types.is_integer(self._types.get(name, pa.string()))
        self._types[name] = pa.float64() if is_whole else pa.string()

    def _reader(self, columns: Sequence[str] | None) -> tuple[Any, Any]:
        """Return a reader of batches, and the file that it reads from."""
        from pyarrow import csv

        # Not a Python file: Arrow's threads read ahead, and may do so while Python shuts down.
        pa = _arrow()
        raw = pa.OSFile(str(self._path))
        reader = csv.open_csv(
            pa.CompressedInputStream(raw, "gzip") if self._is_gzip else raw,
            read_options=csv.ReadOptions(block_size=self._block),
            parse_options=csv.ParseOptions(delimiter=self._separator, newlines_in_values=True),
            convert_options=csv.ConvertOptions(
                column_types=self._types,
                include_columns=None if columns is None else list(columns),
                # "NA" is missing in numeric columns, but may be a category in columns of text.
                strings_can_be_null=False,
            ),
        )
        return reader, raw

    @contextmanager
    def _bytes(self) -> Iterator[tuple[BinaryIO, BinaryIO]]:
        """Open the decompressed text, and the file on disk."""
        with self._path.open("rb") as raw:
            yield (cast(BinaryIO, gzip.GzipFile(fileobj=raw)) if self._is_gzip else raw), raw


class _Parquet:
    def __init__(self, path: Path) -> None:
        from pyarrow import parquet

        self._file = parquet.ParquetFile(path)
        self.names = list(self._file.schema_arrow.names)

    def most_rows(self, report: Report) -> int:
        """Return the number of rows from the metadata of the file."""
        report(1.0)
        return int(self._file.metadata.num_rows)

    def batches(self, wanted: Wanted, report: Report) -> Iterator[Any]:
        """Yield Arrow tables of a few megabytes."""
        pa = _arrow()
        done, total = 0, max(self._file.metadata.num_rows, 1)
        rows = max(1, _BLOCK // (8 * max(len(wanted.columns), 1)))
        for batch in self._file.iter_batches(batch_size=rows, columns=list(wanted.columns)):
            done += batch.num_rows
            report(done / total)
            yield _as_text(pa.table(batch), wanted.text)


class _Feather:
    def __init__(self, path: Path) -> None:
        from pyarrow import ipc, memory_map

        self._file = ipc.open_file(memory_map(str(path)))
        self.names = list(self._file.schema.names)

    def most_rows(self, report: Report) -> int:
        """Return the number of rows."""
        report(1.0)
        return sum(self._file.get_batch(k).num_rows for k in range(self._file.num_record_batches))

    def batches(self, wanted: Wanted, report: Report) -> Iterator[Any]:
        """Yield the batches of the file."""
        pa = _arrow()
        for k in range(self._file.num_record_batches):
            yield _as_text(pa.table(self._file.get_batch(k)).select(list(wanted.columns)), wanted.text)
            report((k + 1) / self._file.num_record_batches)


def _without_empty_text(table: Any) -> Any:
    """Replace empty text, quoted or not, by missing values."""
    from pyarrow import compute

    pa = _arrow()
    for place, field in enumerate(table.schema):
        if pa.types.is_string(field.type):
            column = table.column(place)
            kept = compute.if_else(compute.equal(column, ""), pa.scalar(None, pa.string()), column)
            table = table.set_column(place, field.name, kept)
    return table


def _as_text(table: Any, text: Sequence[str]) -> Any:
    pa = _arrow()
    for name in text:
        place = table.schema.get_field_index(name)
        if place >= 0 and not pa.types.is_dictionary(table.schema.types[place]):
            table = table.set_column(place, name, table.column(place).cast(pa.string()))
    return table


def _widest(kind: Any) -> Any:
    """Return the type for a column from that of its first block: floats may follow integers."""
    pa = _arrow()
    return pa.float64() if pa.types.is_integer(kind) or pa.types.is_null(kind) else kind


def _arrow() -> Any:
    try:
        import pyarrow
        import pyarrow.csv
    except ImportError as error:
        raise UserError("reading tables needs pyarrow: pip install 'gtgbm[table]'") from error
    return pyarrow
