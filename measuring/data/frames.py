"""Training tables as pandas dataframes, with columns of dtype ``category``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from measuring.data.folds import Fold
from measuring.data.sources import Source, stored_arrays, stored_file
from measuring.data.stored import FLIGHT_CATEGORIES, FLIGHT_TARGET, NYC_ROWS
from measuring.data.task import random_split


def flight_frame(data_dir: Path) -> Fold:
    """Departures delayed by 15 minutes; 6 of the 8 columns are categories."""
    frame = pd.read_csv(stored_file(data_dir, "flight_delay", "train-0.1m.csv.gz"))
    y = (frame.pop(FLIGHT_TARGET) == "Y").to_numpy(dtype=np.float64)
    return _split(frame.astype(dict.fromkeys(FLIGHT_CATEGORIES, "category")), y)


def nycflights_frame(data_dir: Path) -> Fold:
    """Departures delayed by 15 minutes; 5 of the 25 columns are categories, with missing values."""
    with stored_arrays(data_dir, "nycflights13", "X", "y", "is_categorical", "feature_names") as arrays:
        rows = np.random.default_rng(Source("nycflights13").seed).permutation(arrays["X"].shape[0])[:NYC_ROWS]
        frame = pd.DataFrame(arrays["X"][rows], columns=arrays["feature_names"].tolist())
        categorical = frame.columns[arrays["is_categorical"]]
        y = arrays["y"][rows] * 1.0
    return _split(frame.astype(dict.fromkeys(categorical, "category")), y)


def _split(frame: pd.DataFrame, y: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> Fold:
    train = random_split(y.shape[0], 0)
    X, X_test = (frame[rows].reset_index(drop=True) for rows in (train, ~train))
    return Fold(X, y[train], X_test, y[~train])
