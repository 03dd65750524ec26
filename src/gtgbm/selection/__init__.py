"""Strategies over whole fits.

They decide which features a fit may own, and get the training itself as a function.
"""

from gtgbm.selection.shortlist import train_selecting

__all__ = [
    "train_selecting",
]
