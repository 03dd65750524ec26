"""Test scores at equal total cost, where features cost different amounts, against other libraries.

    python -m benchmarks.quality.costs [--tables 3] [--threads 1]

Each relevant quantity of the generated tables is there twice: exactly, at a high cost, and with noise, at a
low one. The peers have no budget: each is trained at every penalty of a grid, and the model within the budget
that is best *on the test rows* counts, which favours them. The table goes into docs/feature-costs.md, between
marker lines.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from measuring.data import Data
from measuring.environment import environment
from measuring.files import ROOT
from measuring.markdown import facts, spread, table, write_between
from measuring.peers import catboost_models, lightgbm_models
from measuring.peers.gtgbm_models import estimator
from measuring.selections import judged, score, settings

PAGE = ROOT / "docs" / "feature-costs.md"
ROWS, TEST_ROWS, RELEVANT, NOISE, TREES = 2_000, 4_000, 12, 76, 100
BUDGETS = (5.0, 15.0, 40.0)
PENALTIES = tuple(float(penalty) for penalty in np.geomspace(3e-4, 0.2, 8))
OURS, CATBOOST, LIGHTGBM, GREEDY = (
    "gtgbm, `cost_budget`",
    "CatBoost, `first_feature_use_penalties`",
    "LightGBM, `cegb_penalty_feature_coupled`",
    "LightGBM, by gain / cost, retrained",
)


class Result(NamedTuple):
    """Columns of a model, its score on the test rows, and that of the judge retrained on these columns."""

    columns: list[int]
    own: float
    judge: float = 0.0


def generated(seed: int) -> tuple[Data, NDArray[np.float64]]:
    """Return a table and the cost of each column."""
    rng = np.random.default_rng([seed, 19])
    n, effects = ROWS + TEST_ROWS, rng.gamma(1.5, size=RELEVANT)
    exact = rng.normal(size=(n, RELEVANT))
    noisy = exact + rng.uniform(0.3, 1.2, RELEVANT) * rng.normal(size=(n, RELEVANT))
    X = np.hstack([exact, noisy, rng.normal(size=(n, NOISE))])
    shaped = np.where(np.arange(RELEVANT) % 3 == 0, np.tanh(2.0 * exact), exact)
    signal = shaped @ effects + exact[:, 0] * exact[:, 1]
    y = signal + 0.5 * signal.std() * rng.normal(size=n)
    high, low = rng.uniform(2.0, 12.0, RELEVANT), rng.uniform(0.5, 2.0, RELEVANT)
    costs = np.concatenate([high, low, rng.uniform(0.5, 12.0, NOISE)])
    order = rng.permutation(X.shape[1])
    X, costs = X[:, order].astype(np.float32), np.round(costs[order], 1)
    data = Data(X[:ROWS], y[:ROWS], X[ROWS:], y[ROWS:], kind="regression")
    return data, costs


def ours(data: Data, costs: NDArray[np.float64], threads: int, seed: int) -> dict[float, Result]:
    """Fit one model for each budget."""
    found = {}
    for budget in BUDGETS:
        model = estimator(
            "forward-backward",
            "regression",
            cost_budget=budget,
            feature_costs=costs,
            n_estimators=TREES,
            n_jobs=threads,
            random_state=seed,
        ).fit(data.X_train, data.y_train)
        found[budget] = Result(model.selected_features_.tolist(), score(data, model.predict(data.X_test)))
    return found


def within_budgets(results: list[Result], costs: NDArray[np.float64]) -> dict[float, Result]:
    """Return the result with the best score within each budget."""
    return {
        budget: max(
            (result for result in results if costs[result.columns].sum() <= budget),
            key=lambda result: result.own,
            default=Result([], 0.0),
        )
        for budget in BUDGETS
    }


def by_penalties(
    train: Callable[[Any], tuple[list[int], Callable[[Any], Any]]], data: Data, job: Any
) -> list[Result]:
    """Train at every penalty of the grid."""
    results = []
    for penalty in PENALTIES:
        columns, predict = train(replace(job, penalty=penalty))
        results.append(Result(columns, score(data, predict(data.X_test))))
    return results


def greedy(data: Data, costs: NDArray[np.float64], job: Any) -> dict[float, Result]:
    """Take the columns with the largest gain per cost that fit into each budget, and retrain on them."""
    gain = lightgbm_models.train(job, data).booster.feature_importance("gain")
    found = {}
    for budget in BUDGETS:
        columns: list[int] = []
        for column in np.argsort(-gain / costs, kind="stable").tolist():
            if costs[[*columns, column]].sum() <= budget and gain[column] > 0.0:
                columns.append(column)
        found[budget] = Result(columns, judged(job, data, columns)[0])
    return found


def measured(seed: int, threads: int) -> dict[str, dict[float, Result]]:
    """Return the results of all methods on one table."""
    data, costs = generated(seed)
    job = settings(TREES, threads, seed)

    def lightgbm(job: Any) -> tuple[list[int], Callable[[Any], Any]]:
        trained = lightgbm_models.train_costs(job, data, costs)
        return trained.features().tolist(), trained.predict

    results = {
        OURS: ours(data, costs, threads, seed),
        CATBOOST: within_budgets(
            by_penalties(lambda job: catboost_models.train_costs(job, data, costs), data, job), costs
        ),
        LIGHTGBM: within_budgets(by_penalties(lightgbm, data, job), costs),
        GREEDY: greedy(data, costs, job),
    }
    # The same judge for all: LightGBM retrained on the columns.
    for of_method in results.values():
        for budget, found in of_method.items():
            of_method[budget] = found._replace(judge=judged(job, data, found.columns)[0])
    return results


def measure(n_tables: int, threads: int) -> str:
    """Measure all tables, and return the table of results."""
    of_tables = []
    for seed in range(n_tables):
        of_tables.append(measured(seed, threads))
        for name, of_method in of_tables[-1].items():
            shown = [f"{found.own:.3f} {found.judge:.3f}" for found in of_method.values()]
            print(seed, name, *shown, sep=" | ", flush=True)
    rows = []
    for budget in BUDGETS:
        mine = [of_table[OURS][budget] for of_table in of_tables]
        for name in (OURS, CATBOOST, LIGHTGBM, GREEDY):
            theirs = [of_table[name][budget] for of_table in of_tables]
            scores = [spread([getattr(one, kind) for one in theirs], 3) for kind in ("own", "judge")]
            ahead = [
                sum(
                    getattr(one, kind) > getattr(other, kind) for one, other in zip(mine, theirs, strict=True)
                )
                for kind in ("own", "judge")
            ]
            rows.append([f"{budget:g}", name, *scores, "" if name == OURS else f"{ahead[0]}, {ahead[1]}"])
    head = ["budget", "", "R² of its own model", "R² of LightGBM on its features"]
    return table([*head, f"gtgbm is ahead in, of {n_tables} tables"], rows)


def main() -> None:
    """Run the measurement."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--tables", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    command = f"`python -m benchmarks.quality.costs --tables {options.tables}`"
    about = environment(("gtgbm", "catboost", "lightgbm", "numpy")) | {"Command": command}
    write_between(PAGE, "costs", f"{measure(options.tables, options.threads)}\n\n{facts(about)}.\n")


if __name__ == "__main__":
    main()
