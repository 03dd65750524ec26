"""Models as a C file without dependencies: arrays of nodes and a loop that walks down them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from os import PathLike
from typing import Any

import numpy as np

from gtgbm.export.files import export_files
from gtgbm.export.plain_model import PlainModel

_PER_LINE = 8
_CATEGORY, _MISSING_LEFT = 1, 2

_LOOP = """
/* Adds up the trees. x has GTGBM_COLUMNS numbers, NAN for missing ones; scores gets GTGBM_SCORES. */
void gtgbm_scores(const double *x, double *scores) {
    for (int s = 0; s < GTGBM_SCORES; ++s) scores[s] = start[s];
    for (int t = 0; t < GTGBM_TREES; ++t) {
        int k = root[t];
        while (column[k] >= 0) {
            const double v = x[column[k]];
            int is_left;
            if (isnan(v))
                is_left = (kind[k] & MISSING_LEFT) != 0;
            else if (kind[k] & CATEGORY)
                is_left = v != threshold[k];
            else
                is_left = v <= threshold[k];
            k = is_left ? left[k] : left[k] + 1;
        }
        scores[t % GTGBM_SCORES] += value[k];
    }
}
"""

_LINKS = {
    "identity": """
/* Predicts a number. */
void gtgbm_predict(const double *x, double *prediction) { gtgbm_scores(x, prediction); }
""",
    "exponential": """
/* Predicts a number. */
void gtgbm_predict(const double *x, double *prediction) {
    gtgbm_scores(x, prediction);
    prediction[0] = exp(prediction[0]);
}
""",
    "logistic": """
/* Predicts the probability of the second class. */
void gtgbm_predict(const double *x, double *prediction) {
    gtgbm_scores(x, prediction);
    prediction[0] = 1.0 / (1.0 + exp(-prediction[0]));
}
""",
    "softmax": """
/* Predicts the probability of each class. */
void gtgbm_predict(const double *x, double *prediction) {
    double largest, sum = 0.0;
    gtgbm_scores(x, prediction);
    largest = prediction[0];
    for (int s = 1; s < GTGBM_SCORES; ++s)
        if (prediction[s] > largest) largest = prediction[s];
    for (int s = 0; s < GTGBM_SCORES; ++s) sum += prediction[s] = exp(prediction[s] - largest);
    for (int s = 0; s < GTGBM_SCORES; ++s) prediction[s] /= sum;
}
""",
}
_LINKS["custom"] = _LINKS["identity"]


def export_c(estimator: Any, path: str | PathLike[str], *, task: Any = None) -> list[str]:
    """Write a fitted model as a C file (C99) that needs nothing but the C library's mathematics.

    It defines ``gtgbm_scores``, whose scores are equal to those of the model bit for bit, and
    ``gtgbm_predict``.

    Parameters
    ----------
    estimator : any fitted estimator of this package
    path : str or path
        The file to write; for several tasks with ``{task}`` in it, which becomes the name of each.
    task : object, optional
        The only task to write.

    Returns
    -------
    list of str
        The files written.
    """
    return export_files(estimator, path, task, lambda model: c_source(model).encode())


def c_source(model: PlainModel) -> str:
    """Return a model as C99."""
    model.warn_of_link()
    trees = model.trees
    root = np.cumsum([0, *(tree.n_nodes for tree in trees)])
    kinds = [_CATEGORY * tree.is_category + _MISSING_LEFT * tree.missing_left for tree in trees]
    left = [np.where(tree.left >= 0, tree.left + at, 0) for tree, at in zip(trees, root[:-1], strict=True)]
    parts = [
        f"/* A gtgbm model: {len(trees)} trees, {root[-1]} nodes. The columns that it reads:\n",
        *(f"     x[{column}]: {_comment(name)}\n" for column, name in _columns(model)),
        "   Build it with -lm where exp() is in a library of its own. */\n",
        "#include <math.h>\n\n",
        f"#define GTGBM_COLUMNS {model.n_features}\n",
        f"#define GTGBM_SCORES {model.n_scores}\n",
        f"#define GTGBM_TREES {len(trees)}\n\n",
        "void gtgbm_scores(const double *x, double *scores);\n",
        "void gtgbm_predict(const double *x, double *prediction);\n\n",
        f"enum {{ CATEGORY = {_CATEGORY}, MISSING_LEFT = {_MISSING_LEFT} }};\n\n",
        "/* Scores that the trees are added to. */\n",
        _array("double", "start", map(_number, model.start.tolist())),
        "/* First node of each tree. */\n",
        _array("int", "root", root[:-1].tolist()),
        "/* Column that a node splits on, -1 for a leaf. */\n",
        _array("int", "column", _joined(tree.feature for tree in trees)),
        "/* Values up to it go to the left child; of a category, all but the value itself. */\n",
        _array("double", "threshold", map(_number, _joined(tree.threshold for tree in trees))),
        "/* CATEGORY: the threshold is a category. MISSING_LEFT: missing values go to the left child. */\n",
        _array("unsigned char", "kind", _joined(kinds)),
        "/* Left child; the right child is the next node. */\n",
        _array("int", "left", _joined(left)),
        "/* What a leaf adds to the score. */\n",
        _array("double", "value", map(_number, _joined(tree.value for tree in trees))),
        _LOOP,
        _LINKS[model.link],
    ]
    return "".join(parts)


def _columns(model: PlainModel) -> list[tuple[int, str]]:
    used = np.unique(_joined(tree.feature for tree in model.trees))
    return [(column, model.names[column]) for column in used.tolist() if column >= 0]


def _comment(name: str) -> str:
    """Return a name that ends neither a comment nor a line of it, without characters that cannot be seen.

    Compilers warn of marks that change the direction of text, and read two question marks as the beginning of
    a trigraph.
    """
    seen = "".join(letter if letter.isprintable() else " " for letter in name)
    clean = " ".join(seen.split()).replace("*/", "* /").replace("/*", "/ *")
    while "??" in clean:
        clean = clean.replace("??", "? ?")
    return clean


def _joined(arrays: Iterable[Any]) -> list[Any]:
    joined: list[Any] = [number for array in arrays for number in array.tolist()]
    return joined


def _number(value: float) -> str:
    """Return a number as a literal that a compiler reads exactly."""
    if math.isnan(value):
        return "NAN"
    if math.isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    return repr(value)


def _array(kind: str, name: str, values: Iterable[Any]) -> str:
    texts = list(map(str, values))
    lines = [", ".join(texts[at : at + _PER_LINE]) for at in range(0, len(texts), _PER_LINE)]
    return f"static const {kind} {name}[] = {{\n    " + ",\n    ".join(lines) + "};\n"
