"""Types of the native kernels; what they do stands in ``native/*.hpp``."""

from typing import Any

from gtgbm.exact import F64, I8, I16, I32, I64, U8, U16, Table

LANES: int
CELLS: int
SKIPPED: int
NEW: int
OWNED: int
CATEGORICAL: int
RISING: int
FALLING: int
MISSING_RIGHT: int
MISSING_LEFT: int
MISSING_UNSEEN: int
TREND_LEVELS: int
SUBTREE_FIELDS: tuple[str, ...]

def available_instructions() -> list[str]: ...
def use_instructions(name: str) -> str: ...

class Pool:
    def __init__(self, n_threads: int) -> None: ...
    @property
    def size(self) -> int: ...

class CellFormat:
    def __init__(self, count_bits: int, is_wide: bool = False) -> None: ...
    @property
    def count_bits(self) -> int: ...
    @property
    def is_wide(self) -> bool: ...
    @property
    def width(self) -> int: ...

class GroupShape:
    def __init__(self, begin: I64, end: I64, first_child: I64, n_children: I64, tile: I64) -> None: ...

class TileColumns:
    def __init__(self, n_bins: I32, use: U8, category_row: I32, category_use: U8, price: F64) -> None: ...

class TileSet:
    def __init__(self, codes: U8, widths: I64, columns: TileColumns) -> None: ...

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
    ) -> None: ...
    def predict(self, pool: Pool, table: Table, columns: I64, out: F64, begin: int, end: int) -> None: ...
    def leaves(self, pool: Pool, table: Table, columns: I64, out: I32) -> None: ...
    def add_contributions(
        self, pool: Pool, table: Table, columns: I64, background: F64, places: I64, out: F64
    ) -> None: ...
    def score_changes(
        self,
        pool: Pool,
        table: Table,
        donors: Table,
        donor: I64,
        columns: I64,
        features: I64,
        out: F64,
    ) -> None: ...

class RowScorer:
    class Link:
        identity: RowScorer.Link
        logistic: RowScorer.Link
        exponential: RowScorer.Link

    def __init__(
        self, forest: Forest, width: int, columns: I64, start: F64, link: RowScorer.Link
    ) -> None: ...
    def predict(self, row: Any) -> float: ...
    def scores(self, row: Any, out: F64) -> None: ...

class Contributions:
    def __init__(self, forest: Forest, cover: I64) -> None: ...
    def add_to(self, pool: Pool, table: Table, columns: I64, places: I64, out: F64) -> None: ...

class Interactions:
    def __init__(self, contributions: Contributions) -> None: ...
    def write(self, pool: Pool, table: Table, columns: I64, places: I64, out: F64) -> None: ...

