"""Writes all kept models anew."""

from tests.estimators.golden_models import MODELS, write

for name in MODELS:
    write(name)
