"""Types of the native kernels; what they do stands in ``native/*.hpp``."""

from gtgbm.arrays import F64, I8, I16, I32, I64, U8, U16, Table

class Pool:
    def __init__(self, n_threads: int, /) -> None: ...
    @property
    def size(self) -> int: ...

class GroupShape:
    def __init__(self, begin: I64, end: I64, first_child: I64, n_children: I64, tile: I64, /) -> None: ...

class Forest:
    ROWS_PER_TASK: int
    def __init__(
        self,
        n_columns: int,
        n_outputs: int,
        first: I64,
        output: I64,
        feature: I32,
        threshold: F64,
        is_category: U8,
        missing_left: U8,
        left: I32,
        value: F64,
        /,
    ) -> None: ...
    def predict(self, pool: Pool, table: Table, columns: I64, out: F64, /) -> None: ...

def gather(pool: Pool, table: Table, rows: I64, columns: I64, out: F64, /) -> None: ...
def find_thresholds(
    pool: Pool, values: F64, max_bins: int, thresholds: F64, n_thresholds: I32, /
) -> None: ...
def encode(
    pool: Pool, table: Table, columns: I64, thresholds: F64, n_thresholds: I32, out: U8, /
) -> None: ...
def find_infinities(pool: Pool, table: Table, out: U8, /) -> None: ...
def rank_codes(pool: Pool, table: Table, rows: I64, levels: int, out: U8, /) -> None: ...
def minmax_values(pool: Pool, table: Table, rows: I64, out: U16, /) -> None: ...
def logistic_residuals(pool: Pool, scores: F64, y: F64, residuals: F64, curvatures: F64, /) -> float: ...
def fixed_point_sum(values: F64, scale: float, /) -> int: ...
def max_abs(values: F64, /) -> float: ...
def pack_cells(residuals: F64, scale: float, count_bits: int, cells: I64, /) -> tuple[int, int, int]: ...
def leaf_sums(
    pool: Pool, rows: I32, begin: I64, end: I64, values: F64, scale: float, out: I64, /
) -> None: ...
def add_to_leaves(pool: Pool, rows: I32, begin: I64, end: I64, step: F64, scores: F64, /) -> None: ...
def build_histograms(
    pool: Pool,
    codes: U8,
    rows: I32,
    cells: I64,
    begin: I64,
    end: I64,
    slot: I64,
    first_tile: int,
    last_tile: int,
    hist: I64,
    /,
) -> None: ...
def subtract_histograms(
    pool: Pool, parents: I64, parent: I64, sibling: I64, slot: I64, n_tiles: int, hist: I64, /
) -> None: ...
def scan_histograms(
    pool: Pool,
    hist: I64,
    n_bins: I32,
    slot: I64,
    total: I64,
    count_bits: int,
    min_leaf: int,
    gain: F64,
    bin: I32,
    missing_side: I32,
    /,
) -> None: ...
def build_pair_histograms(
    pool: Pool,
    codes: U8,
    column: I64,
    rows: I32,
    cells: I64,
    begin: I64,
    end: I64,
    hist: I64,
    /,
) -> None: ...
def scan_pair_histograms(
    pool: Pool,
    hist: I64,
    n_bins: I32,
    total: I64,
    count_bits: int,
    min_leaf: int,
    gain: F64,
    bin: I32,
    missing_side: I32,
    /,
) -> None: ...
def partition_rows(
    pool: Pool,
    codes: U8,
    column: I64,
    bin: I32,
    missing_left: U8,
    begin: I64,
    end: I64,
    count_bits: int,
    rows: I32,
    cells: I64,
    row_scratch: I32,
    cell_scratch: I64,
    stats: I64,
    /,
) -> None: ...
def build_group_codes8(
    pool: Pool,
    values: U8,
    top: int,
    members: I64,
    sign: I8,
    shape: GroupShape,
    n_codes: int,
    exact: bool,
    tiles: U8,
    /,
) -> None: ...
def build_group_codes16(
    pool: Pool,
    values: U16,
    top: int,
    members: I64,
    sign: I8,
    shape: GroupShape,
    n_codes: int,
    exact: bool,
    tiles: U8,
    /,
) -> None: ...
def sorted_codes(pool: Pool, values: U16, n_codes: int, out: U8, /) -> None: ...
def search_groups(
    pool: Pool,
    tiles: U8,
    codes: U8,
    members: I64,
    shape: GroupShape,
    n_codes: int,
    positions: I32,
    cells: I64,
    begin: I64,
    end: I64,
    count_bits: int,
    min_leaf: int,
    feature: I64,
    gain: F64,
    /,
) -> None: ...
def correlate(pool: Pool, codes: U8, weight: I16, out: I64, /) -> None: ...