def gather(pool: Pool, table: Table, rows: I64, columns: I64, out: F64) -> None: ...
def find_thresholds(
    pool: Pool,
    values: F64,
    max_bins: int,
    thresholds: F64,
    n_thresholds: I32,
) -> None: ...
def encode(
    pool: Pool,
    table: Table,
    columns: I64,
    thresholds: F64,
    n_thresholds: I32,
    out: U8,
) -> None: ...
def rank_codes(pool: Pool, table: Table, rows: I64, columns: I64, levels: int, out: U8) -> None: ...
def minmax_values(pool: Pool, table: Table, rows: I64, columns: I64, out: U16) -> None: ...
def logistic_residuals(
    pool: Pool, scores: F64, y: F64, residuals: F64, curvatures: F64, losses: F64
) -> None: ...
def exponentials(pool: Pool, values: F64, out: F64) -> None: ...
def fixed_point_sum(pool: Pool, values: F64, weights: I64, scale: float) -> int: ...
def signed_sums(pool: Pool, values: F64, weights: I64, centre: float, scale: float) -> tuple[int, int]: ...
def min_max(pool: Pool, values: F64) -> tuple[float, float]: ...
def pack_cells(
    pool: Pool,
    residuals: F64,
    weights: I64,
    centre: float,
    scale: float,
    format: CellFormat,
    cells: I64,
) -> tuple[int, int, int, int]: ...
def leaf_sums(
    pool: Pool,
    rows: I32,
    begin: I64,
    end: I64,
    values: F64,
    weights: I64,
    scale: float,
    out: I64,
) -> None: ...
def leaf_quantiles(
    pool: Pool,
    rows: I32,
    begin: I64,
    end: I64,
    values: F64,
    weights: I64,
    share: float,
    out: F64,
) -> None: ...
def rank_rows(pool: Pool, rows: I64, begin: I64, scores: F64, out: I64) -> None: ...
def rank_residuals(
    pool: Pool,
    rows: I64,
    begin: I64,
    relevance: F64,
    gain: F64,
    weight: F64,
    discount: F64,
    scores: F64,
    truncation: int,
    by_ndcg: bool,
    residuals: F64,
    curvatures: F64,
    losses: F64,
) -> None: ...
def add_to_leaves(pool: Pool, rows: I32, begin: I64, end: I64, step: F64, scores: F64) -> None: ...
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
    format: CellFormat,
    ordered: I64,
    hist: I64,
) -> None: ...
def subtract_histograms(
    pool: Pool,
    parents: I64,
    parent: I64,
    sibling: I64,
    slot: I64,
    n_cells: int,
    hist: I64,
) -> None: ...
def scan_histograms(
    pool: Pool,
    columns: TileColumns,
    hist: I64,
    slot: I64,
    total: I64,
    format: CellFormat,
    min_leaf: int,
    l2: float,
    gain: F64,
    where: I32,
) -> None: ...
def build_pair_histograms(
    pool: Pool,
    codes: U8,
    column: I64,
    rows: I32,
    cells: I64,
    begin: I64,
    end: I64,
    format: CellFormat,
    hist: I64,
) -> None: ...
def scan_pair_histograms(
    pool: Pool,
    hist: I64,
    n_bins: I32,
    use: U8,
    total: I64,
    format: CellFormat,
    min_leaf: int,
    l2: float,
    gain: F64,
    bin: I32,
    missing_side: I32,
) -> None: ...
def partition_rows(
    pool: Pool,
    codes: U8,
    column: I64,
    bin: I32,
    is_category: U8,
    missing_left: U8,
    begin: I64,
    end: I64,
    rows: I32,
    scratch: I32,
    n_left: I64,
) -> None: ...
def node_sums(
    pool: Pool,
    rows: I32,
    cells: I64,
    begin: I64,
    end: I64,
    format: CellFormat,
    out: I64,
) -> None: ...
def sampled_rows(
    rows: I32,
    cells: I64,
    begin: I64,
    end: I64,
    position: I32,
    format: CellFormat,
    out_positions: I32,
    out_cells: I64,
    first: I64,
    total: I64,
) -> None: ...
def grow_subtrees(
    pool: Pool,
    tiles: TileSet,
    begin: I64,
    end: I64,
    total: I64,
    depth: I64,
    stop_rows: I64,
    format: CellFormat,
    fewest_rows: int,
    min_leaf: int,
    l2: float,
    max_depth: int,
    rows: I32,
    cells: I64,
    row_scratch: I32,
    ordered: I64,
    first: I64,
    nodes: I64,
    gain: F64,
    n_nodes: I64,
    shared: bool,
) -> None: ...
def find_sparse_thresholds(
    pool: Pool,
    start: I64,
    rows: I32,
    values: Table,
    columns: I64,
    in_sample: U8,
    max_bins: int,
    thresholds: F64,
    n_thresholds: I32,
) -> None: ...
def encode_sparse(
    pool: Pool,
    start: I64,
    rows: I32,
    values: Table,
    columns: I64,
    thresholds: F64,
    n_thresholds: I32,
    out: U8,
) -> None: ...
def code_entries(
    pool: Pool,
    start: I64,
    values: Table,
    columns: I64,
    thresholds: F64,
    n_thresholds: I32,
    codes: U8,
    zero_code: U8,
) -> None: ...
def search_sparse(
    pool: Pool,
    start: I64,
    rows: I32,
    codes: U8,
    columns: I64,
    n_bins: I32,
    zero_code: U8,
    use: U8,
    price: F64,
    node_rows: I32,
    begin: I64,
    end: I64,
    total: I64,
    cells: I64,
    format: CellFormat,
    min_leaf: int,
    l2: float,
    gain: F64,
    where: I32,
) -> None: ...
def build_group_codes(
    pool: Pool,
    values: U8 | U16,
    top: int,
    members: I64,
    sign: I8,
    shape: GroupShape,
    n_codes: int,
    exact: bool,
    tiles: U8,
) -> None: ...
def sorted_codes(pool: Pool, values: U16, n_codes: int, out: U8) -> None: ...
def search_groups(
    pool: Pool,
    tiles: U8,
    codes: U8,
    members: I64,
    price: F64,
    shape: GroupShape,
    n_codes: int,
    positions: I32,
    cells: I64,
    begin: I64,
    end: I64,
    format: CellFormat,
    min_leaf: int,
    l2: float,
    feature: I64,
    gain: F64,
) -> None: ...
def correlate(pool: Pool, codes: U8, weight: I16, out: I64) -> None: ...
def pack_codes(pool: Pool, codes: U8, packed: U8, counts: I32) -> None: ...
def trend_sums(pool: Pool, packed: U8, weight: I16, out: I64) -> None: ...
