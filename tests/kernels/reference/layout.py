"""Numbers that kernels and twins share."""

from gtgbm.exact.arrays import CELLS

MISSING = CELLS - 1
RIGHT, LEFT, UNSEEN = 0, 1, 2
