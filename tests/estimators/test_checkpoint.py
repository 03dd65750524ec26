"""Checkpoints: an interrupted fit goes on to the same model, and a checkpoint of another fit is refused."""

from __future__ import annotations

import errno
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import gtgbm
from gtgbm import GTGBMClassifier, GTGBMRegressor, MultitaskGTGBMRegressor
from gtgbm.boosting import checkpoint, checkpoint_store
from gtgbm.estimators import multitask_base, single_task
from gtgbm.estimators.checkpoints import open_checkpoint
from gtgbm.multitask import training
from tests.estimators import golden_models
from tests.estimators.killed_fits import killed_fits
from tests.strategies import selects_few


class InterruptedFitError(Exception):
    """Stands for whatever ends a process."""


@pytest.fixture
def every_round(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write checkpoints after every round, however short."""
    monkeypatch.setattr(checkpoint_store, "_SECONDS", 0.0)
    monkeypatch.setattr(checkpoint_store, "_SHARE", 1e9)


def interrupt_at(n: int, monkeypatch: pytest.MonkeyPatch, method: str = "keep_round") -> None:
    """Interrupt fits after a method of checkpoints was called n times."""
    original, calls = getattr(checkpoint.StoredCheckpoint, method), [0]

    def counted(*args: Any) -> Any:
        result = original(*args)
        calls[0] += 1
        if calls[0] == n:
            raise InterruptedFitError
        return result

    monkeypatch.setattr(checkpoint.StoredCheckpoint, method, counted)


def data(n: int = 300, d: int = 12) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    return X, X[:, 1] + X[:, 2] * X[:, 3] + rng.normal(size=n)


@selects_few
@pytest.mark.usefixtures("every_round")
@pytest.mark.parametrize("name", sorted(golden_models.MODELS))
def test_an_interrupted_fit_gives_the_same_model(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every golden model is interrupted after its third round, and fitted again."""
    expected = golden_models.written(golden_models.MODELS[name]())
    original = open_checkpoint

    def trained() -> Any:
        numbers = count()  # of the fits that the model is made by

        def opened(_: None, *args: Any) -> Any:
            return original(tmp_path / str(next(numbers)), *args)

        for module in (single_task, multitask_base):
            monkeypatch.setattr(module, "open_checkpoint", opened)
        return golden_models.MODELS[name]()

    with monkeypatch.context() as interrupted:
        interrupt_at(3, interrupted)
        with pytest.raises(InterruptedFitError):
            trained()
    assert list(tmp_path.iterdir())
    assert golden_models.written(trained()) == expected
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("every_round")
def test_a_selection_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = data()
    model = GTGBMRegressor(n_features_to_select=2, n_estimators=4, random_state=0)
    expected = golden_models.written(model.fit(X, y))
    with monkeypatch.context() as interrupted:
        interrupt_at(12, interrupted, "stage")
        with pytest.raises(InterruptedFitError):
            model.fit(X, y, checkpoint=tmp_path / "kept")
    computed: list[str] = []
    original = checkpoint.StoredCheckpoint.stage

    def stage(self: Any, name: str, kind: Any, compute: Any) -> Any:
        def named() -> Any:
            computed.append(name)
            return compute()

        return original(self, name, kind, named)

    monkeypatch.setattr(checkpoint.StoredCheckpoint, "stage", stage)
    assert golden_models.written(model.fit(X, y, checkpoint=tmp_path / "kept")) == expected
    # The seed and the models of eleven fits were known.
    assert computed[:2] == ["selection", "selection: 11"]


@selects_few
@pytest.mark.usefixtures("every_round")
def test_common_trees_are_not_trained_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = data()
    Y = np.stack([y, X[:, 5] - y], axis=1)
    model = MultitaskGTGBMRegressor(n_common_rounds=4, n_estimators=8, random_state=0)
    expected = golden_models.written(model.fit(X, Y))
    for rounds in (2, 4):  # among the common ones, and after them
        with monkeypatch.context() as interrupted:
            interrupt_at(rounds, interrupted)
            with pytest.raises(InterruptedFitError):
                model.fit(X, Y, checkpoint=tmp_path / "kept")
    monkeypatch.setattr(training, "common_trees", None)
    assert golden_models.written(model.fit(X, Y, checkpoint=tmp_path / "kept")) == expected


@pytest.mark.usefixtures("every_round")
def test_the_seed_of_an_interrupted_fit_is_kept(tmp_path: Path) -> None:
    """Without random_state, each fit draws another seed."""
    X, y = data()
    path = tmp_path / "kept"

    def interrupt(progress: Any) -> None:
        if progress.round == 3:
            raise InterruptedFitError

    model, seeds = GTGBMRegressor(n_estimators=8, subsample=0.5), []
    for _ in range(2):
        with pytest.raises(InterruptedFitError):
            model.fit(X, y, callbacks=[interrupt], checkpoint=path)
        seeds.append(model._seed)
    model.fit(X, y, checkpoint=path)
    assert seeds == [model._seed, model._seed]
    assert not path.exists()


@pytest.mark.usefixtures("every_round")
def test_a_callback_that_has_stopped_a_fit_need_not_stop_it_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = data()
    Y, path = np.stack([y, X[:, 5] - y], axis=1), tmp_path / "kept"
    models: list[Any] = [GTGBMRegressor(random_state=0), MultitaskGTGBMRegressor(random_state=0)]
    for model, target in zip(models, (y, Y), strict=True):
        with monkeypatch.context() as interrupted:
            interrupt_at(3, interrupted)
            with pytest.raises(InterruptedFitError):
                model.fit(X, target, callbacks=[lambda progress: progress.round == 3], checkpoint=path)
        model.fit(X, target, checkpoint=path)
        n_rounds = model.n_iter_
        assert set(n_rounds.values() if isinstance(n_rounds, dict) else [n_rounds]) == {3}


def interrupt(_: Any) -> None:
    raise InterruptedFitError


def refused(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    X, y = data()
    path = tmp_path / "kept"

    def fit(model: Any, given: dict[str, Any], *callbacks: Any) -> None:
        arguments = {"X": X, "y": y, "sample_weight": np.ones(300) * 2, "checkpoint": path} | given
        model.fit(**arguments, callbacks=callbacks)

    parameters: dict[str, Any] = {"n_estimators": 5, "random_state": 0}
    with pytest.raises(InterruptedFitError):
        fit(GTGBMRegressor(**parameters), {}, interrupt)
    before = path.read_bytes()
    model = change.pop("model", GTGBMRegressor)(**parameters | change.pop("parameters", {}))
    with pytest.raises(ValueError, match=message):
        fit(model, change)
    assert path.read_bytes() == before
    fit(GTGBMRegressor(**parameters, n_jobs=2), {})
    assert not path.exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"parameters": {"penalty": 0.01}}, r"with penalty=0.001, now 0.01: repeat that call, give another"),
        ({"parameters": {"random_state": 1}}, "with random_state=0, now 1"),
        ({"parameters": {"feature_costs": np.arange(1.0, 13.0)}}, r"feature_costs=None, now \[1.0, 2.0"),
        ({"model": gtgbm.AGBMRegressor}, "with estimator=GTGBMRegressor, now AGBMRegressor"),
        ({"X": data()[0] + 1e-9}, "is of a fit with another X: "),
        ({"X": data()[0].astype(np.float32)}, "another X"),
        ({"y": data()[1][::-1]}, "another y"),
        ({"sample_weight": np.linspace(1.0, 2.0, 300)}, "another sample_weight"),
        ({"sample_weight": None}, "another sample_weight"),
        ({"eval_set": data(50)}, r"another X of eval_set\[0\]"),
        ({"offset": np.ones(300)}, "another offset"),
    ],
)
def test_a_checkpoint_of_another_fit_is_refused(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    refused(dict(change), message, tmp_path)


def test_a_model_that_is_continued_is_part_of_the_fit(tmp_path: Path) -> None:
    X, y = data()
    model = GTGBMRegressor(n_estimators=3, random_state=0, warm_start=True).fit(X, y)
    other = GTGBMRegressor(n_estimators=4, random_state=0, warm_start=True).fit(X, y)

    path = tmp_path / "kept"
    model.save_model(tmp_path / "model.json")
    with pytest.raises(InterruptedFitError):
        model.set_params(n_estimators=6).fit(X, y, callbacks=[interrupt], checkpoint=path)
    with pytest.raises(ValueError, match="another model to continue"):
        other.set_params(n_estimators=6).fit(X, y, checkpoint=path)
    again, expected = (
        gtgbm.load_model(tmp_path / "model.json").set_params(n_estimators=6, warm_start=True)
        for _ in range(2)
    )
    assert_array_equal(again.fit(X, y, checkpoint=path).predict(X), expected.fit(X, y).predict(X))


@pytest.mark.parametrize("content", [b"", b"{}", b"\x81\xa1a\x01", b"\xff" * 100])
def test_another_file_is_not_overwritten(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"model.json' is not a checkpoint .* give another file"):
        GTGBMRegressor().fit(*data(), checkpoint=path)
    assert path.read_bytes() == content


def test_paths_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"checkpoint=.* cannot be written: .* no directory"):
        GTGBMRegressor().fit(*data(), checkpoint=tmp_path / "missing" / "kept")
    with pytest.raises(IsADirectoryError, match="checkpoint="):
        GTGBMRegressor().fit(*data(), checkpoint=tmp_path)
    with pytest.raises(TypeError, match="checkpoint=5 is not the path of a file"):
        GTGBMRegressor().fit(*data(), checkpoint=5)  # type: ignore[arg-type]


