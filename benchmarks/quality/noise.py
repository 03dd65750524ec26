"""How often features of noise are selected, over many generated tables without any signal.

    python -m benchmarks.quality.noise [--tables 200]

The table goes into docs/choosing-a-penalty.md, between marker lines.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from measuring.environment import environment
from measuring.files import ROOT
from measuring.markdown import facts, table, write_between
from measuring.peers.gtgbm_models import Target, estimator

PAGE = ROOT / "docs" / "choosing-a-penalty.md"
TREES, LIMIT = 50, 5
SHAPES = ((60, 10), (150, 40), (400, 20), (400, 300), (1500, 60))
KINDS = ("numbers", "heavy tails", "categories", "sparse counts")
TARGETS: tuple[Target, ...] = ("regression", "binary", "multiclass")
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "default penalty": ("auto", {}),
    '`penalty="auto"`, all features searched': ("auto", {"penalty": "auto", "search": "exhaustive"}),
    '`penalty="auto"`, group testing': ("auto", {"penalty": "auto", "search": "group-testing"}),
    f"`n_features_to_select={LIMIT}`, forward-backward": (
        "forward-backward",
        {"n_features_to_select": LIMIT},
    ),
}


def tables(n_tables: int) -> Iterator[tuple[Any, Any, Target, dict[str, Any]]]:
    """Yield tables of various shapes and kinds, with targets that do not depend on them."""
    for seed in range(n_tables):
        rng = np.random.default_rng([seed, 71])
        n, d = SHAPES[seed % len(SHAPES)]
        kind, target = KINDS[seed // len(SHAPES) % len(KINDS)], TARGETS[seed % len(TARGETS)]
        X: Any = rng.normal(size=(n, d))
        if kind == "heavy tails":
            X = rng.standard_cauchy(size=(n, d))
        elif kind == "categories":
            X[:, : d // 2] = rng.integers(0, 12, (n, d // 2))
        elif kind == "sparse counts":
            X = rng.poisson(0.15, (n, d)) * 1.0
        y: Any = rng.standard_t(3, n)
        if target != "regression":
            share = rng.choice([0.2, 0.5])
            y = np.digitize(y, np.quantile(y, [share] if target == "binary" else [share, 0.8]))
        given = {"categorical_features": list(range(d // 2))} if kind == "categories" else {}
        yield X, y, target, given


def measure(n_tables: int) -> str:
    """Count the tables of which features are selected, and the features."""
    rows = []
    for name, (model, parameters) in METHODS.items():
        selected = []
        for seed, (X, y, target, given) in enumerate(tables(n_tables)):
            fitted = estimator(model, target, n_estimators=TREES, random_state=seed, **parameters, **given)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # nothing selected is what should be
                selected.append(fitted.fit(X, y).n_selected_features_)
        rows.append([name, f"{np.count_nonzero(selected)} of {n_tables}", f"{np.mean(selected):.2f}"])
        print(*rows[-1], sep=" | ", flush=True)
    return table(["", "tables with a feature selected", "features per table"], rows)


def main() -> None:
    """Run the measurement."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--tables", type=int, default=200)
    n_tables = parser.parse_args().tables
    command = f"`python -m benchmarks.quality.noise --tables {n_tables}`"
    about = environment(("gtgbm", "numpy")) | {"Command": command}
    write_between(PAGE, "noise", f"{measure(n_tables)}\n\n{facts(about)}.\n")


if __name__ == "__main__":
    main()
