"""Settings shared by all tests."""

import os

# Before matplotlib is imported: pictures are drawn in memory, also where there is a screen.
os.environ["MPLBACKEND"] = "Agg"
# Before LightGBM and scikit-learn start threads: there is a test on every core already, and threads that wait
# in a loop would take the cores from each other.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

from hypothesis import HealthCheck, settings

settings.register_profile(
    "gtgbm",
    deadline=None,  # timings never decide a test
    max_examples=50,
    derandomize="CI" in os.environ,  # what fails there must fail again at home
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("gtgbm")
