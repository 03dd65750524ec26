"""The commands and their options. The module that implements a command is imported when the command runs."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

import gtgbm
from gtgbm.cli.cost_files import CostOptions
from gtgbm.cli.errors import one_line_errors
from gtgbm.cli.files import from_stdin
from gtgbm.cli.option_groups import (
    RUNNING,
    VALIDATION,
    AsJson,
    IdColumns,
    ModelFile,
    Names,
    Quiet,
    RowOptions,
    TableFile,
    Task,
    TextOptions,
    grouped,
    split_names,
    whole_numbers,
)
from gtgbm.cli.options import CommandWithDefaults, ParameterTexts, parameter_flags
from gtgbm.parameters import PARAMETERS

app = typer.Typer(
    help="Gradient boosted trees that choose few features while they train.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


class ExportFormat(str, Enum):
    """Formats of ``gtgbm export``; ``gtgbm.export`` has a function export_FORMAT for each."""

    LIGHTGBM = "lightgbm"
    ONNX = "onnx"
    TREELITE = "treelite"
    C = "c"


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
_SET_BY_PATH = ("n_features_to_select", "selection", "warm_start")
"""Parameters that ``gtgbm path`` sets itself."""


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
@grouped
@parameter_flags(list(PARAMETERS))
def fit(
    table: TableFile,
    out: Annotated[Path, typer.Option(help="Model file to write (JSON).", show_default=False)],
    *,
    rows: RowOptions,
    costs: CostOptions,
    id_columns: IdColumns = None,
    text: TextOptions,
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
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            help="File from which the same command goes on after an interruption.", rich_help_panel=RUNNING
        ),
    ] = None,
    json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Train on a table file and write the model.

    Prints the selected features: the most important first if there is a limit, else in the order of
    selection, with the training loss or validation metric after each. Every parameter of the estimators has a
    flag of the same name.

    gtgbm fit data.parquet --target clicked --n-features-to-select 20 --out model.json
    """
    with one_line_errors(), from_stdin(table) as path:
        from gtgbm.cli.loading import Roles

        text_format = text.format()
        roles = Roles(rows.target, rows.weight, rows.qid, task)
        ids, exclude = split_names(id_columns), split_names(rows.exclude)
        parameters = rows.parameters(texts, path, text_format)
        no_features = {*roles.named().values(), *ids, *exclude}
        parameters = costs.parameters(parameters, path, text_format, no_features)
        if quiet or json:
            parameters.setdefault("verbose", 0)
        from rich.console import Console

        from gtgbm.cli.fit import FitOptions, Running, Source, run_fit
        from gtgbm.cli.models import ModelOptions

        source = Source(path, roles, exclude, text_format, ids, path != table)
        running = Running(valid, time_limit, checkpoint)
        options = FitOptions(source, ModelOptions(rows.kind.value, parameters), out, running, json)
        run_fit(options, Console(stderr=True, quiet=quiet))


@app.command()
@grouped
def predict(
    model: ModelFile,
    table: TableFile,
    out: Annotated[
        Path | None, typer.Option(help="A CSV, Parquet or Feather file; without it, CSV to stdout.")
    ] = None,
    task: Annotated[str | None, typer.Option(help="Column that names the task of each row.")] = None,
    id_columns: Annotated[
        Names, typer.Option(help="Column to pass on; by default those that gtgbm fit was told.")
    ] = None,
    contributions: Annotated[
        bool,
        typer.Option("--contributions", help="Add what each selected column contributes to the score."),
    ] = False,
    *,
    text: TextOptions,
) -> None:
    """Predict the rows of a table file, in order.

    The table needs only the selected columns; others are ignored.
    """
    with one_line_errors(), from_stdin(table) as path:
        from rich.console import Console

        from gtgbm.cli.predict import PredictOptions, run_predict

        ids = None if id_columns is None else split_names(id_columns)
        options = PredictOptions(model, path, out, task, ids, text.format(), contributions)
        run_predict(options, Console(stderr=True))


