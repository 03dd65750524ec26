"""Selection strategies that run several fits.

They decide which features a fit may own.
"""

from gtgbm.selection.shortlist import train_selecting

__all__ = [
    "train_selecting",
]
