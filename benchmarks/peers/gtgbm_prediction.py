"""Our own models predicting."""

from __future__ import annotations

import pickle
from pathlib import Path

from benchmarks.prediction_jobs import BATCH, COMPACT_BATCH, COMPACT_ROW, ROW, SINGLE_ROW_CALL, Calls, Tables


def calls(folder: Path, tables: Tables, threads: int) -> Calls:
    """Return what is timed: ``predict_proba`` of the estimator and of its compact model."""
    model = pickle.loads((folder / "model.pickle").read_bytes()).set_params(n_jobs=threads)
    compact = model.compact()
    row = tables.compact_row[0]
    return {
        ROW: lambda: model.predict_proba(tables.row)[:, 1],
        BATCH: lambda: model.predict_proba(tables.batch)[:, 1],
        COMPACT_ROW: lambda: compact.predict_proba(row)[1:],
        COMPACT_BATCH: lambda: compact.predict_proba(tables.compact_batch)[:, 1],
        SINGLE_ROW_CALL: lambda: compact.predict_proba(row)[1:],
    }