@app.command()
def inspect(
    model: ModelFile,
    tree: Annotated[int | None, typer.Option(help="Print only this tree, counted from 0.")] = None,
    trees: Annotated[bool, typer.Option("--trees", help="Print all trees as text.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show a model: its selected features in order, or one or all of its trees."""
    with one_line_errors():
        from gtgbm.cli.inspect import run_inspect

        run_inspect(model, tree, trees, json)


@app.command()
def export(
    model: ModelFile,
    out: Annotated[
        Path,
        typer.Option(
            help="File to write; for several tasks with {task} in its name, a file for each.",
            show_default=False,
        ),
    ],
    file_format: Annotated[
        ExportFormat, typer.Option("--format", help="What to write it for.", show_default=False)
    ],
    task: Annotated[str | None, typer.Option(help="The only task to export.")] = None,
) -> None:
    """Write a model for another tool: LightGBM's text format, ONNX, treelite, or C without dependencies.

    gtgbm export model.json --format onnx --out model.onnx
    """
    with one_line_errors():
        from gtgbm.cli.export import run_export

        run_export(model, file_format.value, out, task)


@app.command()
@grouped
def report(
    model: ModelFile,
    table: Annotated[
        Path | None,
        typer.Argument(
            help="Held-out rows; by default those that fit --valid held out, else the training rows."
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="HTML file to write.")] = Path("report.html"),
    target: Annotated[
        str | None, typer.Option(help="Target column (not for libsvm files).", show_default=False)
    ] = None,
    qid: Annotated[str | None, typer.Option(help="Column with the query of each row.")] = None,
    task: Annotated[str | None, typer.Option(help="Column with the task of each row.")] = None,
    title: Annotated[str | None, typer.Option(help="Title of the report.")] = None,
    *,
    text: TextOptions,
) -> None:
    """Write a report of a model as one HTML file.

    It shows the quality of the predictions, the selected features in order, what each of them contributes
    and which columns could replace each other. The report uses the rows that gtgbm fit --valid held out;
    without --valid it uses the training rows and warns of it. Another table may be named after the model.
    The target is that of the training unless --target names another one.
    """
    with one_line_errors():
        from rich.console import Console

        from gtgbm.cli.loading import Roles
        from gtgbm.cli.report import run_report

        roles = Roles(target, None, qid, task)
        run_report(model, table, roles, out, title, text.format(), Console(stderr=True))


@app.command(cls=CommandWithDefaults)
@grouped
@parameter_flags(_COMPARED, defaults={"n_features_to_select": "20"})
def compare(
    table: TableFile,
    *,
    rows: RowOptions,
    text: TextOptions,
    texts: ParameterTexts,
    test: Annotated[float, typer.Option(min=0.01, max=0.99, help="Fraction of the rows to test on.")] = 0.25,
    json: AsJson = False,
) -> None:
    """Compare our two searches, and LightGBM's best columns retrained, on rows that none of them saw."""
    with one_line_errors(), from_stdin(table) as path:
        text_format = text.format()
        parameters = rows.parameters(texts, path, text_format)
        from rich.console import Console

        from gtgbm.cli.compare import CompareOptions, run_compare
        from gtgbm.cli.fit import Source
        from gtgbm.cli.loading import Roles
        from gtgbm.cli.models import ModelOptions

        roles = Roles(rows.target, rows.weight, rows.qid)
        source = Source(path, roles, split_names(rows.exclude), text_format)
        options = CompareOptions(source, ModelOptions(rows.kind.value, parameters), test, json)
        run_compare(options, Console(stderr=True, quiet=json))


@app.command(cls=CommandWithDefaults)
@grouped
@parameter_flags([name for name in PARAMETERS if name not in _SET_BY_PATH])
def path(
    table: TableFile,
    *,
    rows: RowOptions,
    costs: CostOptions,
    text: TextOptions,
    texts: ParameterTexts,
    task: Task = None,
    folds: Annotated[int, typer.Option(min=2, help="Parts of the cross-validation.")] = 5,
    sizes: Annotated[
        str | None,
        typer.Option(help="Numbers of features, such as 5,10,20.", metavar="NUMBERS", show_default=False),
    ] = None,
    scoring: Annotated[
        str | None,
        typer.Option(help="A metric of gtgbm or a scorer of scikit-learn.", show_default=False),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="A page (.html) or a picture (.png, .svg, .pdf) to write.", show_default=False),
    ] = None,
    json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Cross-validate several numbers of features, and say how many are enough.

    gtgbm path data.parquet --target clicked --out path.html
    """
    with one_line_errors(), from_stdin(table) as file:
        from rich.console import Console

        from gtgbm.cli.fit import Source
        from gtgbm.cli.loading import Roles
        from gtgbm.cli.models import ModelOptions
        from gtgbm.cli.path import PathOptions, run_path

        text_format = text.format()
        roles, exclude = Roles(rows.target, rows.weight, rows.qid, task), split_names(rows.exclude)
        parameters = rows.parameters(texts, file, text_format)
        parameters = costs.parameters(parameters, file, text_format, {*roles.named().values(), *exclude})
        # The progress shown is that of the folds.
        parameters.setdefault("verbose", 0)
        source = Source(file, roles, exclude, text_format, (), file != table)
        model = ModelOptions(rows.kind.value, parameters)
        options = PathOptions(source, model, folds, whole_numbers(sizes, "--sizes"), scoring, out, json)
        run_path(options, Console(stderr=True, quiet=quiet))


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
