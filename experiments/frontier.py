"""Test score against number of features, for every method on every table, over random splits."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from matplotlib.figure import Figure

from experiments.common.cells import Cells, Judging, Score
from experiments.common.frontier_plans import PLANS, QUICK_PLANS, TESTED, Plan
from experiments.common.record import Claim, Context, Experiment, Results
from experiments.common.store import read
from measuring.data import Data, DataMissingError
from measuring.data.whole import Table
from measuring.figures import count_axis, legend_below, panels, style
from measuring.jobs import Job
from measuring.markdown import ABSENT, table
from measuring.selections import LABELS, OURS, SLOW, Choice, Selections, available, judged, score, settings

SIZES = (5, 10, 20, 50, 100, 200)
SPLITS = 5
PEERS = [method for method in LABELS if method != OURS]
JUDGINGS: dict[Judging, str] = {
    "judge": "LightGBM retrained on the columns",
    "own": "each method's own model",
}
METRICS = {"binary": "AUC", "regression": "R²"}


def run(context: Context) -> Results:
    """Measure what is not yet kept: fast methods on all splits first, then slow ones."""
    plans = QUICK_PLANS if context.quick else PLANS
    cells = _kept(context)
    n_splits = context.choose(2, SPLITS) if context.splits is None else context.splits
    absent: set[str] = set()
    for slow in (False, True):
        for split in range(n_splits):
            for name in context.tables or plans:
                methods = [
                    method
                    for method in plans[name].methods()
                    if (method in SLOW) is slow
                    and method in (context.methods or LABELS)
                    and available(method)
                ]
                if name in absent or not methods:
                    continue
                try:
                    _measure(context, cells, name, split, methods)
                except DataMissingError as missing:
                    print(f"frontier: {name}: skipped, {missing}", flush=True)
                    absent.add(name)
    return {"tables": cells.tables}


def _kept(context: Context) -> Cells:
    """Return what this folder has: of an interrupted run, else of a finished one."""
    if context.folder is None:
        return Cells({})
    stored = read(context.folder, EXPERIMENT.name)
    finished = {} if stored is None else stored.results.get("tables", {})
    return Cells.read(context.folder / "frontier.kept.json", finished)


@cache
def _table(plan: Plan, data_dir: Path | None) -> Table:
    return plan.load(data_dir)


def _measure(context: Context, cells: Cells, name: str, split: int, methods: list[str]) -> None:
    """Measure some methods at all sizes on one split."""
    plan = (QUICK_PLANS if context.quick else PLANS)[name]
    whole = _table(plan, context.data_dir)
    data = whole.split(split, plan.train_rows, TESTED)
    shape = [data.n_rows, len(data.y_test), data.n_columns]
    cells.describe(name, label=plan.label, seen=plan.seen, shape=shape, kind=data.kind)
    job = settings(context.choose(20, 100), context.threads, split)
    selections = Selections(job, data)
    sizes = SIZES[:3] if context.quick else SIZES
    for method in methods:
        wanted = cells.missing(name, method, plan.sizes(method, sizes, data.n_columns), split)
        for choice in selections.choose(method, wanted) if wanted else ():
            cells.add(name, method, choice.size, split, _scored(job, data, choice))
            wanted.remove(choice.size)
        for size in wanted:
            cells.add(name, method, size, split, None)
    print(f"frontier: {name}, split {split}: {', '.join(methods)}", flush=True)


def _scored(job: Job, data: Data, choice: Choice) -> Score:
    judge, seconds = judged(job, data, choice.columns)
    if choice.predict is None:
        return Score(len(choice.columns), judge, judge, choice.seconds + seconds)
    return Score(len(choice.columns), judge, score(data, choice.predict(data.X_test)), choice.seconds)


def tables(results: Results) -> str:
    """Write the summary, then one table of scores per data set."""
    cells = Cells(results["tables"])
    parts = [_comparisons(cells), _ranks(cells)]
    for name, about in cells.tables.items():
        n, n_test, d = about["shape"]
        seen = "looked at while the selection was designed" if about["seen"] else "kept apart from the design"
        sizes = [size for table_name, size in cells.places() if table_name == name]
        splits = cells.n_splits(name, OURS)
        head = [f"test {METRICS[about['kind']]} at", *map(str, sizes), "seconds"]
        parts.append(
            f"**{about['label']}** (`{name}`): {n:,} training rows × {d:,} columns, {n_test:,} test rows, "
            f"splits: {splits}; {seen}.\n\n{table(head, _lines(cells, name, sizes))}"
        )
    return "\n\n".join(parts)


def _lines(cells: Cells, name: str, sizes: list[int]) -> Iterator[list[str]]:
    """Yield a line per method by the common judge, and one by its own model where it has another."""
    for method, label in LABELS.items():
        scores = [one for size in sizes for one in cells.scores(name, method, size).values()]
        if not scores:
            continue
        if cells.n_splits(name, method) != cells.n_splits(name, OURS):
            label = f"{label} (splits: {cells.n_splits(name, method)})"
        seconds = f"{sum(one.seconds for one in scores) / len(scores):.1f}"
        yield [label, *(_mean(cells, name, method, size, "judge") for size in sizes), seconds]
        if any(one.own != one.judge for one in scores):
            yield [f"{label}: own model", *(_mean(cells, name, method, size, "own") for size in sizes), ""]


def _mean(cells: Cells, name: str, method: str, size: int, judging: Judging) -> str:
    """Write the mean, its standard error if there are several splits, and the features if they are fewer."""
    found = cells.mean(name, method, size, judging)
    if found is None:
        return ABSENT
    scores = cells.scores(name, method, size).values()
    error = f" ± {found[1]:.4f}" if len(scores) > 1 else ""
    features = sum(one.features for one in scores) / len(scores)
    return f"{found[0]:.4f}{error}" + (f" ({features:.0f})" if features < size else "")


def _compared(
    cells: Cells, peer: str, judging: Judging, *, with_seen: bool = True
) -> tuple[list[str], list[str], int]:
    """Return where ours is ahead and where it is behind, and the number of places with several splits.

    Parameters
    ----------
    with_seen : bool
        Whether tables count that were looked at while the selection was designed.
    """
    ahead: list[str] = []
    behind: list[str] = []
    n_places = 0
    for place in cells.places():
        gap = cells.difference(place, OURS, peer, judging)
        if gap is None or gap.n_splits < 2 or (cells.tables[place[0]]["seen"] and not with_seen):
            continue
        n_places += 1
        if gap.sign:
            (ahead if gap.sign > 0 else behind).append(f"{place[0]} at {place[1]} ({gap.mean:+.4f})")
    return ahead, behind, n_places


def _comparisons(cells: Cells) -> str:
    rows = []
    for peer in PEERS:
        found = [
            _compared(cells, peer, judging, with_seen=with_seen)
            for judging in JUDGINGS
            for with_seen in (True, False)
        ]
        if any(n_places for *_, n_places in found):
            rows.append(
                [LABELS[peer], *(f"{len(ahead)} / {len(behind)} of {n}" for ahead, behind, n in found)]
            )
    head = ["gtgbm ahead / behind by two standard errors"]
    for said in JUDGINGS.values():
        head += [said, f"{said}, tables kept apart"]
    return (
        "Compared are tables × sizes with at least two splits of both methods.\n\n"
        f"{table(head, rows)}\n\nRanks are taken in all cells that all methods of the column have."
    )


def _ranks(cells: Cells) -> str:
    """Write mean ranks of the fast methods, and of all methods where all were run."""
    fast = [method for method in LABELS if method not in SLOW]
    columns: list[dict[str, float]] = []
    head = ["mean rank, 1 is best"]
    for methods in (fast, list(LABELS)):
        for judging, said in JUDGINGS.items():
            ranks, n_places = cells.mean_ranks(methods, judging)
            if ranks:
                columns.append(ranks)
                head.append(f"{len(methods)} methods, {said}, {n_places} cells")
    rows = [
        [label, *(f"{ranks[method]:.2f}" if method in ranks else ABSENT for ranks in columns)]
        for method, label in LABELS.items()
    ]
    return table(head, rows)


def figure(results: Results) -> Figure:
    """Draw a panel per table: mean scores of the common judge."""
    cells = Cells(results["tables"])
    columns = min(4, len(cells.tables))
    drawing, axes = panels(-(-len(cells.tables) // columns), columns)
    looks = style(list(LABELS))
    for one, (name, about) in zip(axes.flat, cells.tables.items(), strict=False):
        sizes = [size for table_name, size in cells.places() if table_name == name]
        for method, label in LABELS.items():
            means = [(size, cells.mean(name, method, size, "judge")) for size in sizes]
            line = [(size, mean[0]) for size, mean in means if mean is not None]
            # Drawn even if empty: the legend is that of the first panel.
            one.plot([k for k, _ in line], [v for _, v in line], label=label, markersize=4, **looks[method])
        count_axis(one)
        one.set_ylabel(f"test {METRICS[about['kind']]}")
        one.set_title(name, fontsize=9)
        one.grid(alpha=0.25)
    for one in list(axes.flat)[len(cells.tables) :]:
        one.set_axis_off()
    legend_below(drawing, axes, 3)
    return drawing


def claims(results: Results) -> list[Claim]:
    """Say for each peer and each judge where ours is behind, by name."""
    cells = Cells(results["tables"])
    found = []
    for judging, said in JUDGINGS.items():
        for peer in PEERS:
            ahead, behind, n_places = _compared(cells, peer, judging)
            if n_places:
                found.append(
                    Claim(
                        f"By {said}, gtgbm is nowhere behind {LABELS[peer]} by two standard errors",
                        not behind,
                        f"ahead in {len(ahead)}, behind in {len(behind)} of {n_places} cells",
                        "; ".join(behind),
                    )
                )
    return found


EXPERIMENT = Experiment(
    name="frontier",
    title="Test score against number of features",
    reproduces="no figure of the paper: what its Table 3 shows at one size, at all sizes",
    how=(
        "Every method chooses K columns of the same training rows, for several random splits. Each choice "
        "is judged twice: by a common judge, LightGBM retrained on the columns (64 leaves of at least 0.5% "
        "of the rows, 100 trees, learning rate 0.1), and by the method's own model. gtgbm: "
        "`n_features_to_select=K`, everything else default, so that its own model chooses 8, 16 or 31 "
        "leaves by unseen training rows, while LightGBM's models have the 64 of the judge. Where a method "
        "chooses fewer than K, these are judged, and their number stands in brackets. Top K: the best of a "
        "fit on all columns by gain, or by mean absolute SHAP value on 2,000 training rows. RFE: half or a "
        "fifth of the columns dropped at a time. CEGB: the penalty found by bisection in few fits, the "
        "largest choice of at most K. CatBoost: `select_features` in 3 steps. scikit-learn: "
        "`SelectFromModel` around ExtraTrees, then HistGradientBoosting. CEGB and CatBoost are run at some "
        "sizes only. Categories are one-hot columns for all. Decoys are those of the NeurIPS 2023 benchmark "
        "of feature selection: three random columns, noisy copies or products per column. Nothing is chosen "
        "by test rows. Mean ± standard error over splits; differences are paired by split, and with few "
        "splits two standard errors are little: of 100 cells without any difference about 30 exceed them "
        "with 2 splits, 18 with 3, 12 with 5. Seconds are those of one processor up to the method's own "
        "model, means over sizes; the machine was shared."
    ),
    run=run,
    tables=tables,
    figure=figure,
    claims=claims,
)
