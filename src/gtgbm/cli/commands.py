"""The commands and their options; what each does stands in a module of its own."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

import gtgbm
from gtgbm.cli.compare import run_compare
from gtgbm.cli.demo import run_demo
from gtgbm.cli.errors import one_line_errors
from gtgbm.cli.fit import FitOptions, run_fit
from gtgbm.cli.inspect import run_inspect
from gtgbm.cli.loading import Roles
from gtgbm.cli.predict import run_predict
from gtgbm.cli.report import run_report

app = typer.Typer(
    help="Gradient boosted trees that choose few features while they train.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

TableFile = Annotated[
    Path, typer.Argument(help="CSV (also .gz), Parquet, Feather, or libsvm.", show_default=False)
]
ModelFile = Annotated[Path, typer.Argument(help="A model that gtgbm fit wrote.", show_default=False)]
Target = Annotated[
    str | None, typer.Option(help="Column to predict (libsvm: not needed).", show_default=False)
]
Names = list[str] | None
Exclude = Annotated[Names, typer.Option(help="Column to leave out; repeat it, or separate by commas.")]
Categorical = Annotated[
    Names,
    typer.Option(help="Column of categories that looks like numbers; text needs no mention. Repeatable."),
]


class Unit(str, Enum):
    """What is bought of a categorical column."""

    column = "column"
    category = "category"


class Kind(str, Enum):
    """Kinds of tasks."""

    auto = "auto"
    classification = "classification"
    regression = "regression"
    ranking = "ranking"


class Search(str, Enum):
    """Ways to look for new features."""

    auto = "auto"
    group_testing = "group-testing"
    exhaustive = "exhaustive"


CategoricalAs = Annotated[
    Unit, typer.Option(help="What is bought of categories: the whole column, or each category by itself.")
]
Weight = Annotated[str | None, typer.Option(help="Column of row weights.")]
KindOption = Annotated[Kind, typer.Option(help="What to learn; auto looks at the target and --qid.")]
MaxFeatures = Annotated[int | None, typer.Option(min=1, help="Most features to select.")]
Shortlist = Annotated[
    float | None,
    typer.Option(
        min=1,
        help="With --max-features: select so many times as many, then keep the better half, again and again.",
    ),
]
Penalty = Annotated[
    float,
    typer.Option(min=0, max=0.999, help="Price of a feature's first use: a share of the squared error."),
]
Trees = Annotated[int, typer.Option(min=1, help="Rounds of boosting.")]
LearningRate = Annotated[float, typer.Option(min=0, help="Factor on each tree.")]
Loss = Annotated[
    str | None,
    typer.Option(
        help="log_loss, squared_error, absolute_error, huber, quantile, poisson, tweedie, lambdarank, ..."
    ),
]
Seed = Annotated[int, typer.Option(min=0, help="Seed of everything random.")]
Jobs = Annotated[int | None, typer.Option(help="Threads; the result does not depend on them.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="No progress bars.")]


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


@app.command()
def fit(
    table: TableFile,
    out: Annotated[Path, typer.Option(help="Where the model goes, a JSON file.", show_default=False)],
    target: Target = None,
    max_features: MaxFeatures = None,
    shortlist: Shortlist = None,
    penalty: Penalty = 0.001,
    task: Annotated[str | None, typer.Option(help="Column that names the task of each row.")] = None,
    task_penalty: Annotated[
        float | None, typer.Option(help="With --task: price of a feature that another task has already.")
    ] = None,
    qid: Annotated[str | None, typer.Option(help="Column that names the query of each row: ranking.")] = None,
    weight: Weight = None,
    exclude: Exclude = None,
    categorical: Categorical = None,
    categorical_as: CategoricalAs = Unit.column,
    kind: KindOption = Kind.auto,
    loss: Loss = None,
    metric: Annotated[str | None, typer.Option(help="Metric to follow, such as auc, rmse, ndcg@10.")] = None,
    valid: Annotated[
        str | None,
        typer.Option(help="File or fraction of rows to follow the metric on.", metavar="FILE|FRACTION"),
    ] = None,
    early_stopping: Annotated[
        int | None,
        typer.Option(min=1, help="Stop after so many rounds without a better metric; needs --valid."),
    ] = None,
    time_limit: Annotated[
        float | None, typer.Option(min=0, help="Stop training after so many seconds.")
    ] = None,
    trees: Trees = 100,
    learning_rate: LearningRate = 0.1,
    search: Annotated[Search, typer.Option(help="How to look for new features.")] = Search.auto,
    seed: Seed = 0,
    jobs: Jobs = None,
    json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Train on a table file and write the model.

    Prints the selected features in the order they were bought: what each gained, what it cost, and the loss
    or validation metric after it.

    gtgbm fit data.parquet --target clicked --max-features 20 --out model.json
    """
    parameters: dict[str, Any] = {
        "n_features_to_select": max_features,
        "shortlist": shortlist,
        "penalty": penalty,
        "task_penalty": task_penalty,
        "categorical": categorical_as.value,
        "loss": loss,
        "eval_metric": metric,
        "early_stopping_rounds": early_stopping,
        "n_estimators": trees,
        "learning_rate": learning_rate,
        "search": search.value,
        "random_state": seed,
        "n_jobs": jobs,
        "verbose": 0 if quiet or json else 1,
    }
    roles = Roles(target, weight, qid, task)
    with one_line_errors():
        run_fit(
            FitOptions(
                table,
                roles,
                out,
                kind.value,
                parameters,
                _names(exclude),
                _names(categorical),
                valid,
                time_limit,
                json,
            ),
            Console(stderr=True, quiet=quiet),
        )


