"""The comparison at equal numbers of features: splits, decoys, methods, kept scores, paired differences."""

from __future__ import annotations

import json
import runpy
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("lightgbm")
pytest.importorskip("matplotlib")

from experiments import frontier
from experiments.common.cells import Cells, Difference, Score
from experiments.common.record import Context
from gtgbm import GTGBMRegressor
from measuring.data import Data, whole
from measuring.selections import LABELS, Selections, available, judged, settings


@pytest.fixture(scope="module")
def data() -> Data:
    """Ten columns of sixty matter."""
    return whole.friedman(700, 60)(None).split(0, 500, 1000)


def test_splits_are_disjoint_and_repeatable() -> None:
    table = whole.Table(np.arange(100, dtype=np.float32)[:, None], np.arange(100) % 2)
    first, again, other = (table.split(seed, 60, 30) for seed in (0, 0, 1))
    train, test = set(first.X_train.ravel()), set(first.X_test.ravel())
    assert (len(train), len(test), len(train & test)) == (60, 30, 0)
    np.testing.assert_array_equal(first.X_train, again.X_train)
    assert not np.array_equal(first.X_train, other.X_train)


def test_a_query_is_not_divided() -> None:
    query = np.repeat(np.arange(20), 7)
    table = whole.Table(query[:, None].astype(np.float32), query % 2, query=query)
    split = table.split(3, 50, 1000)
    assert split.n_rows == 49  # the query that would be cut is tested
    assert not set(split.X_train.ravel()) & set(split.X_test.ravel())
    assert split.n_rows + len(split.y_test) == len(query)


@pytest.mark.parametrize("kind", ["random", "corrupted", "second-order"])
def test_decoys_stand_among_the_columns(kind: whole.Decoys) -> None:
    base = whole.breast_cancer(None)
    table = whole.with_decoys(whole.breast_cancer, kind)(None)
    assert table.X.shape == (569, 120)
    np.testing.assert_array_equal(table.y, base.y)
    originals = {column.tobytes() for column in base.X.T}
    assert sum(column.tobytes() in originals for column in table.X.T) == 30
    likeness = np.abs(np.corrcoef(base.X.T, table.X.T)[:30, 30:]).max(axis=0)
    # A copy with noise of half a standard deviation correlates by 1 / sqrt(1.25) = 0.89.
    assert (np.median(likeness) > 0.85) == (kind == "corrupted")


def test_categories_become_columns_for_all() -> None:
    codes = np.array([[0.0, 5.0], [1.0, 6.0], [2.0, 7.0]], dtype=np.float32)
    table = whole.joined(Data(codes[:2], np.array([0, 1]), codes[2:], np.array([1]), categorical=(0,)))
    np.testing.assert_array_equal(table.X.toarray(), [[5, 1, 0, 0], [6, 0, 1, 0], [7, 0, 0, 1]])
    np.testing.assert_array_equal(table.y, [0, 1, 1])


@pytest.mark.filterwarnings("ignore")  # peers warn as they please
@pytest.mark.parametrize("method", LABELS)
def test_each_method_chooses_what_matters(method: str, data: Data) -> None:
    if not available(method):
        pytest.skip("catboost is not installed")
    job = settings(20, 1, 0)
    choices = list(Selections(job, data).choose(method, (5, 10)))
    assert [choice.size for choice in choices] == [10, 5]
    by_chance = judged(job, data, list(range(10)))[0]
    for choice in choices:
        assert 0 < len(set(choice.columns)) == len(choice.columns) <= choice.size
        assert choice.seconds > 0
        assert judged(job, data, choice.columns)[0] > by_chance + 0.1
        if choice.predict is not None:
            assert np.shape(choice.predict(data.X_test)) == (200,)


def test_gtgbm_is_compared_at_its_defaults(data: Data) -> None:
    model = GTGBMRegressor(n_features_to_select=8, n_estimators=20, random_state=0, n_jobs=1)
    model.fit(data.X_train, data.y_train)
    (choice,) = Selections(settings(20, 1, 0), data).choose("gtgbm", (8,))
    assert choice.predict is not None
    np.testing.assert_array_equal(choice.predict(data.X_test), model.predict(data.X_test))


def test_the_judge_does_not_mind_the_order_of_columns(data: Data) -> None:
    job = settings(10, 1, 0)
    assert judged(job, data, [5, 1, 9])[0] == judged(job, data, [9, 5, 1])[0]


def test_no_column_is_judged_as_a_constant(data: Data) -> None:
    constant = judged(settings(10, 1, 0), data, [])[0]
    assert -0.1 < constant <= 0


