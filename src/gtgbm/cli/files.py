"""Table files as batches of rows, by their suffix: CSV, Parquet, Feather; one file, or parts in several."""

from __future__ import annotations

import glob
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gtgbm.cli.csv_file import CsvFile, check_same
from gtgbm.cli.errors import UserError
from gtgbm.cli.table_file import Report, TableFile, Wanted, arrow, refuse_numbers
from gtgbm.cli.text_format import TextFormat
from gtgbm.data import listed, repeated

_BLOCK = 2 << 20
"""Bytes read at a time."""
_STDIN = Path("-")
_MAGIC = {b"PAR1": ".parquet", b"ARRO": ".feather", b"\x1f\x8b": ".csv.gz"}
"""How files begin, of what may come on standard input."""


def open_table(path: Path, text_format: TextFormat | None = None) -> TableFile:
    """Open a table by its suffix; a folder, or a pattern such as ``part-*.csv``, has parts of one."""
    pa = arrow()
    paths = parts_of(path)
    suffixes = {_suffix(one) for one in paths}
    if len(suffixes) > 1:
        raise UserError(f"{path} has files of several kinds, {listed(sorted(suffixes))}: name one kind")
    maker = _MAKERS.get(suffixes.pop())
    if maker is None:
        known = ", ".join(_MAKERS)
        raise UserError(f"{paths[0]} has a suffix that is not known; known are {known}, .libsvm and .svm")
    try:
        table: TableFile
        if maker is CsvFile:
            table = CsvFile(paths, text_format or TextFormat())
        else:
            table = _Typed(paths, [maker(one) for one in paths])
    except (pa.ArrowException, EOFError) as error:
        raise UserError(f"{path} cannot be read: {error}") from error
    if any("\0" in name for name in table.names):
        raise UserError(f"{path} has a column name with a zero byte in it: is it a text file?")
    duplicates = repeated(table.names)
    if duplicates:
        raise UserError(f"{path} has several columns of the same name: {listed(duplicates)}; rename them")
    return table


@contextmanager
def from_stdin(path: Path) -> Iterator[Path]:
    """Put standard input, which ``-`` stands for, into a file as long as it is needed; leave other paths."""
    if path != _STDIN:
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="gtgbm-") as folder:
        begin = sys.stdin.buffer.read(4)
        if not begin:
            raise UserError("standard input is empty: pipe a table into it, or name a file instead of -")
        suffix = next((suffix for magic, suffix in _MAGIC.items() if begin.startswith(magic)), ".csv")
        copy = Path(folder) / f"stdin{suffix}"
        with copy.open("wb") as file:
            file.write(begin)
            shutil.copyfileobj(sys.stdin.buffer, file)
        yield copy


def parts_of(path: Path) -> list[Path]:
    """Files that a path, a folder or a pattern names, in the order of their names."""
    if path.is_file():
        return [path]
    if path.is_dir():
        found = [one for one in sorted(path.iterdir()) if one.is_file() and _suffix(one) in _MAKERS]
        found = [one for one in found if not one.name.startswith((".", "_"))]
        if not found:
            raise UserError(f"{path} is a folder without tables; known are {', '.join(_MAKERS)}")
        return found
    found = [Path(one) for one in sorted(glob.glob(str(path))) if Path(one).is_file()]
    if not found:
        raise UserError(f"{path} is not a file: check the path")
    return found


def is_parquet(path: Path) -> bool:
    """Whether a path, a folder or a pattern names Parquet files only."""
    return all(_MAKERS.get(_suffix(one)) is _Parquet for one in parts_of(path))


def _suffix(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    return "".join(suffixes[-2:]) if suffixes[-1:] == [".gz"] else "".join(suffixes[-1:])


class _Typed:
    """Files that know their types: parts of one table."""

    def __init__(self, paths: Sequence[Path], files: Sequence[_Parquet | _Feather]) -> None:
        self._paths, self._files = paths, files
        self.names = list(files[0].schema.names)
        self.notes: list[str] = []
        for path, file in zip(paths[1:], files[1:], strict=True):
            check_same(paths[0], self.names, path, list(file.schema.names))
            for name in self.names:
                was, here = (one.schema.field(name).type for one in (files[0], file))
                if _kind(was) != _kind(here) and not arrow().types.is_null(here):
                    raise UserError(
                        f"{path} and {paths[0]} are parts of one table, but column {name!r} is {here} in one "
                        f"and {was} in the other: convert it"
                    )

    def most_rows(self, report: Report) -> int:
        """Return the number of rows, which the files know."""
        report(1.0)
        return sum(file.n_rows for file in self._files)

    def batches(self, wanted: Wanted, report: Report) -> Iterator[Any]:
        """Yield Arrow tables of a few megabytes."""
        pa = arrow()
        done, total = 0, max(sum(file.n_rows for file in self._files), 1)
        for path, file in zip(self._paths, self._files, strict=True):
            refuse_numbers(path, wanted, dict(zip(file.schema.names, file.schema.types, strict=True)))
            try:
                for table in file.batches(wanted.columns):
                    done += table.num_rows
                    yield _as_text(table, wanted.text)
                    report(done / total)
            except (pa.ArrowException, OSError) as error:
                raise UserError(f"{path} cannot be read: {error}") from error


class _Parquet:
    def __init__(self, path: Path) -> None:
        from pyarrow import parquet

        self._file = parquet.ParquetFile(path)
        self.schema = self._file.schema_arrow
        self.n_rows = int(self._file.metadata.num_rows)

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        """Yield tables of a few megabytes."""
        rows = max(1, _BLOCK // (8 * max(len(columns), 1)))
        for batch in self._file.iter_batches(batch_size=rows, columns=list(columns)):
            yield arrow().table(batch)


class _Feather:
    def __init__(self, path: Path) -> None:
        from pyarrow import ipc, memory_map

        self._file = ipc.open_file(memory_map(str(path)))
        self.schema = self._file.schema
        self.n_rows = sum(self._file.get_batch(k).num_rows for k in range(self._file.num_record_batches))

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        """Yield the file's own batches."""
        for k in range(self._file.num_record_batches):
            yield arrow().table(self._file.get_batch(k)).select(list(columns))


_MAKERS: dict[str, type[Any]] = {
    ".csv": CsvFile,
    ".tsv": CsvFile,
    ".txt": CsvFile,
    ".csv.gz": CsvFile,
    ".tsv.gz": CsvFile,
    ".txt.gz": CsvFile,
    ".parquet": _Parquet,
    ".pq": _Parquet,
    ".feather": _Feather,
    ".arrow": _Feather,
}


def _kind(type_: Any) -> str:
    types = arrow().types
    if types.is_string(type_) or types.is_large_string(type_) or types.is_dictionary(type_):
        return "category"
    return "time" if types.is_temporal(type_) else "number"


def _as_text(table: Any, text: Sequence[str]) -> Any:
    pa = arrow()
    for name in text:
        place = table.schema.get_field_index(name)
        if place >= 0 and not pa.types.is_dictionary(table.schema.types[place]):
            table = table.set_column(place, name, table.column(place).cast(pa.string()))
    return table
