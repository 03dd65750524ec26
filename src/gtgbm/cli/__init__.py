"""The command line: ``gtgbm``."""

from __future__ import annotations

from typing import Annotated

import typer

import gtgbm
from gtgbm.cli.demo import run_demo

app = typer.Typer(
    help="Gradient boosted trees that choose few features while they train.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


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
def demo(
    rows: Annotated[int, typer.Option(min=1000, help="Training rows to generate.")] = 20_000,
    columns: Annotated[int, typer.Option(min=315, help="Columns to generate.")] = 2_000,
    penalty: Annotated[float, typer.Option(min=0, max=0.999, help="Price of a feature's first use.")] = 0.003,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the data and the model.")] = 0,
) -> None:
    """Look for 15 relevant columns among thousands, and compare with training on all of them."""
    run_demo(rows, columns, penalty, seed)
