"""Losses: what models minimise, and what users can give as ``loss``."""

from gtgbm.losses.checking import check_loss
from gtgbm.losses.pointwise import AbsoluteError, Huber, LossFunction, Poisson, Quantile, Tweedie

__all__ = ["AbsoluteError", "Huber", "LossFunction", "Poisson", "Quantile", "Tweedie", "check_loss"]