@pytest.mark.usefixtures("every_round")
def test_a_full_disk_leaves_the_last_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = data()
    model, path, calls = GTGBMRegressor(n_estimators=6, random_state=0), tmp_path / "kept", [0]
    expected = model.fit(X, y).predict(X)

    def fail_of_a_full_disk(*_: Any) -> None:
        calls[0] += 1
        if calls[0] == 4:
            raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as full:
        full.setattr("gtgbm.files.os.chmod", fail_of_a_full_disk)
        with pytest.raises(OSError, match=r"kept' cannot be written: .*No space left"):
            model.fit(X, y, checkpoint=path)
    assert list(tmp_path.iterdir()) == [path]
    assert_array_equal(model.fit(X, y, checkpoint=path).predict(X), expected)


def test_data_of_any_layout_has_a_digest(tmp_path: Path) -> None:
    """Text labels and query ids, slices of arrays, and sparse matrices are no hindrance."""
    X, y = data()
    labels = np.where(y > 0, "yes", "no").astype(object)
    for table in (np.asfortranarray(X), X[:, ::2], X[::-1], X.astype(np.float16)):
        GTGBMClassifier(n_estimators=2, random_state=0).fit(table, labels, checkpoint=tmp_path / "kept")
    ids = np.repeat([f"q{k}" for k in range(30)], 10).astype(object)
    gtgbm.GTGBMRanker(n_estimators=2).fit(X, (y > 0).astype(int), qid=ids, checkpoint=tmp_path / "kept")
    assert list(tmp_path.iterdir()) == []


def test_killed_fits_go_on_to_the_same_model(tmp_path: Path) -> None:
    n_finished, n_same = killed_fits(4, 0, tmp_path)
    assert n_same == n_finished > 0
