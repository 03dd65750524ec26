"""Losses of regressors that have a name, beside the squared error: other lists are made of this one."""

from __future__ import annotations

from gtgbm.losses.pointwise import AbsoluteError, Huber, LossFunction, Poisson, Quantile, Tweedie

NAMED_LOSSES: tuple[type[LossFunction], ...] = (
    AbsoluteError,
    Huber,
    Quantile,
    Poisson,
    Tweedie,
)
"""Users write ``loss=name``; model files hold the class and its settings. Their scores are not log-odds."""
