"""Cases with a known truth for ``make calibrate``: identical models, and models that differ.

A case draws the scores of k models on n samples. ``strength`` gives the true order of the models, with one
number per model for each order of dominance; models of equal strength are identical. Scores are transformed
normal variables with a component shared by all models, so any marginal distribution can be correlated.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri, stdtrit

from riskrank.engine.dominance.violation import violation_matrices
from riskrank.engine.portfolio.score_tables import independent_copula
from riskrank.engine.sampling.design import ClusteredScores

Floats = NDArray[np.float64]
Marginal = Callable[[Floats], Floats]


def disasters(share: float, size: float) -> Marginal:
    """Return a transformation that lowers the worst share of the scores by `size`."""
    return lambda z: z - size * (z < ndtri(share))


def student(df: float) -> Marginal:
    return lambda z: stdtrit(df, ndtr(z))


MARGINALS: dict[str, Marginal] = {
    "normal": lambda z: z,
    "lognormal, σ = 2": lambda z: np.exp(2 * z),
    "lognormal, σ = 1": np.exp,
    "lognormal losses, σ = 1": lambda z: -np.exp(z),
    "2 % of −100": disasters(0.02, 100),
    "5 % of −20": disasters(0.05, 20),
    "10 % of −20": disasters(0.10, 20),
    "15 % of −5": disasters(0.15, 5),
    "t, 2 df": student(2),
    "t, 3 df": student(3),
    "5-point scale": lambda z: np.clip(np.rint(3 + z), 1, 5),
}
PORTFOLIO = "P(IC) of 3 metrics"


@dataclass(frozen=True)
class Case:
    """Distribution of simulated tables of one kind, and the truth about their models.

    Attributes
    ----------
    scores : str
        A key of `MARGINALS`, `PORTFOLIO`, or ``0/1, p % ones``.
    strength : tuple of k floats, or two such tuples
        Shift of the scores of each model (for binary scores: of the success probability); larger is better.
    n : int
        Number of independent samples, or of clusters in a clustered design.
    correlation : float
        Correlation of the models' underlying normal variables on one sample.
    design : {"paired", "unpaired", "clusters"}
        Clusters have one to six samples, and an intraclass correlation of ½.
    spread : tuple of k floats
        Scale of each model's scores; a larger scale is worse in the second order and not worse in the first.
    promised : bool
        Whether the family-wise error rate is promised, or only reported.
    costs : int
        Divisor of the number of simulated tables, for slow cases.
    """

    scores: str
    strength: tuple[float, ...]
    n: int
    correlation: float = 0.0
    design: str = "paired"
    spread: tuple[float, ...] | None = None
    promised: bool = True
    costs: int = 1

    @property
    def k(self) -> int:
        return len(self.strength)

    @property
    def identical(self) -> bool:
        return len(set(self.strength)) == 1 and self.spread is None

    @property
    def name(self) -> str:
        parts = [self.scores]
        if not self.identical:
            parts.append(f"strengths {_runs(self.strength)}" if self.spread is None else "sd 1 against 2")
        if self.correlation:
            parts.append(f"correlation {self.correlation:g}")
        if self.design != "paired":
            parts.append({"unpaired": "unpaired, n and 3n", "clusters": "clusters of 1 to 6"}[self.design])
        return ", ".join(parts)

    @property
    def key(self) -> str:
        """Key of the case in the store of results, and seed of its random streams."""
        return f"{self.name}; k={self.k}; n={self.n}"

    def better(self, order: int) -> NDArray[np.bool_]:
        """Return whether model i is truly better than model j, shape (k, k)."""
        truth = np.array(self.strength)
        if self.spread is not None and order == 2:
            truth = -np.array(self.spread)
        return np.greater.outer(truth, truth)

    def seed(self, number: int) -> np.random.SeedSequence:
        return np.random.SeedSequence([number, *self.key.encode()])

    def draw(self, rng: np.random.Generator) -> ClusteredScores:
        if self.design == "unpaired":
            sizes = [self.n * (1 + 2 * (model % 2)) for model in range(self.k)]
            values = [self._scores(rng, size, models=[model])[0] for model, size in enumerate(sizes)]
            return ClusteredScores.build(values, paired=False)
        if self.design == "clusters":
            cluster = np.repeat(np.arange(self.n), rng.integers(1, 7, self.n))
            return ClusteredScores.build(
                list(self._scores(rng, cluster.size, cluster=cluster)), [cluster] * self.k
            )
        return ClusteredScores.build(list(self._scores(rng, self.n)))

    def _scores(self, rng, size, *, models=None, cluster=None) -> Floats:
        chosen = list(range(self.k)) if models is None else models
        if self.scores == PORTFOLIO:
            metrics = [
                self._column(rng, size, name, chosen, cluster)
                for name in ("normal", "lognormal, σ = 2", "5-point scale")
            ]
            return independent_copula(np.stack([m.ravel() for m in metrics], axis=1)).reshape(
                len(chosen), size
            )
        return self._column(rng, size, self.scores, chosen, cluster)

    def _column(self, rng, size, name, chosen, cluster) -> Floats:
        noise = rng.normal(size=(len(chosen), size))
        if cluster is not None:
            noise = math.sqrt(0.5) * (noise + rng.normal(size=(len(chosen), self.n))[:, cluster])
        z = math.sqrt(self.correlation) * rng.normal(size=size) + math.sqrt(1 - self.correlation) * noise
        strength = np.array(self.strength)[chosen, None]
        if name.startswith("0/1"):
            share = float(name.split()[1]) / 100
            return (z < ndtri(share + strength)).astype(float)
        scores = MARGINALS[name](z)
        if self.spread is not None:
            scores = scores * np.array(self.spread)[chosen, None]
        return scores + strength


def _runs(strength) -> str:
    """Abbreviate repeated strengths, for example "4 × 0.3 and 4 × 0"."""
    levels = sorted(set(strength), reverse=True)
    return ", ".join(f"{strength.count(level)} × {level:g}" for level in levels)


def same(scores: str, k: int, n: int, correlation: float = 0.0, *, design="paired", **options) -> Case:
    return Case(scores, (0.0,) * k, n, correlation, design, **options)


# Every level of every factor (models, samples, distribution, correlation, design) with several levels of the
# others, and all rows of the table in method §4.
IDENTICAL = (
    same("normal", 2, 10),
    same("normal", 5, 10),
    same("normal", 12, 10),
    same("normal", 8, 20),
    same("normal", 5, 50, 0.7),
    same("normal", 2, 200, 0.9),
    same("normal", 12, 200, costs=2),
    same("normal", 8, 16, 0.9),
    same("normal", 8, 100, 0.9),
    same("lognormal, σ = 2", 2, 20),
    same("lognormal, σ = 2", 2, 200),
    same("lognormal, σ = 2", 8, 10, costs=2),
    same("lognormal, σ = 2", 12, 20, costs=2),
    same("lognormal, σ = 2", 5, 50, 0.7),
    same("lognormal, σ = 2", 12, 50),
    same("lognormal, σ = 2", 12, 100),
    same("lognormal, σ = 2", 12, 200),
    same("t, 3 df", 2, 50),
    same("t, 3 df", 5, 20, 0.7),
    same("t, 3 df", 12, 50),
    same("t, 3 df", 12, 200, costs=2),
    same("t, 2 df", 2, 12),
    same("t, 2 df", 2, 50),
    same("t, 2 df", 8, 100),
    same("t, 2 df", 12, 200, costs=2),
    *(same("5 % of −20", k, n) for k in (2, 4) for n in (12, 24, 60)),
    same("2 % of −100", 2, 60),
    same("10 % of −20", 2, 12),
    same("10 % of −20", 4, 24, 0.6),
    same("15 % of −5", 2, 24),
    same("15 % of −5", 4, 60),
    same("lognormal losses, σ = 1", 2, 12),
    same("lognormal losses, σ = 1", 4, 24),
    *(same("5 % of −20", k, 24, design="unpaired") for k in (2, 4)),
    same("10 % of −20", 2, 12, design="unpaired"),
    same("lognormal losses, σ = 1", 2, 12, design="unpaired"),
    same("5-point scale", 2, 10),
    same("5-point scale", 5, 50),
    same("5-point scale", 12, 15, 0.6, costs=2),
    same("5-point scale", 12, 100, 0.6),
    same("0/1, 75 % ones", 2, 50),
    same("0/1, 75 % ones", 5, 10),
    same("0/1, 75 % ones", 8, 20, 0.7),
    same("0/1, 75 % ones", 12, 50),
    same("0/1, 75 % ones", 5, 200, 0.7),
    same("0/1, 95 % ones", 2, 20),
    same("0/1, 95 % ones", 5, 200),
    same("0/1, 95 % ones", 8, 50),
    same("normal", 2, 20, design="clusters"),
    same("lognormal, σ = 2", 5, 20, design="clusters"),
    same(PORTFOLIO, 2, 200),
    same(PORTFOLIO, 5, 20, 0.7),
    same(PORTFOLIO, 12, 50),
    same("normal", 5, 20, design="unpaired"),
    same("lognormal, σ = 2", 5, 50, design="unpaired"),
)


@dataclass(frozen=True)
class Power:
    """Case with true differences, and the promised power in each order (None if it is only reported)."""

    case: Case
    promised: tuple[float | None, float | None] = (None, None)


FOUR_FOUR = (0.3,) * 4 + (0.0,) * 4
# The success rates are .75 and .60.
DIFFERENT = (
    Power(Case("0/1, 60 % ones", (0.15,) * 4 + (0.0,) * 4, 100), (2.2, 2.2)),
    Power(Case("0/1, 60 % ones", (0.15,) * 4 + (0.0,) * 4, 200), (6.5, 6.5)),
    Power(Case("normal", FOUR_FOUR, 100), (2.0, 1.5)),
    Power(Case("normal", FOUR_FOUR, 100, 0.7), (9.5, 8.5)),
    Power(Case("normal", (0.5,) * 6 + (0.0,) * 6, 200, costs=2), (30, 30)),
    Power(Case("normal", (0.0,) * 8, 100, spread=(1.0,) * 4 + (2.0,) * 4)),
)

# Ties and differences: rank sets must contain every possible rank of a tied model.
TIED = (
    Case("normal", (0.6, 0.6, 0.3, 0.3, 0.0, 0.0), 50),
    Case("normal", (0.6, 0.6, 0.3, 0.3, 0.0, 0.0), 200, 0.7),
    Case("lognormal, σ = 1", (0.0,) * 8, 100),
    Case("0/1, 60 % ones", (0.2, 0.2, 0.1, 0.1, 0.0, 0.0), 100),
    Case("5-point scale", (0.0,) * 6, 50, 0.7),
    Case("normal", (1.0, *(0.0,) * 7), 20),
    Case("t, 3 df", (0.5, *(0.0,) * 7), 100),
)


# The truth depends on 1 % of the samples, so the error rate is reported but not promised.
@dataclass(frozen=True)
class Disaster:
    """Two models whose violation ratio is exactly ε = ½ because of 1 % of the samples.

    Attributes
    ----------
    order : {1, 2}
        Order of dominance.
    n : int
        Number of samples.
    """

    order: int
    n: int

    @property
    def key(self) -> str:
        return f"disaster; order={self.order}; n={self.n}"

    @property
    def name(self) -> str:
        scores = "N(c, 1), 1 % disasters of −10" if self.order == 2 else "N(c, 1) against 1 % lognormal gains"
        return f"{scores}; order {self.order}"

    def draw(self, rng: np.random.Generator) -> ClusteredScores:
        rare = rng.random(self.n) < 0.01
        first, second = rng.normal(size=(2, self.n))
        shift = disaster_shift(self.order)
        if self.order == 2:
            return ClusteredScores.build([np.where(rare, -10.0, first + shift), second])
        gains = np.exp(1 + rng.normal(size=self.n))
        return ClusteredScores.build([first + shift, np.where(rare, gains, second)])


_SHIFTS: dict[int, float] = {}


def disaster_shift(order: int) -> float:
    """Return the shift c at which the first model's violation ratio is ½, computed from quantiles."""
    if order not in _SHIFTS:
        points = 20_000
        rare = points // 100
        z = ndtri((np.arange(points) + 0.5) / points)
        common = ndtri((np.arange(points - rare) + 0.5) / (points - rare))
        few = ndtri((np.arange(rare) + 0.5) / rare)
        low, high = 0.0, 3.0
        for _ in range(40):
            middle = (low + high) / 2
            if order == 2:
                first, second = np.concatenate([np.full(rare, -10.0), common + middle]), z
            else:
                first, second = z + middle, np.concatenate([common, np.exp(1 + few)])
            above = violation_matrices([np.sort(first), np.sort(second)])[order - 1, 0, 1] > 0.5
            low, high = (middle, high) if above else (low, middle)
        _SHIFTS[order] = (low + high) / 2
    return _SHIFTS[order]


DISASTERS = tuple(Disaster(order, n) for order in (2, 1) for n in (50, 200))
