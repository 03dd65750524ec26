"""The commands and their options. The module that implements a command is imported when the command runs."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

import gtgbm
from gtgbm.cli.errors import one_line_errors
from gtgbm.cli.options import (
    CommandWithDefaults,
    ParameterTexts,
    parameter_flags,
    parse_texts,
    with_categorical,
)
from gtgbm.parameters import PARAMETERS

app = typer.Typer(
    help="Gradient boosted trees that choose few features while they train.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

_COMPARED = (
    "n_features_to_select",
    "penalty",
    "n_estimators",
    "learning_rate",
    "categorical_features",
    "categorical",
    "random_state",
    "n_jobs",
)
"""Parameters that all methods of ``gtgbm compare`` understand."""

DATA, TASKS, VALIDATION, RUNNING = "Data", "Several tasks", "Validation", "Running"
"""Groups of options in the help; parameters of estimators are in them as well."""

TableFile = Annotated[
    Path, typer.Argument(help="Table file: CSV (also .gz), Parquet, Feather or libsvm.", show_default=False)
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


def _print_version(show: bool) -> None:
    if show:
        typer.echo(f"gtgbm {gtgbm.__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    del version


@app.command(cls=CommandWithDefaults)
@parameter_flags(list(PARAMETERS))
def fit(
    table: TableFile,
    out: Annotated[Path, typer.Option(help="Model file to write (JSON).", show_default=False)],
    target: Target = None,
    kind: KindOption = Kind.auto,
    weight: Weight = None,
    qid: Query = None,
    exclude: Exclude = None,
    categorical_words: Categorical = None,
    *,
    texts: ParameterTexts,
    task: Task = None,
    valid: Annotated[
        str | None,
        typer.Option(
            help="Validation rows: a file, or a fraction of the table.",
            metavar="FILE|FRACTION",
            rich_help_panel=VALIDATION,
        ),
    ] = None,
    time_limit: Annotated[
        float | None,
        typer.Option(min=0, help="Stop training after this many seconds.", rich_help_panel=RUNNING),
    ] = None,
    json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Train on a table file and write the model.

    Prints the selected features in order, with their gain, their price, and the training loss or validation
    metric after each. Every parameter of the estimators has a flag of the same name.

    gtgbm fit data.parquet --target clicked --n-features-to-select 20 --out model.json
    """
    with one_line_errors():
        parameters = with_categorical(parse_texts(texts), _names(categorical_words), table)
        if quiet or json:
            parameters.setdefault("verbose", 0)
        from rich.console import Console

        from gtgbm.cli.fit import FitOptions, Source, run_fit
        from gtgbm.cli.loading import Roles
        from gtgbm.cli.models import ModelOptions

        source = Source(table, Roles(target, weight, qid, task), _names(exclude))
        options = FitOptions(source, ModelOptions(kind.value, parameters), out, valid, time_limit, json)
        run_fit(options, Console(stderr=True, quiet=quiet))


@app.command()
def predict(
    model: ModelFile,
    table: TableFile,
    out: Annotated[Path | None, typer.Option(help="CSV file to write; default: stdout.")] = None,
    task: Annotated[str | None, typer.Option(help="Column with the task of each row.")] = None,
) -> None:
    """Predict the rows of a table file, in order.

    The table needs only the selected columns; others are ignored.
    """
    with one_line_errors():
        from rich.console import Console

        from gtgbm.cli.predict import run_predict

        run_predict(model, table, out, task, Console(stderr=True))


@app.command()
def inspect(
    model: ModelFile,
    tree: Annotated[int | None, typer.Option(help="Print only this tree, counted from 0.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show a model: its selected features in order, or one of its trees."""
    with one_line_errors():
        from gtgbm.cli.inspect import run_inspect

        run_inspect(model, tree, json)


@app.command()
def report(
    model: ModelFile,
    table: Annotated[
        Path | None,
        typer.Argument(help="Held-out rows, recommended; otherwise the report uses training rows."),
    ] = None,
    out: Annotated[Path, typer.Option(help="HTML file to write.")] = Path("report.html"),
    target: Annotated[
        str | None, typer.Option(help="Target column (not for libsvm files).", show_default=False)
    ] = None,
    qid: Annotated[str | None, typer.Option(help="Column with the query of each row.")] = None,
    task: Annotated[str | None, typer.Option(help="Column with the task of each row.")] = None,
    title: Annotated[str | None, typer.Option(help="Title of the report.")] = None,
) -> None:
    """Write a report of a model as one HTML file.

    It shows the selected features in order, their permutation importance, interchangeable columns and the
    quality of the predictions. Pass held-out rows after the model; otherwise the report uses training rows.
    The target is that of the training unless --target names another one.
    """
    with one_line_errors():
        from rich.console import Console

        from gtgbm.cli.loading import Roles
        from gtgbm.cli.report import run_report

        run_report(model, table, Roles(target, None, qid, task), out, title, Console(stderr=True))


@app.command(cls=CommandWithDefaults)
@parameter_flags(_COMPARED, defaults={"n_features_to_select": "20"})
def compare(
    table: TableFile,
    target: Target = None,
    kind: KindOption = Kind.auto,
    weight: Weight = None,
    exclude: Exclude = None,
    categorical_words: Categorical = None,
    *,
    texts: ParameterTexts,
    test: Annotated[float, typer.Option(min=0.01, max=0.99, help="Fraction of the rows to test on.")] = 0.25,
    json: AsJson = False,
) -> None:
    """Compare both searches and LightGBM retrained on its best columns, on held-out rows."""
    with one_line_errors():
        parameters = with_categorical(parse_texts(texts), _names(categorical_words), table)
        from rich.console import Console

        from gtgbm.cli.compare import CompareOptions, run_compare
        from gtgbm.cli.fit import Source
        from gtgbm.cli.loading import Roles
        from gtgbm.cli.models import ModelOptions

        source = Source(table, Roles(target, weight), _names(exclude))
        options = CompareOptions(source, ModelOptions(kind.value, parameters), test, json)
        run_compare(options, Console(stderr=True, quiet=json))


@app.command()
def demo(
    rows: Annotated[int, typer.Option(min=1000, help="Number of training rows to generate.")] = 20_000,
    columns: Annotated[int, typer.Option(min=315, help="Number of columns to generate.")] = 2_000,
    penalty: Annotated[
        float, typer.Option(min=0, max=0.999, help="Cost of the first use of a feature.")
    ] = 0.003,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the data and the model.")] = 0,
    quick: Annotated[
        bool, typer.Option("--quick", help="At most 5,000 rows and 500 columns, and no comparison.")
    ] = False,
) -> None:
    """Find 15 relevant columns among thousands, and compare with a model of all columns."""
    from gtgbm.cli.demo import run_demo

    if quick:
        rows, columns = min(rows, 5_000), min(columns, 500)
    run_demo(rows, columns, penalty, seed, compare=not quick)


def _names(options: Names) -> list[str]:
    return [name.strip() for option in options or [] for name in option.split(",")]