@app.command()
def predict(
    model: ModelFile,
    table: TableFile,
    out: Annotated[Path | None, typer.Option(help="A CSV file; without it, stdout.")] = None,
    task: Annotated[str | None, typer.Option(help="Column that names the task of each row.")] = None,
) -> None:
    """Predict the rows of a table file, in order.

    Only the selected columns need be in the table; others are ignored.
    """
    with one_line_errors():
        run_predict(model, table, out, task, Console(stderr=True))


@app.command()
def inspect(
    model: ModelFile,
    tree: Annotated[int | None, typer.Option(help="Print this tree instead.")] = None,
    json: AsJson = False,
) -> None:
    """Say what a model holds: its features, in order, or one of its trees."""
    with one_line_errors():
        run_inspect(model, tree, json)


@app.command()
def report(
    model: ModelFile,
    table: Annotated[
        Path | None,
        typer.Argument(help="Rows to look at, better not those it was trained on; by default those."),
    ] = None,
    out: Annotated[Path, typer.Option(help="Where the report goes.")] = Path("report.html"),
    target: Target = None,
    qid: Annotated[str | None, typer.Option(help="Column that names the query of each row.")] = None,
    task: Annotated[str | None, typer.Option(help="Column that names the task of each row.")] = None,
    title: Annotated[str | None, typer.Option(help="Title of the report.")] = None,
) -> None:
    """Write a report: one HTML file to open in a browser or to send to a colleague.

    What was selected and in which order, what each feature adds, which columns could stand in for each
    other, how good the predictions are. The target and the table are those the model was trained on unless
    you name others.
    """
    with one_line_errors():
        run_report(model, table, Roles(target, None, qid, task), out, title, Console(stderr=True))


@app.command()
def compare(
    table: TableFile,
    target: Target = None,
    max_features: MaxFeatures = 20,
    penalty: Penalty = 0.001,
    weight: Weight = None,
    exclude: Exclude = None,
    categorical: Categorical = None,
    categorical_as: CategoricalAs = Unit.column,
    kind: KindOption = Kind.auto,
    test: Annotated[float, typer.Option(min=0.01, max=0.99, help="Share of rows to test on.")] = 0.25,
    trees: Trees = 100,
    learning_rate: LearningRate = 0.1,
    seed: Seed = 0,
    jobs: Jobs = None,
    json: AsJson = False,
) -> None:
    """Compare our two searches, and LightGBM's best columns retrained, on rows that none of them saw."""
    parameters: dict[str, Any] = {
        "n_features_to_select": max_features,
        "penalty": penalty,
        "categorical": categorical_as.value,
        "n_estimators": trees,
        "learning_rate": learning_rate,
        "random_state": seed,
        "n_jobs": jobs,
    }
    with one_line_errors():
        options = FitOptions(
            table,
            Roles(target, weight),
            Path("-"),
            kind.value,
            parameters,
            _names(exclude),
            _names(categorical),
            None,
            None,
            json,
        )
        run_compare(options, test, Console(stderr=True, quiet=json))


@app.command()
def demo(
    rows: Annotated[int, typer.Option(min=1000, help="Training rows to generate.")] = 20_000,
    columns: Annotated[int, typer.Option(min=315, help="Columns to generate.")] = 2_000,
    penalty: Annotated[float, typer.Option(min=0, max=0.999, help="Price of a feature's first use.")] = 0.003,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the data and the model.")] = 0,
    quick: Annotated[
        bool, typer.Option("--quick", help="At most 5,000 rows and 500 columns, and no comparison.")
    ] = False,
) -> None:
    """Look for 15 relevant columns among thousands, and compare with training on all of them."""
    if quick:
        rows, columns = min(rows, 5_000), min(columns, 500)
    run_demo(rows, columns, penalty, seed, compare=not quick)


def _names(given: Names) -> list[str]:
    return [name.strip() for one in given or [] for name in one.split(",")]