@pytest.fixture
def cells() -> Cells:
    """Ours is ahead of `gain` at 5, behind it at 10, and as good on average at 20."""
    found = Cells({})
    found.describe("a", kind="binary", label="A", seen=True, shape=[3, 2, 1])
    for size, gaps in ((5, (0.1, 0.11, 0.12)), (10, (-0.1, -0.11, -0.12)), (20, (0.3, -0.3, 0.01))):
        for split, gap in enumerate(gaps):
            found.add("a", "gtgbm", size, split, Score(size, 0.5 + gap, 0.9, 1.0))
            found.add("a", "gain", size, split, Score(size, 0.5, 0.5, 1.0))
    return found


def test_differences_are_paired(cells: Cells) -> None:
    gaps = [cells.difference(place, "gtgbm", "gain", "judge") for place in cells.places()]
    assert [gap.sign for gap in gaps if gap is not None] == [1, -1, 0]
    assert gaps[0] == pytest.approx((0.11, 0.01 / 3**0.5, 3))
    # Splits that only one of them has tell nothing.
    cells.add("a", "gtgbm", 5, 3, Score(5, 0.0, 0.9, 1.0))
    assert cells.difference(("a", 5), "gtgbm", "gain", "judge") == gaps[0]
    assert cells.difference(("a", 5), "gtgbm", "shap", "judge") is None


def test_one_split_decides_nothing() -> None:
    assert Difference(0.5, 0.0, 1).sign == 0


def test_ranks_are_means_over_places_that_all_methods_have(cells: Cells) -> None:
    cells.add("a", "gtgbm", 50, 0, Score(50, 0.1, 0.1, 1.0))
    assert cells.mean_ranks(["gtgbm", "gain"], "own") == ({"gtgbm": 1.0, "gain": 2.0}, 3)
    ranks, n_places = cells.mean_ranks(["gtgbm", "gain"], "judge")
    assert ranks["gtgbm"] == pytest.approx(4 / 3)
    assert n_places == 3
    assert cells.mean_ranks(["gtgbm", "shap"], "own") == ({}, 0)


def test_claims_name_every_place_behind(cells: Cells) -> None:
    by_judge, by_own = frontier.claims({"tables": cells.tables})
    assert (by_judge.holds, by_own.holds) == (False, True)
    assert by_judge.numbers == "ahead in 1, behind in 1 of 3 cells"
    assert by_judge.places == "a at 10 (-0.1100)"
    assert by_own.numbers == "ahead in 3, behind in 0 of 3 cells"


def test_the_page_tells_what_was_seen_and_how_much_there_is(cells: Cells) -> None:
    cells.add("a", "shap", 5, 0, Score(3, 0.25, 0.25, 1.0))
    text = frontier.tables({"tables": cells.tables})
    assert "splits: 3; looked at while" in text
    assert "| LightGBM, top K by gain | 1 / 1 of 3 | 0 / 0 of 0 | 3 / 0 of 3 | 0 / 0 of 0 |" in text
    assert "| gtgbm | 0.6100 ± 0.0058 | 0.3900 ± 0.0058 |" in text
    assert "| LightGBM, top K by SHAP values (splits: 1) | 0.2500 (3) | – | – | 1.0 |" in text


def test_an_interrupted_run_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    context = Context(
        quick=True, threads=1, folder=tmp_path, tables=("friedman",), methods=("gain", "rfe-half"), splits=1
    )
    calls: list[object] = []

    def judge(*arguments: object) -> tuple[float, float]:
        calls.append(arguments)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return 0.5, 0.0

    monkeypatch.setattr(frontier, "judged", judge)
    with pytest.raises(KeyboardInterrupt):
        frontier.run(context)
    kept = json.loads((tmp_path / "frontier.kept.json").read_text(encoding="utf-8"))
    assert list(kept["friedman"]["scores"]) == ["gain"]
    frontier.run(context)
    assert len(calls) == 4 + 3  # three sizes of the second method, and none of the first again
    frontier.run(context)
    assert len(calls) == 4 + 3
    shown = frontier.run(replace(context, splits=0))
    assert shown["tables"]["friedman"]["scores"].keys() == {"gain", "rfe-half"}


@pytest.mark.parametrize(
    ("option", "value", "remedy"),
    [("--tables", "nothing", "few-rows"), ("--methods", "gain,nothing", "rfe-half"), ("--splits", "-1", "0")],
)
def test_what_it_does_not_know_is_an_error(
    option: str,
    value: str,
    remedy: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", ["experiments", "frontier", option, value])
    with pytest.raises(SystemExit, match="2"):
        runpy.run_module("experiments", run_name="__main__")
    error = capsys.readouterr().err
    assert f"{option} {value.split(',')[-1]}: give" in error
    assert remedy in error.splitlines()[-1]
