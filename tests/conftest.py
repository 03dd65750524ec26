"""Settings shared by all tests."""

import os

# Before matplotlib is imported: pictures are drawn in memory, also where there is a screen.
os.environ["MPLBACKEND"] = "Agg"
# Before LightGBM and scikit-learn start threads: there is a test on every core already, and threads that wait
# in a loop would take the cores from each other.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "gtgbm",
    deadline=None,  # timings never decide a test
    max_examples=50,
    derandomize="CI" in os.environ,  # what fails there must fail again at home
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("gtgbm")


@pytest.fixture
def wide_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give all tables wide cells, with residuals as fine as those of packed cells in small tables."""
    monkeypatch.setattr("gtgbm.exact.fixed_point._PACKED_COUNT_BITS", 0)
    monkeypatch.setattr("gtgbm.exact.fixed_point._WIDE_BITS", 28)
