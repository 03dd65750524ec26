"""``gtgbm demo``: a fit on generated data, and how many of the relevant columns it selects."""

from __future__ import annotations

from time import perf_counter

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.metrics import roc_auc_score

from gtgbm.demo_data import N_RELEVANT, DemoData, make_demo_data
from gtgbm.estimators import AGBMClassifier, GTGBMClassifier


def run_demo(n_rows: int, n_columns: int, penalty: float, seed: int, compare: bool = True) -> None:
    """Fit GT-GBM to generated data, for comparison a model of all columns, and print the results."""
    console = Console()
    console.print(
        f"Generating {n_rows:,} rows x {n_columns:,} columns: {N_RELEVANT} relevant (9 alone, 3 pairs), "
        f"{20 * N_RELEVANT} correlated decoys, the rest noise."
    )
    train = make_demo_data(n_rows, n_columns, seed)
    test = make_demo_data(max(n_rows // 2, 1000), n_columns, seed, part=1)
    begin = perf_counter()
    model = GTGBMClassifier(penalty=penalty, random_state=seed, verbose=1).fit(train.X, train.y)
    seconds = perf_counter() - begin
    auc = float(roc_auc_score(test.y, model.predict_proba(test.X)[:, 1]))
    rows = [("GT-GBM", model.n_selected_features_, auc, seconds)]
    if compare:
        console.print(f"For comparison, training on all {n_columns:,} columns without a penalty:")
        begin = perf_counter()
        everything = AGBMClassifier(penalty=0.0, random_state=seed, verbose=1).fit(train.X, train.y)
        seconds = perf_counter() - begin
        auc = float(roc_auc_score(test.y, everything.predict_proba(test.X)[:, 1]))
        rows.append(("all columns", everything.n_selected_features_, auc, seconds))
    console.print(_selection(model, train))
    n_found = int(np.isin(train.relevant, model.selected_features_).sum())
    console.print(f"Relevant columns found: {n_found} of {N_RELEVANT}")
    results = Table(title="Few columns compared with all columns" if compare else None)
    for heading in ("", "columns used", "test AUC", "seconds"):
        results.add_column(heading, justify="right" if heading else "left")
    for name, n_columns_used, score, time in rows:
        results.add_row(name, str(n_columns_used), f"{score:.4f}", f"{time:.2f}")
    console.print(results)


def _selection(model: GTGBMClassifier, data: DemoData) -> Table:
    table = Table(title="Selected columns, in the order of selection")
    for heading in ("round", "column", "gain", "price", "what it is"):
        table.add_column(heading, justify="left" if heading == "what it is" else "right")
    relevant = set(data.relevant.tolist())
    for entry in model.selection_history_:
        source = int(data.decoy_of[entry.feature])
        kind = "relevant" if entry.feature in relevant else f"decoy of {source}" if source >= 0 else "noise"
        table.add_row(
            str(entry.tree + 1), str(entry.feature), f"{entry.gain:.4f}", f"{entry.price:.4f}", kind
        )
    return table
