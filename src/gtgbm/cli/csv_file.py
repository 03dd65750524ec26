"""Tables as text: CSV files, plain or gzip, one or several parts of a table."""

from __future__ import annotations

import gzip
import io
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

from gtgbm.cli.column_kinds import ColumnText, NumberFormat
from gtgbm.cli.errors import UserError
from gtgbm.cli.table_file import Report, Wanted, arrow, refuse_numbers
from gtgbm.cli.text_format import TextFormat

_BLOCK = 2 << 20
"""Bytes read at a time: Arrow's allocator keeps many times as much."""
_ROWS_PER_BLOCK = 32
"""At least so many rows as long as the line of names fit in a block."""
_MOST_RESTARTS = 50
"""Columns that may turn out to be something else than their first block."""
_MOST_LINES = 100
"""Lines of a line of names, whose quoted names may have several."""


class CsvFile:
    """Text with a line of names; types are those of the first block, unless later values disagree.

    Parameters
    ----------
    paths : sequence of Path
        Parts of one table.
    """

    def __init__(self, paths: Sequence[Path], text_format: TextFormat) -> None:
        self._paths, self._format = paths, text_format
        self._sizes = [max(path.stat().st_size, 1) for path in paths]
        self._numbers = NumberFormat(text_format.decimal or ".", _missing(text_format))
        self._types: dict[str, Any] = {}
        self._looked_at: set[str] = set()
        self.notes: list[str] = []
        headers = [self._header(path) for path in paths]
        self._separators = [text_format.separator(header) for header in headers]
        self._block = max(_BLOCK, _ROWS_PER_BLOCK * max(map(len, headers)))
        self.names = self._names(0)
        for part in range(1, len(paths)):
            check_same(paths[0], self.names, paths[part], self._names(part))

    def most_rows(self, report: Report) -> int:
        """Count lines; a quoted text may have several."""
        lines, done = 0, 0
        for path, size in zip(self._paths, self._sizes, strict=True):
            try:
                with _bytes(path) as (file, raw):
                    while block := file.read(_BLOCK):
                        lines += max(block.count(b"\n"), block.count(b"\r"))
                        report((done + raw.tell()) / sum(self._sizes))
            except (OSError, EOFError) as error:
                raise UserError(f"{path} cannot be read: {error}") from error
            lines, done = lines + 1, done + size
        return lines

    def batches(self, wanted: Wanted, report: Report) -> Iterator[Any]:
        """Yield Arrow tables; once a column turns out to be something else, all is read again."""
        pa = arrow()
        with self._reader(0, wanted.columns)[0] as reader:
            first = reader.schema
        refuse_numbers(self._paths[0], wanted, dict(zip(first.names, first.types, strict=True)))
        self._types |= {name: pa.string() for name in (*wanted.text, *wanted.verbatim)}
        for field in first:
            if pa.types.is_binary(field.type):
                raise UserError(
                    f"{self._paths[0]}: column {field.name!r} is not {self._encoding} text: give --encoding, "
                    "for example latin-1"
                )
            kind = field.type if field.name in wanted.exact else _widest(field.type)
            self._types.setdefault(field.name, kind)
        self._look_at_text(wanted)
        for _ in range(_MOST_RESTARTS):
            problem = yield from self._attempt(wanted, report)
            if problem is None:
                return
            self._widen(problem, wanted)
            yield None
        raise UserError(
            f"{self._paths[0]}: more than {_MOST_RESTARTS} columns begin with numbers and go on with text: "
            "name them with --categorical-features, or leave them out with --exclude"
        )

    @property
    def _encoding(self) -> str:
        return (self._format.encoding or "utf-8").upper()

    def _look_at_text(self, wanted: Wanted) -> None:
        """Refuse columns that became text because of a few values, as far as the first block shows."""
        pa = arrow()
        sure = {*wanted.text, *wanted.verbatim, *wanted.mixed}
        names = [
            name
            for name in wanted.columns
            if name not in sure and name not in self._looked_at and self._types[name] == pa.string()
        ]
        if not names:
            return
        self._looked_at |= {*names}
        with self._reader(0, names)[0] as reader:
            try:
                batch = reader.read_next_batch()
            except StopIteration:
                return
            except (pa.ArrowException, OSError):  # what is wrong comes up again, where all is read
                return
        for name in names:
            column = ColumnText(name, self._numbers)
            column.add(batch.column(name))
            self._judge(column, wanted, self._paths[0])

    def _judge(self, column: ColumnText, wanted: Wanted, path: Path) -> None:
        """Say what is odd about a column of text, or refuse it."""
        known = wanted.kinds.get(column.name)
        if known is not None and known != "category":
            raise UserError(
                f"{path}: column {column.name!r} holds {known}s in the training table, but "
                f"{column.example(known)} here; mend it, or give --missing-values"
            )
        column.refuse_mistakes(str(path), is_feature=column.name not in wanted.exact)
        note = column.note()
        if note is not None:
            self.notes.append(note)

    def _attempt(self, wanted: Wanted, report: Report) -> Generator[Any, None, tuple[int, str] | None]:
        """Yield tables up to the end, or up to a value that does not fit; returns its part and the error."""
        pa = arrow()
        done = 0
        for part, path in enumerate(self._paths):
            reader, raw = self._reader(part, wanted.columns)
            with reader:
                while True:
                    try:
                        batch = reader.read_next_batch()
                    except StopIteration:
                        break
                    except pa.ArrowInvalid as error:
                        return part, str(error)
                    except OSError as error:
                        raise UserError(f"{path} cannot be read: {error}") from error
                    yield _without_empty_text(pa.table(batch))
                    report((done + raw.tell()) / sum(self._sizes))
                    pa.default_memory_pool().release_unused()
            done += self._sizes[part]
        return None

    def _widen(self, problem: tuple[int, str], wanted: Wanted) -> None:
        """Give the column that an error is about the type that all of its values have, or fail."""
        pa = arrow()
        part, message = problem
        path = self._paths[part]
        _, found, rest = message.partition("In CSV column #")
        number = rest.partition(":")[0]
        if not found or "conversion error" not in message or not number.isdigit():
            raise UserError(f"{path} cannot be read: {message}")
        name = self._names(part)[int(number)]
        if name not in wanted.columns or self._types.get(name) == pa.string():
            raise UserError(f"{path}, column {name!r}: {message}")
        if pa.types.is_integer(self._types[name]):
            self._types[name] = pa.float64()
            return
        if name in wanted.mixed or name in self._looked_at:
            self._types[name] = pa.string()
            return
        self._looked_at.add(name)
        column = self._column(name)
        self._types[name] = column.arrow_type()
        if self._types[name] == pa.string():
            self._judge(column, wanted, path)

    def _column(self, name: str) -> ColumnText:
        """Read a single column to its end, as text."""
        pa = arrow()
        self._types[name] = pa.string()
        found = ColumnText(name, self._numbers)
        for part in range(len(self._paths)):
            with self._reader(part, [name])[0] as reader:
                for batch in reader:
                    found.add(batch.column(0))
        return found

    def _names(self, part: int) -> list[str]:
        pa = arrow()
        try:
            with self._reader(part, None)[0] as reader:
                return list(reader.schema.names)
        except (pa.ArrowException, OSError, EOFError) as error:
            raise UserError(f"{self._paths[part]} cannot be read: {error}") from error

    def _header(self, path: Path) -> str:
        """Return the line of names, or lines, if there are some in quotes."""
        text = ""
        try:
            with _bytes(path) as (file, _):
                lines = io.TextIOWrapper(file, encoding=self._format.encoding or "utf-8-sig", newline="")
                for _ in range(_MOST_LINES):
                    text += lines.readline()
                    if text.count('"') % 2 == 0:
                        break
        except UnicodeError as error:
            raise UserError(
                f"{path} is not {self._encoding} text: give --encoding, for example latin-1 ({error})"
            ) from error
        except (EOFError, gzip.BadGzipFile) as error:
            raise UserError(f"{path} cannot be read: {error}") from error
        if not text.strip():
            raise UserError(f"{path} has no line of column names")
        return text

    def _reader(self, part: int, columns: Sequence[str] | None) -> tuple[Any, Any]:
        """Return a reader of batches, and the file that it reads from."""
        from pyarrow import csv

        # Arrow's own files: its threads may read ahead of Python, and outlive it.
        pa = arrow()
        raw = pa.OSFile(str(self._paths[part]))
        reader = csv.open_csv(
            pa.CompressedInputStream(raw, "gzip") if _is_gzip(self._paths[part]) else raw,
            read_options=csv.ReadOptions(block_size=self._block, encoding=self._format.encoding or "utf8"),
            parse_options=csv.ParseOptions(delimiter=self._separators[part], newlines_in_values=True),
            convert_options=csv.ConvertOptions(
                column_types=self._types,
                include_columns=None if columns is None else list(columns),
                null_values=list(self._numbers.missing),
                decimal_point=self._numbers.point,
                # Text such as "NA" may mean something; in columns of numbers it is missing.
                strings_can_be_null=False,
            ),
        )
        return reader, raw


