"""Models are the same as before a change of structure, byte for byte."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.estimators import golden_models
from tests.strategies import selects_few


@selects_few
@pytest.mark.parametrize("name", sorted(golden_models.MODELS))
def test_model_is_the_kept_one(name: str) -> None:
    arithmetic, kept = golden_models.read(name)
    model = golden_models.MODELS[name]()
    trained = golden_models.written(model)
    # Parameters that are newer than the kept model have their defaults, which must not change it.
    defaults, parameters = type(model)().get_params(), trained["parameters"]
    for new in parameters.keys() - kept["parameters"].keys():
        assert parameters.pop(new) == defaults[new]
    if arithmetic == golden_models.arithmetic():
        assert trained == kept
    else:
        # Another processor: numpy's logarithms may differ in their last bit.
        assert_close(trained, kept)


@selects_few
@pytest.mark.usefixtures("wide_cells")
@pytest.mark.parametrize(
    "name",
    [
        "a-gbm-regressor",
        "dataframe",
        "dataframe-by-column",
        "gbfs-classifier",
        "group-testing",
        "group-testing-of-paper",
        "monotone",
        "sampled",
        "sparse",
        "sparse-group-testing",
        "tasks-common-trees",
        "three-classes",
        "trend-tests",
    ],
)
def test_wide_cells_give_the_same_model(name: str) -> None:
    """Of rows of weight 1: fractional weights leave residuals fewer bits of packed cells than wide ones."""
    test_model_is_the_kept_one(name)


def assert_close(found: Any, kept: Any) -> None:
    assert type(found) is type(kept)
    if isinstance(kept, dict):
        assert found.keys() == kept.keys()
        for key, value in kept.items():
            assert_close(found[key], value)
    elif isinstance(kept, list):
        assert len(found) == len(kept)
        for one, other in zip(found, kept, strict=True):
            assert_close(one, other)
    elif isinstance(kept, float):
        np.testing.assert_allclose(found, kept, rtol=1e-9, atol=1e-12)
    else:
        assert found == kept
