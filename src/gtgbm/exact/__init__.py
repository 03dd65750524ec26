"""Exact sums over rows, and the context that every part of a fit shares.

Fixed-point residuals, integer sample weights, sums over several machines, the thread pool, stage timings.
"""

from gtgbm.exact.arrays import (
    CATEGORICAL,
    CELLS,
    F64,
    FALLING,
    I8,
    I16,
    I32,
    I64,
    LANES,
    MISSING_LEFT,
    MISSING_UNSEEN,
    NEW,
    OTHER_TASKS,
    OWNED,
    RISING,
    SKIPPED,
    U8,
    U16,
    Bool,
    Table,
)
from gtgbm.exact.communicator import (
    ALONE,
    Communicator,
    LocalCommunicator,
    WorkerError,
    assemble,
    union,
)
from gtgbm.exact.context import FitContext
from gtgbm.exact.fixed_point import INT16_LARGEST, Cells, as_int16, exact_mean, pack, squared_errors
from gtgbm.exact.hashing import digest_of_rows, drawn_rows, row_hashes
from gtgbm.exact.lent import lend, read_only
from gtgbm.exact.messages import array_of, bytes_of
from gtgbm.exact.newton import newton_problem
from gtgbm.exact.quantiles import select, weighted_quantiles
from gtgbm.exact.shard import Shard
from gtgbm.exact.timings import Timings
from gtgbm.exact.weights import RowWeights, power_of_two_scale

__all__ = [
    "ALONE",
    "CATEGORICAL",
    "CELLS",
    "F64",
    "FALLING",
    "I8",
    "I16",
    "I32",
    "I64",
    "INT16_LARGEST",
    "LANES",
    "MISSING_LEFT",
    "MISSING_UNSEEN",
    "NEW",
    "OTHER_TASKS",
    "OWNED",
    "RISING",
    "SKIPPED",
    "U8",
    "U16",
    "Bool",
    "Cells",
    "Communicator",
    "FitContext",
    "LocalCommunicator",
    "RowWeights",
    "Shard",
    "Table",
    "Timings",
    "WorkerError",
    "array_of",
    "as_int16",
    "assemble",
    "bytes_of",
    "digest_of_rows",
    "drawn_rows",
    "exact_mean",
    "lend",
    "newton_problem",
    "pack",
    "power_of_two_scale",
    "read_only",
    "row_hashes",
    "select",
    "squared_errors",
    "union",
    "weighted_quantiles",
]
