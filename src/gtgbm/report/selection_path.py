"""A page about a selection path: how many features are enough."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from gtgbm.files import write_aside
from gtgbm.plots import COLOURS, SelectionFrequencyDisplay, SelectionPathDisplay
from gtgbm.report.svg import DARK_COLOURS, picture
from gtgbm.report.templates import page_template
from gtgbm.selection import SelectionPath

_ROW_INCHES = 0.25


def write_path_page(path: SelectionPath, file: str | PathLike[str], *, title: str | None = None) -> Path:
    """Write a selection path as one HTML file.

    Parameters
    ----------
    path : SelectionPath
    file : str or path
        The file to write, aside first and then renamed.
    title : str, optional

    Returns
    -------
    Path
        The path of the file.
    """
    template = page_template("path.html.j2")
    n_rows = min(40, int((path.selection_frequency.sum(axis=0) > 0.0).sum()))
    pictures = [
        picture(
            lambda ax: SelectionPathDisplay.from_path(path, ax=ax),
            "Score against the number of features",
            "The band is one standard error on both sides of the mean over the folds.",
            size=(6.4, 3.6),
        ),
        picture(
            lambda ax: SelectionFrequencyDisplay.from_path(path, ax=ax),
            "How often features are selected",
            "Share of the folds whose model of a size selects the feature; those selected most often.",
            size=(6.4, 1.2 + _ROW_INCHES * max(4, n_rows)),
        ),
    ]
    page = template.render(
        title=title or "How many features are enough",
        verdict=path.verdict(),
        scoring=path.scoring,
        n_folds=path.fold_scores.shape[0],
        n_columns=path.n_columns,
        best=path.best_size,
        enough=path.one_se_size,
        names=path.names(path.one_se_size),
        pictures=pictures,
        rows=[(*of_size, path.names(of_size.size)) for of_size in path.rows()],
        colours=COLOURS,
        dark_colours=DARK_COLOURS,
    )
    write_aside(file, page.encode("utf-8", errors="replace"))
    return Path(file)
