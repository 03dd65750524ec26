"""Many threads that predict with one model at the same time get the bits that one thread gets."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import numpy as np
import pytest

from gtgbm import AGBMClassifier, load_model, serving

N_THREADS, N_CALLS = 24, 5


@pytest.mark.parametrize("way", ["proba", "contributions", "compact", "scorer", "loaded"])
def test_threads_get_the_bits_of_one(way: str, tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(3000, 8))
    model = AGBMClassifier(n_estimators=20, n_jobs=2, random_state=0)
    model.fit(X, np.digitize(X[:, 0] + X[:, 1], [-0.5, 0.5]))
    compute = ways(model, X, tmp_path)[way]
    expected = compute()
    together = Barrier(N_THREADS)

    def calls(_: int) -> list[bytes]:
        together.wait(timeout=60)
        return [compute() for _ in range(N_CALLS)]

    with ThreadPoolExecutor(N_THREADS) as threads:
        found = [one for calls_of_thread in threads.map(calls, range(N_THREADS)) for one in calls_of_thread]
    assert len(found) == N_THREADS * N_CALLS
    assert set(found) == {expected}


def ways(model: Any, X: Any, folder: Path) -> dict[str, Callable[[], bytes]]:
    """Return ways to predict, which give the bytes of their results."""
    model.save_model(folder / "model.json")
    scorer, compact, selected = serving.load(folder / "model.json"), model.compact(), model.transform(X)

    def loaded() -> bytes:
        return bytes(load_model(folder / "model.json").predict_proba(X[:500]).tobytes())

    return {
        "proba": lambda: bytes(model.predict_proba(X).tobytes()),
        "contributions": lambda: np.asarray(model.predict_contributions(X[:200])).tobytes(),
        "compact": lambda: bytes(compact.predict_proba(selected).tobytes()),
        "scorer": lambda: np.asarray([scorer.predict_proba(row) for row in selected[:100]]).tobytes(),
        "loaded": loaded,
    }
