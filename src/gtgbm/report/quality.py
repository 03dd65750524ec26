"""Quality of predictions: metrics, curves and residuals for each kind of targets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.metrics import confusion_matrix

from gtgbm.estimators import HeldOut
from gtgbm.exact import F64, I64
from gtgbm.metrics import metric_of
from gtgbm.plots import COLOURS, QUIET, heat_map, plain_axes, shades, shown
from gtgbm.report.binary import binary_pictures, confusion_picture, draw_rocs
from gtgbm.report.sample import Sample
from gtgbm.report.svg import Picture, picture

_MOST_CLASSES = len(COLOURS)
_PLACES = (1, 2, 3, 5, 10, 20, 50)


def confusion(sample: Sample, classes: Sequence[Any]) -> Picture | None:
    """Confusion matrix of two classes; None for other targets."""
    if sample.rows.kind != "binary":
        return None
    rows, prediction = sample.rows.pooled(sample.prediction)
    return confusion_picture(rows.y, prediction, classes)


def quality_pictures(sample: Sample, classes: Sequence[Any]) -> list[Picture]:
    """Draw the plots for the kind of targets; rows of all tasks are pooled."""
    rows, prediction = sample.rows.pooled(sample.prediction)
    if rows.kind == "multiclass":
        return _of_classes(rows.y.astype(np.int64), prediction, classes)
    if rows.kind == "binary":
        return binary_pictures(rows.y, prediction)
    if rows.kind == "relevance":
        return _of_rankings(rows, prediction)
    return _of_numbers(rows.y, prediction)


def _of_classes(y: I64, p: F64, classes: Sequence[Any]) -> list[Picture]:
    present = np.argsort(-np.bincount(y, minlength=len(classes)), kind="stable").tolist()
    drawn = [k for k in present if 0 < np.count_nonzero(y == k) < y.shape[0]][:_MOST_CLASSES]
    labels = dict(zip(drawn, shown([classes[k] for k in drawn], 16), strict=True))
    most = f" The {len(drawn)} most frequent of {len(classes)} classes." if len(drawn) < len(classes) else ""

    def draw_curves(ax: Any) -> None:
        draw_rocs(ax, [(labels[k], (y == k).astype(np.float64), p[:, k]) for k in drawn])

    def draw_confusion(ax: Any) -> None:
        counts = confusion_matrix(y, np.argmax(p, axis=1), labels=drawn).astype(np.float64)
        of_class = np.array([np.count_nonzero(y == k) for k in drawn])
        heat_map(
            ax, counts / of_class[:, None], list(labels.values()), list(labels.values()), "share of rows"
        )
        ax.set_xlabel("predicted")
        ax.set_ylabel("true")

    if not drawn:
        return []
    side = 2.0 + 0.35 * max(len(drawn), 4)
    return [
        picture(draw_curves, "ROC curves", f"Each class against the others.{most}"),
        picture(
            draw_confusion,
            "Confusion matrix",
            f"Each row shows how the rows of a true class are predicted, as fractions.{most}",
            size=(side + 0.6, side),
        ),
    ]


def _of_numbers(y: F64, prediction: F64) -> list[Picture]:
    residual = y - prediction

    def draw_pairs(ax: Any) -> None:
        # Outliers would leave most of the plot empty.
        low, high = np.quantile(np.concatenate([y, prediction]), [0.005, 0.995])
        edges = np.linspace(low, high if high > low else low + 1.0, 41)
        counts, _, _ = np.histogram2d(prediction, y, bins=[edges, edges])
        extent = (edges[0], edges[-1], edges[0], edges[-1])
        image = {"cmap": shades(), "origin": "lower", "extent": extent, "aspect": "auto"}
        ax.imshow(np.sqrt(counts.T), interpolation="nearest", **image)
        ax.plot(edges[[0, -1]], edges[[0, -1]], color=QUIET, linestyle="--", linewidth=1)
        ax.set_xlabel("predicted")
        ax.set_ylabel("true")
        plain_axes(ax)

    def draw_residuals(ax: Any) -> None:
        low, high = np.quantile(residual, [0.005, 0.995])
        bins = np.linspace(low, high if high > low else low + 1.0, 41)
        ax.hist(np.clip(residual, bins[0], bins[-1]), bins=bins, color=COLOURS[0], linewidth=0)
        ax.axvline(0.0, color=QUIET, linestyle="--", linewidth=1)
        ax.set_xlabel("true minus predicted")
        ax.set_ylabel("rows")
        plain_axes(ax)

    def draw_by_prediction(ax: Any) -> None:
        _draw_residuals_by(ax, prediction, residual)

    return [
        picture(
            draw_pairs,
            "True against predicted",
            "A cell of a stronger colour has more rows. The outermost 1% of the values are left out.",
        ),
        picture(draw_residuals, "Residuals", "The outermost 1% are counted in the first and last bars."),
        picture(
            draw_by_prediction,
            "Residuals by prediction",
            "Median and central 80% of the residuals in groups of increasing prediction. A line that is not "
            "flat shows a bias.",
        ),
    ]


def _draw_residuals_by(ax: Any, prediction: F64, residual: F64) -> None:
    groups = [g for g in np.array_split(np.argsort(prediction, kind="stable"), 20) if g.shape[0]]
    x = [prediction[rows].mean() for rows in groups]
    low, middle, high = np.array([np.quantile(residual[rows], [0.1, 0.5, 0.9]) for rows in groups]).T
    ax.fill_between(x, low, high, color=COLOURS[0], alpha=0.2, linewidth=0)
    ax.plot(x, middle, marker="o", markersize=3, color=COLOURS[0])
    ax.axhline(0.0, color=QUIET, linestyle="--", linewidth=1)
    ax.set_xlabel("predicted")
    ax.set_ylabel("true minus predicted")
    plain_axes(ax)


def _of_rankings(rows: HeldOut, prediction: F64) -> list[Picture]:
    y, qid = rows.y, rows.qid
    tied: F64 = np.zeros(y.shape[0])
    of_queries = rows.measured_by_query(metric_of("ndcg@10"), prediction)
    of_queries = of_queries[~np.isnan(of_queries)]

    def by_places(scores: F64) -> list[float]:
        return [metric_of(f"ndcg@{k}")(y, scores, None, qid) for k in _PLACES]

    def draw_places(ax: Any) -> None:
        ax.plot(_PLACES, by_places(prediction), marker="o", color=COLOURS[0], label="model")
        ax.plot(_PLACES, by_places(tied), marker="o", color=QUIET, linestyle="--", label="random order")
        ax.set_xscale("log")
        ax.set_xticks(_PLACES, [str(k) for k in _PLACES])
        ax.minorticks_off()
        ax.set_xlabel("k")
        ax.set_ylabel("NDCG@k")
        ax.legend(frameon=False)
        plain_axes(ax)

    def draw_queries(ax: Any) -> None:
        ax.hist(of_queries, bins=np.linspace(0, 1, 21), color=COLOURS[0], linewidth=0)
        ax.set_xlabel("NDCG@10 of a query")
        ax.set_ylabel("queries")
        plain_axes(ax)

    return [
        picture(draw_places, "NDCG@k", "Mean over queries that have a relevant document."),
        picture(
            draw_queries,
            "NDCG@10 of queries",
            "Distribution over queries: those on the left are ranked badly.",
        ),
    ]