def check_same(first: Path, names: Sequence[str], other: Path, found: Sequence[str]) -> None:
    """Refuse parts of a table that have other columns than the first part."""
    if sorted(names) != sorted(found):
        more, less = sorted({*found} - {*names}), sorted({*names} - {*found})
        differs = [f"it has {name!r}" for name in more[:1]] + [f"it lacks {name!r}" for name in less[:1]]
        raise UserError(
            f"{other} and {first} are parts of one table, but have other columns: {' and '.join(differs)}"
        )


@contextmanager
def _bytes(path: Path) -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """Open the text, and the file that it comes from."""
    with path.open("rb") as raw:
        yield (cast(BinaryIO, gzip.GzipFile(fileobj=raw)) if _is_gzip(path) else raw), raw


def _is_gzip(path: Path) -> bool:
    return path.suffix.lower() == ".gz"


def _missing(text_format: TextFormat) -> list[str]:
    from pyarrow import csv

    return [*csv.ConvertOptions().null_values, *(text_format.missing_values or ())]


def _without_empty_text(table: Any) -> Any:
    """Make empty text missing, quoted or not."""
    from pyarrow import compute

    pa = arrow()
    for place, field in enumerate(table.schema):
        if pa.types.is_string(field.type):
            column = table.column(place)
            kept = compute.if_else(compute.equal(column, ""), pa.scalar(None, pa.string()), column)
            table = table.set_column(place, field.name, kept)
    return table


def _widest(kind: Any) -> Any:
    """Return the type of a column whose first block has one: whole numbers may go on with fractions."""
    pa = arrow()
    return pa.float64() if pa.types.is_integer(kind) or pa.types.is_null(kind) else kind
