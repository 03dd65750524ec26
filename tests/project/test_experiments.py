"""The paper's experiments, quick and on generated data: everything runs, and what must hold does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("lightgbm")
image = pytest.importorskip("matplotlib.image")

from experiments import complexity  # noqa: E402
from experiments.common.methods import AGBM, GBFS, GT_PAPER, TOPK  # noqa: E402
from experiments.common.page import write_page  # noqa: E402
from experiments.common.queries import precision_at  # noqa: E402
from experiments.common.record import Context  # noqa: E402
from experiments.common.store import draw, read  # noqa: E402
from experiments.phase import frontier, growth  # noqa: E402
from experiments.registry import EXPERIMENTS  # noqa: E402
from experiments.theorem1 import memberships  # noqa: E402
from measuring.figures import is_blank  # noqa: E402
from measuring.files import ROOT  # noqa: E402

REQUIRED = {"theorem1": 1, "phase": 3, "table3": 3, "correlation": 1}
"""Experiments with claims that must hold, and how many: a claim must not vanish unseen."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of a quick run of everything, in a process of its own: peers warn as they please."""
    out = tmp_path_factory.mktemp("results")
    command = [sys.executable, "-m", "experiments", "all", "--quick", "--out", str(out)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return out


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_quick_run(folder: Path, name: str) -> None:
    stored = read(folder, name)
    assert stored is not None
    assert stored.command == f"python -m experiments {name} --quick"
    claims = EXPERIMENTS[name].claims(stored.results)
    assert sum(claim.required for claim in claims) == REQUIRED.get(name, 0)
    assert [claim for claim in claims if claim.required and not claim.holds] == []
    assert "| " in (folder / f"{name}.md").read_text(encoding="utf-8")
    assert not is_blank(image.imread(folder / f"{name}.png"))
    assert "<path" in (folder / f"{name}.svg").read_text(encoding="utf-8")


def test_what_is_timed_can_run_in_a_process_of_its_own() -> None:
    """As in full runs: quick ones do without the processes."""
    given = {"method": AGBM, "n": 200, "d": 20, "s": 2, "threads": 1, "n_trees": 2}
    assert Context(threads=1).call(complexity.cost, **given)["training_seconds"] > 0
    assert Context(threads=1, quick=True).call(os.getpid) == os.getpid() != Context().call(os.getpid)


def test_topk_is_timed_with_no_more_features_than_the_others(folder: Path) -> None:
    stored = read(folder, "time_curves")
    assert stored is not None
    for task in stored.results["tasks"].values():
        features = {method: curve["features"] for method, curve in task["curves"].items()}
        assert features[TOPK] <= max(features[method] for method in (GBFS, AGBM, GT_PAPER))


def test_the_page_counts_the_claims_first(folder: Path, tmp_path: Path) -> None:
    assert write_page(folder, tmp_path / "page.md") == []
    text = (tmp_path / "page.md").read_text(encoding="utf-8")
    claims = [claim for name in EXPERIMENTS for claim in draw(EXPERIMENTS[name], folder)]
    n_held = sum(claim.holds for claim in claims)
    assert f"Of {len(claims)} claims" in text
    assert f"| all |  | {n_held} | {len(claims) - n_held} |" in text
    assert text.index("| all |") < text.index('id="theorem1"')
    assert all(f"{claim.text}: {claim.numbers}." in text for claim in claims)
    assert "stand-in" in text


def test_stored_results_are_drawn_as_they_are() -> None:
    """What is committed can be read by the code it is committed with, and holds no folder of a machine."""
    for name, experiment in EXPERIMENTS.items():
        stored = read(ROOT / "experiments" / "results", name)
        if stored is not None:
            assert experiment.tables(stored.results)
            assert experiment.claims(stored.results)
            assert "quick" not in stored.command
            assert "/tmp" not in json.dumps(stored.results)


def test_a_white_figure_is_blank() -> None:
    page = np.ones((50, 50, 4))
    assert is_blank(page)
    page[10:30, 10:30] = 0
    assert not is_blank(page)


def test_memberships_are_draws_without_replacement() -> None:
    inside = memberships(6, 3, (20_000,), np.random.default_rng(0))
    assert inside.sum(axis=1).max() <= 2  # a subset has two of six features
    np.testing.assert_allclose(inside.mean(axis=0), 1 / 3, atol=0.015)


def test_frontier_of_success() -> None:
    rates = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.2]]
    places = frontier((100, 200, 400), (10, 20, 30), rates)
    assert places == [pytest.approx(100 * 2**0.5), pytest.approx(200 * 2**0.5), None]
    assert growth((10, 20, 40), [5.0, 10.0, 20.0]) == pytest.approx(1.0)
    assert growth((10, 20, 30), places) is None


def test_precision_at_two() -> None:
    y, scores = np.array([1.0, 0, 0, 1, 1]), np.array([3.0, 2, 1, 0, 5])
    assert precision_at(2, y, scores, np.array([0, 0, 0, 0, 1])) == pytest.approx((0.5 + 1.0) / 2)
