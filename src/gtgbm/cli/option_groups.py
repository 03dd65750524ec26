"""Options that several commands share, and groups of them that a command takes as one argument."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from gtgbm.cli.errors import UserError
from gtgbm.cli.options import ParameterTexts, parse_texts, with_categorical
from gtgbm.cli.text_format import TextFormat

DATA, TASKS, VALIDATION, RUNNING = "Data", "Several tasks", "Validation", "Running"
"""Groups of options in the help; parameters of estimators are in them as well."""

TableFile = Annotated[
    Path,
    typer.Argument(
        help="CSV (also .gz), Parquet, Feather, or libsvm; a folder or pattern of parts; - is stdin.",
        show_default=False,
    ),
]
ModelFile = Annotated[Path, typer.Argument(help="Model file written by gtgbm fit.", show_default=False)]
Target = Annotated[
    str | None,
    typer.Option(help="Target column (not for libsvm files).", show_default=False, rich_help_panel=DATA),
]
Names = list[str] | None
Exclude = Annotated[
    Names,
    typer.Option(
        help="Columns that are not features; repeatable, or names separated by commas.", rich_help_panel=DATA
    ),
]
Categorical = Annotated[
    Names,
    typer.Option(
        "--categorical",
        metavar="category|column|NAMES",
        help="Same as --categorical-as for category or column, and as --categorical-features for names.",
        rich_help_panel=DATA,
    ),
]
IdColumns = Annotated[
    Names,
    typer.Option(
        help="Column that names the rows: no feature, passed on to predictions.", rich_help_panel=DATA
    ),
]
Sep = Annotated[
    str | None, typer.Option(help="Separator of a CSV; by default it is found.", rich_help_panel=DATA)
]
Decimal = Annotated[
    str | None, typer.Option(help="Decimal point of a CSV: . or ,", metavar=".|,", rich_help_panel=DATA)
]
Encoding = Annotated[
    str | None, typer.Option(help="Encoding of a CSV; by default UTF-8.", rich_help_panel=DATA)
]
MissingValues = Annotated[
    Names,
    typer.Option(
        help="What stands for a missing number or time in a CSV, beside NA and the like.",
        rich_help_panel=DATA,
    ),
]
Weight = Annotated[str | None, typer.Option(help="Column of row weights.", rich_help_panel=DATA)]
Query = Annotated[
    str | None, typer.Option(help="Column with the query of each row, for ranking.", rich_help_panel=DATA)
]
Task = Annotated[str | None, typer.Option(help="Column with the task of each row.", rich_help_panel=TASKS)]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.", rich_help_panel=RUNNING)]
Quiet = Annotated[bool, typer.Option("--quiet", help="Show no progress bars.", rich_help_panel=RUNNING)]


class Kind(str, Enum):
    """Kinds of models."""

    auto = "auto"
    classification = "classification"
    regression = "regression"
    ranking = "ranking"


KindOption = Annotated[
    Kind, typer.Option(help="Kind of model; auto decides by the target and --qid.", rich_help_panel=DATA)
]


@dataclass(frozen=True)
class TextOptions:
    """How a CSV is written."""

    sep: Sep = None
    decimal: Decimal = None
    encoding: Encoding = None
    missing_values: MissingValues = None

    def format(self) -> TextFormat:
        """Validate the options."""
        missing = None if self.missing_values is None else split_names(self.missing_values)
        return TextFormat(self.sep, self.decimal, self.encoding, missing).checked()


@dataclass(frozen=True)
class RowOptions:
    """What the columns of a training table are."""

    target: Target = None
    kind: KindOption = Kind.auto
    weight: Weight = None
    qid: Query = None
    exclude: Exclude = None
    categorical_words: Categorical = None

    def parameters(self, texts: ParameterTexts, table: Path, text_format: TextFormat) -> dict[str, Any]:
        """Return the parameters of the estimator that the user set."""
        return with_categorical(parse_texts(texts), split_names(self.categorical_words), table, text_format)


def split_names(given: Names) -> list[str]:
    """Return names that were given one by one or separated by commas."""
    return [name.strip() for one in given or [] for name in one.split(",")]


def whole_numbers(given: str | None, flag: str) -> list[int] | None:
    """Return numbers that were given separated by commas."""
    if given is None:
        return None
    try:
        return [int(number) for number in given.split(",")]
    except ValueError:
        raise UserError(f"{flag} {given}: give whole numbers separated by commas, such as 5,10,20") from None


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Replace each argument of a command that is a group of options by the options themselves."""
    signature = inspect.signature(command, eval_str=True)
    annotations = {name: one.annotation for name, one in signature.parameters.items()}
    groups: dict[str, Any] = {name: one for name, one in annotations.items() if is_dataclass(one)}

    @functools.wraps(command)
    def run(**values: Any) -> None:
        made = {
            name: group(**{field.name: values.pop(field.name) for field in fields(group)})
            for name, group in groups.items()
        }
        command(**values, **made)

    parameters: list[inspect.Parameter] = []
    for name, parameter in signature.parameters.items():
        parameters += _options_of(groups[name]) if name in groups else [parameter]
    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return run


def _options_of(group: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(group)
    ]
