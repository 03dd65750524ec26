"""All experiments, the cheap ones first."""

from __future__ import annotations

from experiments import (
    classification,
    complexity,
    correlation,
    elimination,
    frontier,
    multitask,
    phase,
    ranking,
    table3,
    theorem1,
    time_curves,
)
from experiments.common.record import Experiment

_MODULES = (
    theorem1,
    multitask,
    ranking,
    classification,
    correlation,
    elimination,
    complexity,
    phase,
    time_curves,
    table3,
    frontier,
)
EXPERIMENTS: dict[str, Experiment] = {module.EXPERIMENT.name: module.EXPERIMENT for module in _MODULES}
