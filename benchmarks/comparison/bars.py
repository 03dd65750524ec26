"""Bars: what results are held against. All are ratios or scores within one run."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import mean

from benchmarks.comparison.summary import Bar, Found, Row
from measuring.methods import A_GBM, AUTO, GT


def ratio_bar(what: str, ours: float | None, theirs: float | None, most: float, unit: str) -> Bar:
    """Hold a ratio against its bar; None stands for what was not measured."""
    wanted = f"≤ {most:.3g}"
    if ours is None or theirs is None:
        return Bar(what, wanted, "not measured", None)
    ratio = ours / theirs
    return Bar(what, wanted, f"{ratio:.3f} ({ours:.2f} {unit} / {theirs:.2f} {unit})", ratio <= most)


@dataclass(frozen=True)
class TimeAtMost:
    """Fit time of ours over theirs, for every penalty ours was run with unless one is named."""

    ours: str
    theirs: str
    most: float
    penalty: float | None = None

    def hold(self, found: Found) -> list[Bar]:
        """Compare."""
        ours, other = found.of(self.ours, self.penalty), found.first(self.theirs)
        if other is None and self.theirs in found.unfinished:
            return [self._bound(row, found.unfinished[self.theirs]) for row in ours]
        if not ours or other is None:
            return [ratio_bar(f"fit time: {self.ours} / {self.theirs}", None, None, self.most, "s")]
        return [
            ratio_bar(f"fit time: {row.label} / {other.label}", row.seconds, other.seconds, self.most, "s")
            for row in ours
        ]

    def _bound(self, ours: Row, at_least: float) -> Bar:
        # They were stopped: the true ratio is smaller, so the bar is reached or else not known.
        bound = ours.seconds / at_least
        measured = f"< {bound:.3f} ({ours.seconds:.2f} s / stopped after {at_least:.0f} s)"
        what = f"fit time: {ours.label} / {self.theirs}"
        return Bar(what, f"≤ {self.most:.3g}", measured, True if bound <= self.most else None)


@dataclass(frozen=True)
class MemoryAtMost:
    """Peak memory above the input of ours over theirs."""

    ours: str
    theirs: str
    most: float

    def hold(self, found: Found) -> list[Bar]:
        """Compare."""
        ours, theirs = found.first(self.ours), found.first(self.theirs)
        mine, other = (None if row is None else row.peak_mb for row in (ours, theirs))
        what = f"peak memory above the input: {self.ours} / {self.theirs}"
        return [ratio_bar(what, mine, other, self.most, "MB")]


@dataclass(frozen=True)
class AutoAtMost:
    """Fit time of the automatic choice over the faster of the two searches, at the same penalty."""

    most: float

    def hold(self, found: Found) -> list[Bar]:
        """Compare."""
        auto = found.first(AUTO)
        mine, penalty = (None, None) if auto is None else (auto.seconds, auto.penalty)
        both = [row.seconds for method in (GT, A_GBM) for row in found.of(method, penalty)]
        what = f"fit time: {AUTO} / the faster of {GT} and {A_GBM}"
        return [ratio_bar(what, mine, min(both, default=None), self.most, "s")]


@dataclass(frozen=True)
class ScoreAtSize:
    """Best test AUC of a method's models with few enough features."""

    method: str
    least: float
    most_features: int

    def hold(self, found: Found) -> list[Bar]:
        """Compare."""
        small = [row for row in found.of(self.method) if row.n_features <= self.most_features]
        best = max(small, key=lambda row: row.score, default=None)
        what, wanted = f"test AUC with ≤ {self.most_features} features", f"≥ {self.least:.4f}"
        if best is None:
            return [Bar(what, wanted, "no model was so small", False if found.of(self.method) else None)]
        measured = f"{best.score:.4f} with {best.n_features} ({best.label})"
        return [Bar(what, wanted, measured, best.score >= self.least)]


@dataclass(frozen=True)
class ScoreAtLeast:
    """Test AUC of ours against theirs, both limited to the same number of features."""

    ours: str
    theirs: str

    def hold(self, found: Found) -> list[Bar]:
        """Compare."""
        ours, theirs = found.first(self.ours), found.first(self.theirs)
        if ours is None or theirs is None:
            return [
                Bar(f"test AUC: {self.ours} against {self.theirs}", "at least theirs", "not measured", None)
            ]
        return [
            Bar(
                f"test AUC: {ours.label} against {theirs.label}",
                f"≥ {theirs.score:.4f} (with {theirs.n_features})",
                f"{ours.score:.4f} (with {ours.n_features})",
                ours.score >= theirs.score,
            )
        ]


@dataclass(frozen=True)
class FrontierAtLeast:
    """Mean test AUC over splits at one size, ours against theirs on the same splits."""

    ours: str
    theirs: str
    size: int

    def hold(self, found: Found) -> list[Bar]:
        """Compare."""
        ours, theirs = (
            {p.seed: p for p in found.points if p.method == name and p.size == self.size}
            for name in (self.ours, self.theirs)
        )
        seeds = sorted(ours.keys() & theirs.keys())
        what = f"test AUC at {self.size} features, mean of {len(seeds)} splits: "
        what += f"{self.ours} against {self.theirs}"
        if not seeds:
            return [Bar(what, "at least theirs", "not measured", None)]
        shown, means = [], []
        for by_seed in (ours, theirs):
            scores = [by_seed[seed].score for seed in seeds]
            means.append(mean(scores))
            n_features = mean(by_seed[seed].n_features for seed in seeds)
            spread = f"{min(scores):.4f}–{max(scores):.4f}"
            shown.append(f"{means[-1]:.4f} ({spread}; {n_features:.0f} features)")
        return [Bar(what, f"≥ {shown[1]}", shown[0], means[0] >= means[1])]
