"""What a table file is to the commands, whatever its format."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from gtgbm.cli.errors import UserError
from gtgbm.data import FrameSchema

Report = Callable[[float], None]
"""Told of the share of a file that was read so far."""


@dataclass(frozen=True)
class Wanted:
    """What to read of a file.

    Attributes
    ----------
    columns : sequence of str
    text : sequence of str
        Columns that are text, whatever they look like.
    exact : sequence of str
        Columns whose whole numbers stay whole.
    mixed : sequence of str
        Columns that may hold numbers and words: neither is a mistake.
    verbatim : sequence of str
        Columns that are passed on: a CSV's as they are written, others with their types.
    kinds : mapping of str to str
        What columns held in the table that a model was trained on.
    words : sequence of str
        Columns that never held a number there: numbers are a mistake.
    """

    columns: Sequence[str]
    text: Sequence[str] = ()
    exact: Sequence[str] = ()
    mixed: Sequence[str] = ()
    verbatim: Sequence[str] = ()
    kinds: Mapping[str, str] = field(default_factory=dict)
    words: Sequence[str] = ()

    @classmethod
    def like(cls, schema: FrameSchema, names: Sequence[str], labels: Sequence[str] = ()) -> Wanted:
        """Columns of the table that a model was trained on, and columns of labels of rows.

        Parameters
        ----------
        names : sequence of str
            Some of the columns, as this file calls them if the schema has no names.
        """
        known = {column.name: column for column in schema.columns}
        if not schema.is_named:
            known = dict(zip(names, schema.columns, strict=True))
        described = {name: known[name] for name in names if name in known}
        categories = {name: one.categories for name, one in described.items() if one.kind == "category"}
        return cls(
            [*names, *labels],
            text=list(categories),
            exact=labels,
            mixed=labels,
            kinds={name: one.kind for name, one in described.items()},
            # A model knows the categories of the columns that it selected.
            words=[name for name, found in categories.items() if found and not any(map(_is_number, found))],
        )


class TableFile(Protocol):
    """A file that holds a table.

    Attributes
    ----------
    notes : list of str
        What may be wrong with the columns; complete once all batches were read.
    """

    names: list[str]
    notes: list[str]

    def most_rows(self, report: Report) -> int:
        """Count rows, or more than there are."""
        ...

    def batches(self, wanted: Wanted, report: Report) -> Iterator[Any]:
        """Yield Arrow tables; None says that all before was of the wrong type, and that it comes again."""
        ...


def refuse_numbers(path: Path, wanted: Wanted, types: Mapping[str, Any]) -> None:
    """Refuse columns of numbers where the training table had words."""
    pa = arrow()
    for name in wanted.words:
        if name in types and (pa.types.is_integer(types[name]) or pa.types.is_floating(types[name])):
            raise UserError(
                f"{path}: column {name!r} holds categories in the training table, but numbers here; "
                "convert it"
            )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def arrow() -> Any:
    """Return pyarrow, which comes with an extra."""
    import pyarrow
    import pyarrow.csv

    return pyarrow
