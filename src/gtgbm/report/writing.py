"""Collects the content of a report and writes the HTML file."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gtgbm.estimators import is_multitask
from gtgbm.explain import feature_names, path_of, purchases
from gtgbm.files import write_aside
from gtgbm.plots import COLOURS
from gtgbm.report import (
    contributions,
    dependence,
    features,
    overview,
    quality,
    similarity,
    smaller_models,
    tasks,
    verdict,
)
from gtgbm.report.metric_names import metric_label
from gtgbm.report.sample import Sample, checked_use, draw_sample, held_out_part
from gtgbm.report.source import RowSource
from gtgbm.report.svg import DARK_COLOURS
from gtgbm.report.templates import page_template

_SEED = 0
"""Seed of sampling and permutations: the same model and rows give the same report."""


def write_report(
    model: Any,
    X: Any,
    y: Any,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    names: Sequence[Any] | None = None,
    metric: str | None = None,
    qid: Any = None,
    task: Any = None,
    train: Mapping[str, Any] | None = None,
    compare_all: bool = False,
    threshold: float = 0.9,
    max_rows: int = 10_000,
    source: RowSource | None = None,
) -> Path:
    """Write a report of a fitted model: one HTML file that needs no other files and no network.

    Parameters
    ----------
    model : any fitted estimator of this package
    X, y : array-like, shape (n, d) and (n,)
        The rows that all metrics are measured on, preferably held-out rows. `X` may be an array, a sparse
        matrix or a dataframe; `y` may have shape (n, T) for multitask models.
    path : str or path
        The file to write. A temporary file is written first and then renamed, so that the file is never
        incomplete.
    title : str, optional
    names : sequence of str, shape (d,), optional
        Names of the columns; by default those of the training table, or x0, x1, ...
    metric : str, optional
        A name from ``gtgbm.metrics``. By default AUC for two classes, accuracy for more classes, RMSE for
        numbers, NDCG@10 for rankings.
    qid, task : array-like, shape (n,), optional
        Queries or tasks of the rows.
    train : mapping, optional
        The arguments of ``fit`` by name, such as ``{"X": X_train, "y": y_train}``. If given, up to six
        models with fewer features are fitted and compared with the model.
    compare_all : bool
        Fit a model without feature cost or limit to `train` as well, for a minute at most, and say in the
        verdict what it reaches.
    threshold : float
        Columns with at least this absolute correlation are listed as interchangeable.
    max_rows : int
        If there are more rows, at most this many are drawn at random.
    source : RowSource, optional
        What the table is called, and whether the model was trained on these rows. By default that is not
        known, unless the rows have exactly the loss that the model recorded in training. The report warns of
        rows that were trained on. Of the table of a fit with early stopping, it shows only the rows that
        ``validation_fraction`` held out.

    Returns
    -------
    Path
        The path of the file.
    """
    template = page_template("page.html.j2")
    check_is_fitted(model, "trees_")
    if train is not None and not (isinstance(train, Mapping) and {"X", "y"} <= set(train)):
        raise ValueError('train must hold the arguments of fit by name, such as {"X": X_train, "y": y_train}')
    if compare_all and train is None:
        raise ValueError("compare_all=True fits another model: give train, the arguments of fit")
    if not 0.0 < threshold <= 1.0:
        raise ValueError(f"threshold={threshold} must be above 0 and at most 1")
    if max_rows < 2:
        raise ValueError(f"max_rows={max_rows} must be at least 2")
    if not Path(path).parent.is_dir():
        raise FileNotFoundError(f"path={os.fspath(path)!r}: there is no directory {str(Path(path).parent)!r}")
    all_names = feature_names(model, names)
    source = RowSource() if source is None else source
    X, y, qid, task, source = held_out_part(model, X, y, qid, task, source)
    sample = draw_sample(
        model, X, y, metric=metric, qid=qid, task=task, max_rows=max_rows, seed=_SEED, source=source
    )
    sample = checked_use(model, sample, X, y, qid, task)
    facts = _facts(model, sample, all_names, threshold)
    if train is not None:
        facts["smaller"] = smaller_models.fit_smaller_models(model, sample, train)
        facts["smaller_picture"] = smaller_models.smaller_picture(facts["smaller"], facts["metric"])
    if train is not None and compare_all:
        more = smaller_models.all_features_sentence(model, sample, train, facts["metric"])
        facts["verdict"] = f"{facts['verdict']} {more}"
    facts["title"] = title or f"{facts['n_selected']:,} of {len(all_names):,} columns selected"
    page = template.render(facts, colours=COLOURS, dark_colours=DARK_COLOURS)
    # Names may hold lone surrogates, which UTF-8 cannot encode.
    write_aside(path, page.encode("utf-8", errors="replace"))
    return Path(path)


def _facts(model: Any, sample: Sample, names: Sequence[str], threshold: float) -> dict[str, Any]:
    """Return the content of the page, by section."""
    selected, metric = purchases(model), metric_label(sample.metric.name)
    path = path_of(model, sample.X, sample.rows, sample.metric, sample.task)
    permutation = features.permutation_importances(model, sample, _SEED)
    table = features.feature_table(model, selected, names, path, permutation)
    similar = similarity.measure_similarity(model, sample, _SEED)
    classes = list(getattr(model, "classes_", ()))
    metrics = verdict.metric_table(sample, _SEED)
    given, usual = overview.setting_lines(model)
    facts: dict[str, Any] = {
        "model": type(model).__name__,
        "verdict": verdict.verdict(sample, metrics[0], model, len(names)),
        "source": sample.source,
        "metric": metric,
        "headline": metrics[0],
        "baseline": verdict.baseline_name(sample),
        "averaging": verdict.averaging(sample),
        "score": sample.score,
        "n_columns": len(names),
        "n_selected": int(model.selected_features_.shape[0]),
        "n_rows": sample.n_rows,
        "n_total": sample.n_total,
        "is_sampled": sample.n_rows < sample.n_total,
        "data": overview.data_lines(sample, similar, classes),
        "features": table,
        "chosen_first": features.chosen_first(selected),
        "largest": features.largest_values(table),
        "with_costs": any(feature.cost != 1.0 for feature in table),
        "total_cost": model.total_cost_,
        "path_pictures": features.path_pictures(selected, names, path, metric),
        "permutation_picture": (
            features.permutation_picture(permutation, names, metric) if permutation else None
        ),
        "n_correlated_rows": similar.n_rows,
        "correlation_picture": similarity.correlation_picture(similar, names) if selected else None,
        "rejected": similarity.best_rejected(similar, names),
        "groups": similarity.groups(similar, names, threshold),
        "threshold": threshold,
        "metrics": metrics,
        "dependence_picture": dependence.dependence_picture(model, sample, names, classes, _SEED),
        "contribution_picture": contributions.contribution_picture(model, sample, names, _SEED),
        "confusion_picture": quality.confusion(sample, classes),
        "quality_pictures": quality.quality_pictures(sample, classes),
        "settings": given,
        "default_settings": usual,
        "training": overview.training_lines(model),
        "timings": overview.timing_lines(model),
        "versions": overview.version_lines(),
    }
    if is_multitask(model):
        facts["tasks"] = tasks.task_lines(model, sample)
        facts["task_pictures"] = tasks.task_pictures(model, names)
        facts["n_shared"] = int(np.size(model.shared_features_))
    return facts
