"""Write small model files of the present format version to tests/model_file, to be read by all later ones.

Run once before each release that changes the format: ``python tools/keep_model_files.py``.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from gtgbm import (
    GTGBMClassifier,
    GTGBMRanker,
    GTGBMRegressor,
    MultitaskGTGBMClassifier,
    MultitaskGTGBMRegressor,
    load_model,
    save_model,
)
from gtgbm.model_file import FORMAT_VERSION

PLACE = Path(__file__).parents[1] / "tests" / "model_file" / f"v{FORMAT_VERSION}"


def main() -> None:
    """Fit and write."""
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(200, 4)), 3)
    X[::9, 1] = np.nan
    y = np.round(np.nan_to_num(X[:, 1]) + X[:, 2], 3)
    town = rng.choice(["Bonn", "Köln", "Ulm"], 200).astype(object)
    town[::7] = None
    frame = pd.DataFrame({"town": town, "x": X[:, 2]})
    few: dict[str, Any] = {"n_estimators": 3, "max_depth": 3, "random_state": 0}
    PLACE.mkdir(parents=True, exist_ok=True)
    keep("classifier", GTGBMClassifier(**few).fit(X, y > 0), X)
    keep("three-classes", GTGBMClassifier(**few).fit(X, np.digitize(y, [-1.0, 1.0])), X)
    keep("poisson", GTGBMRegressor(loss="poisson", **few).fit(X, np.rint(np.abs(y))), X)
    keep("ranker", GTGBMRanker(**few).fit(X, y > 0, qid=np.arange(200) // 10), X)
    keep("dataframe", GTGBMRegressor(**few).fit(frame, y + (town == "Bonn")), frame)
    tasks = MultitaskGTGBMRegressor(categorical="column", **few)
    keep("tasks", tasks.fit(frame, np.column_stack([y + (town == "Bonn"), -y])), frame)
    one = MultitaskGTGBMClassifier(method="single-task", **few)
    keep("tasks-in-one", one.fit(X, np.column_stack([y > 0, X[:, 0] > 0])), X)


def keep(name: str, model: Any, X: Any) -> None:
    """Write a model, and what it predicts for the first rows."""
    path = PLACE / f"{name}.json"
    save_model(model, path)
    rows = X[:10]
    plain = rows.to_dict(orient="list") if isinstance(rows, pd.DataFrame) else rows
    text = json.dumps(
        {
            "X": plain if isinstance(plain, dict) else plain.tolist(),
            "prediction": model.predict(rows).tolist(),
        }
    )
    path.with_suffix(".expected").write_text(text + "\n")
    assert load_model(path).predict(rows).tolist() == model.predict(rows).tolist()


if __name__ == "__main__":
    main()
