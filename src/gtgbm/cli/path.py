"""``gtgbm path``: how many features are enough."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from gtgbm.cli.errors import UserError
from gtgbm.cli.fit import Source
from gtgbm.cli.models import ModelOptions
from gtgbm.cli.output import path_figures, print_json
from gtgbm.cli.prediction_file import check_out
from gtgbm.explain import selection_path
from gtgbm.files import write_aside
from gtgbm.plots import SelectionPathDisplay
from gtgbm.report import write_path_page
from gtgbm.selection import SelectionPath

_PICTURES = (".png", ".svg", ".pdf")


@dataclass(frozen=True)
class PathOptions:
    """Options of ``gtgbm path``."""

    source: Source
    model: ModelOptions
    folds: int
    sizes: list[int] | None
    scoring: str | None
    out: Path | None
    as_json: bool


def run_path(options: PathOptions, console: Console) -> None:
    """Cross-validate several numbers of features, print them and say how many are enough."""
    _check_out(options.out)
    loaded = options.source.load(options.model.kind, options.model.parameters, console)
    if "target" not in loaded.columns:
        raise UserError("--target is missing: name the target column")
    path = selection_path(
        options.model.make(loaded),
        loaded.X,
        loaded.columns["target"],
        cv=options.folds,
        sizes=options.sizes,
        scoring=options.scoring,
        sample_weight=loaded.columns.get("weight"),
        qid=loaded.columns.get("qid"),
        task=loaded.columns.get("task"),
        random_state=int(options.model.parameters.get("random_state") or 0),
        verbose=0 if console.quiet or options.as_json else 1,
    )
    if options.out is not None:
        _write(path, options.out, options.source)
    if options.as_json:
        print_json(_as_json(path))
        return
    Console().print(_table(path))
    Console().print(path.verdict(), markup=False, highlight=False)
    if options.out is not None:
        console.print(str(options.out), markup=False, highlight=False)


def _check_out(out: Path | None) -> None:
    if out is None:
        return
    if out.suffix not in (".html", *_PICTURES):
        raise UserError(f"--out {out}: give a file that ends in .html, .png, .svg or .pdf")
    check_out(out)


def _write(path: SelectionPath, out: Path, source: Source) -> None:
    """Write a page or a picture by the suffix of its name."""
    if out.suffix == ".html":
        name = "" if source.is_piped else f", {source.table.name}"
        write_path_page(path, out, title=f"How many features are enough{name}")
        return
    picture = io.BytesIO()
    SelectionPathDisplay.from_path(path).figure_.savefig(picture, format=out.suffix[1:], dpi=150)
    write_aside(out, picture.getvalue())


def _table(path: SelectionPath) -> Table:
    table = Table()
    for heading in ("features", path.scoring, "std. error", "stability", ""):
        table.add_column(heading, justify="left" if heading == "" else "right")
    for one in path.rows():
        figures = (str(one.size), f"{one.mean_score:.4f}", f"{one.std_error:.4f}", f"{one.stability:.2f}")
        table.add_row(*figures, one.mark, style="bold" if one.mark else None)
    return table


def _as_json(path: SelectionPath) -> dict[str, Any]:
    figures = path_figures(path)
    sizes = [of_size | {"features": path.names(of_size["size"])} for of_size in figures["sizes"]]
    return figures | {"sizes": sizes}
