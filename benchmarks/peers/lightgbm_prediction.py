"""LightGBM predicting with our trees."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
from numpy.typing import NDArray

from benchmarks.prediction_jobs import BATCH, COMPACT_BATCH, COMPACT_ROW, ROW, SINGLE_ROW_CALL, Calls, Tables
from gtgbm import Tree

_MISSING_IS_NAN = 8
_MISSING_GOES_LEFT = 2
_FLOAT64, _NORMAL = 1, 0
"""Numbers of LightGBM's C interface: a dtype and a kind of prediction."""


def calls(folder: Path, tables: Tables, threads: int) -> Calls:
    """Return what is timed: ``Booster.predict``, and the C function for single rows."""
    full = lightgbm.Booster(model_file=folder / "full.txt")
    compact = lightgbm.Booster(model_file=folder / "compact.txt")
    # Checking the number of columns is left out, which is LightGBM's fastest.
    options: dict[str, Any] = {"num_threads": threads, "predict_disable_shape_check": True}
    return {
        ROW: lambda: full.predict(tables.row, **options),
        BATCH: lambda: full.predict(tables.batch, **options),
        COMPACT_ROW: lambda: compact.predict(tables.compact_row, **options),
        COMPACT_BATCH: lambda: compact.predict(tables.compact_batch, **options),
        SINGLE_ROW_CALL: _SingleRow(compact, tables.compact_row.shape[1], threads, tables.compact_row),
    }


class _SingleRow:
    """``LGBM_BoosterPredictForMatSingleRowFast``, which does most of its work once beforehand."""

    def __init__(self, booster: lightgbm.Booster, n_columns: int, threads: int, row: NDArray[Any]) -> None:
        self._library: Any = lightgbm.basic.__dict__["_LIB"]
        self._config = ctypes.c_void_p()
        self._keep_alive = booster, row
        self._out, self._length = (ctypes.c_double * 1)(), ctypes.c_int64()
        self._row = row.ctypes.data_as(ctypes.c_void_p)
        parameters = f"num_threads={threads} predict_disable_shape_check=true".encode()
        status = self._library.LGBM_BoosterPredictForMatSingleRowFastInit(
            booster._handle, _NORMAL, 0, -1, _FLOAT64, n_columns, parameters, ctypes.byref(self._config)
        )
        if status != 0:
            raise RuntimeError("LightGBM refuses to prepare single rows")

    def __call__(self) -> list[float]:
        self._library.LGBM_BoosterPredictForMatSingleRowFast(
            self._config, self._row, ctypes.byref(self._length), self._out
        )
        return list(self._out)


def write_model(path: Path, trees: Sequence[Tree], n_features: int) -> None:
    """Write the trees of a binary log loss, whose scores begin at 0, in LightGBM's own format."""
    head = [
        "tree",
        "version=v4",
        "num_class=1",
        "num_tree_per_iteration=1",
        "label_index=0",
        f"max_feature_idx={n_features - 1}",
        "objective=binary sigmoid:1",
        "feature_names=" + " ".join(f"Column_{k}" for k in range(n_features)),
        "feature_infos=" + " ".join(["[-1e+300:1e+300]"] * n_features),
        "",
    ]
    parts = [_tree(k, tree) for k, tree in enumerate(trees)]
    text = "\n".join([*head, *parts, "end of trees", "", "parameters:", "end of parameters", ""])
    path.write_text(text, encoding="ascii")


def _tree(number: int, tree: Tree) -> str:
    """Inner nodes and leaves are numbered apart there; a leaf is written as -1 - its number."""
    if tree.is_category.any():
        raise ValueError("trees with categories are not written")
    is_leaf = np.asarray(tree.feature < 0)
    inner, leaves = np.flatnonzero(~is_leaf), np.flatnonzero(is_leaf)
    code = np.empty(tree.n_nodes, dtype=np.int64)
    code[inner], code[leaves] = np.arange(inner.shape[0]), -1 - np.arange(leaves.shape[0])
    zeros = [0] * inner.shape[0]
    decision = _MISSING_IS_NAN + _MISSING_GOES_LEFT * tree.missing_left[inner].astype(np.int64)
    fields = {
        "split_feature": tree.feature[inner].tolist(),
        "split_gain": tree.gain[inner].tolist(),
        "threshold": tree.threshold[inner].tolist(),
        "decision_type": decision.tolist(),
        "left_child": code[tree.left[inner]].tolist(),
        "right_child": code[tree.left[inner] + 1].tolist(),
        "leaf_value": tree.value[leaves].tolist(),
        "leaf_weight": tree.n_rows[leaves].tolist(),
        "leaf_count": tree.n_rows[leaves].tolist(),
        "internal_value": zeros,
        "internal_weight": zeros,
        "internal_count": tree.n_rows[inner].tolist(),
    }
    lines = [f"Tree={number}", f"num_leaves={leaves.shape[0]}", "num_cat=0"]
    lines += [f"{name}={_listed(values)}" for name, values in fields.items()]
    return "\n".join([*lines, "is_linear=0", "shrinkage=1", "", ""])


def _listed(values: Iterable[float]) -> str:
    return " ".join(map(repr, values))
