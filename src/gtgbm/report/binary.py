"""Curves and the confusion matrix of two classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.metrics import precision_recall_curve, roc_curve

from gtgbm.exact import F64
from gtgbm.metrics import METRICS
from gtgbm.plots import COLOURS, QUIET, plain_axes, shades, shown
from gtgbm.report.svg import Picture, picture

THRESHOLD = 0.5
"""Of the confusion matrix: that of ``predict``."""
_TOP = 0.1
"""Share of rows that the caption of the gain curve is about."""


def binary_pictures(y: F64, p: F64) -> list[Picture]:
    """ROC, precision-recall, gain and calibration; the first three need rows of both classes."""
    calibration = picture(
        lambda ax: _draw_calibration(ax, y, np.clip(p, 0.0, 1.0)),
        "Calibration",
        "Rows in ten groups of rising predicted probability against the observed share of positives. On the "
        "dashed line, probabilities can be taken at face value.",
    )
    if np.unique(y).shape[0] < 2:
        return [calibration]
    taken, found = _gain(y, p)
    share = float(np.interp(_TOP, taken, found))
    return [
        picture(
            lambda ax: draw_rocs(ax, [(f"AUC {METRICS['auc'](y, p):.3f}", y, p)]),
            "ROC curve",
            "True-positive against false-positive rate, for every threshold.",
        ),
        picture(
            lambda ax: _draw_precision_recall(ax, y, p),
            "Precision-recall curve",
            f"Dashed: the share of positives, {y.mean():.1%}, which a random order has.",
        ),
        picture(
            lambda ax: _draw_gain(ax, taken, found),
            "Cumulative gain",
            f"The {_TOP:.0%} of rows with the highest predictions hold {share:.0%} of the positives: "
            f"a lift of {share / _TOP:.1f}.",
        ),
        calibration,
    ]


def confusion_picture(y: F64, p: F64, classes: Sequence[Any]) -> Picture:
    """Draw what is predicted for the rows of each class, at the threshold of ``predict``."""
    predicted = p > THRESHOLD
    counts = np.array([[np.count_nonzero((y == k) & (predicted == j)) for j in (0, 1)] for k in (0, 1)])
    (_, false), (missed, true) = counts.tolist()
    precision = f"{true / (true + false):.3f}" if true + false else "undefined"
    recall = f"{true / (true + missed):.3f}" if true + missed else "undefined"
    names = shown(classes, 16)

    def draw(ax: Any) -> None:
        shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
        ax.imshow(shares, cmap=shades(), vmin=0.0, vmax=1.0, aspect="auto", interpolation="nearest")
        for k in (0, 1):
            for j in (0, 1):
                text = f"{counts[k, j]:,}\n{shares[k, j]:.1%}"
                # Text takes the page's own colour, except on dark cells.
                colour = {"color": "white"} if shares[k, j] > 0.55 else {}
                ax.text(j, k, text, ha="center", va="center", fontsize=11, **colour)
        ax.set_xticks([0, 1], names)
        ax.set_yticks([0, 1], names)
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)
        ax.set_xlabel("predicted")
        ax.set_ylabel("true")

    return picture(
        draw,
        f"Confusion matrix at threshold {THRESHOLD}",
        f"Rows, and shares of each true class. Precision {precision}, recall {recall} for {names[1]}.",
        size=(4.6, 2.6),
    )


def draw_rocs(ax: Any, curves: Sequence[tuple[str, F64, F64]]) -> None:
    """Draw a ROC curve for each label."""
    for colour, (label, y, p) in zip(COLOURS, curves, strict=False):
        false, true, _ = roc_curve(y, p)
        kept = _some(false.shape[0])
        ax.plot(false[kept], true[kept], color=colour, label=label, linewidth=1.5)
    ax.plot([0, 1], [0, 1], color=QUIET, linestyle="--", linewidth=1)
    ax.set_xlabel("false-positive rate")
    ax.set_ylabel("true-positive rate")
    ax.legend(frameon=False, loc="lower right")
    plain_axes(ax)


def _draw_precision_recall(ax: Any, y: F64, p: F64) -> None:
    precision, recall, _ = precision_recall_curve(y, p)
    kept = _some(recall.shape[0])
    label = f"average precision {METRICS['average_precision'](y, p):.3f}"
    ax.plot(recall[kept], precision[kept], color=COLOURS[0], linewidth=1.5, label=label)
    ax.axhline(y.mean(), color=QUIET, linestyle="--", linewidth=1)
    ax.set_xlabel("recall")
    ax.set_ylabel("precision")
    ax.set_ylim(0, 1.02)
    ax.legend(frameon=False)
    plain_axes(ax)


def _gain(y: F64, p: F64) -> tuple[F64, F64]:
    """Return shares of rows, highest predictions first, and of positives among them; ties are one step."""
    order = np.argsort(-p, kind="stable")
    ends = np.concatenate([np.flatnonzero(np.diff(p[order])), [p.shape[0] - 1]])
    found = np.cumsum(y[order])[ends] / y.sum()
    return np.concatenate([[0.0], (ends + 1) / p.shape[0]]), np.concatenate([[0.0], found])


def _draw_gain(ax: Any, taken: F64, found: F64) -> None:
    kept = _some(taken.shape[0])
    ax.plot(taken[kept], found[kept], color=COLOURS[0], linewidth=1.5)
    ax.plot([0, 1], [0, 1], color=QUIET, linestyle="--", linewidth=1)
    ax.set_xlabel("share of rows, highest predictions first")
    ax.set_ylabel("share of positives found")
    plain_axes(ax)


def _some(n: int) -> Any:
    """Pick some hundred of n points: enough for a smooth line."""
    return np.unique(np.linspace(0, n - 1, 300).astype(np.int64))


def _draw_calibration(ax: Any, y: F64, p: F64) -> None:
    groups = [rows for rows in np.array_split(np.argsort(p, kind="stable"), 10) if rows.shape[0]]
    ax.plot([0, 1], [0, 1], color=QUIET, linestyle="--", linewidth=1)
    ax.plot(
        [p[rows].mean() for rows in groups], [y[rows].mean() for rows in groups], marker="o", color=COLOURS[0]
    )
    ax.set_xlabel("predicted probability")
    ax.set_ylabel("observed share")
    plain_axes(ax)
