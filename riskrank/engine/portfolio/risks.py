"""The risks of the literature, and at which levels to look at them ([RAB] Table 1).

What each risk is: a function of sorted scores, and of a level where it has one ([RAB] Table 1).

With Q the quantile function, F its integral and μ the mean. Plain sums and einsum rather than matrix
products: these arrays are too small for BLAS to share among threads, but it tries, and on a busy machine its
waiting threads cost a hundred times the sum.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from riskrank.engine.portfolio.quantiles import SortedScores
from riskrank.engine.types import Floats
from riskrank.errors import UsageError


def standard_deviation(scores: SortedScores, _level: float) -> Floats:
    """√E(X − μ)²."""
    return np.sqrt(scores.squared(scores.away))


def semideviation(scores: SortedScores, _level: float) -> Floats:
    """E(μ − X)₊; deviations sum to zero, so those below the mean are half of all."""
    return scores.expected(np.abs(scores.away)) / 2


def negative_tvar(scores: SortedScores, level: float) -> Floats:
    """−F(p)/p, minus the mean of the worst share."""
    return -scores.worst_mean(level)


def quantile_deviation(scores: SortedScores, level: float) -> Floats:
    """μ − F(p)/p."""
    return scores.mean - scores.worst_mean(level)


def gini_tail(scores: SortedScores, _level: float) -> Floats:
    """2∫(μp − F(p))dp = μ − 2∫F, and ∫F = ∫(1−t)Q(t)dt gives each order statistic its slice of 1 − t."""
    slices = scores.slices
    if slices.ndim == 1:
        return scores.mean - np.einsum("...i,i->...", scores.ordered, slices)
    return scores.mean - np.einsum("...i,...i->...", scores.ordered, slices)


def negative_var(scores: SortedScores, level: float) -> Floats:
    """−Q(p)."""
    return -scores.quantile(level)


DEFAULT_LEVELS = (0.05, 0.1, 0.25)


@dataclass(frozen=True)
class Risk:
    """One risk functional.

    Attributes
    ----------
    name : str
        Its name on the command line.
    symbol : str
        Its symbol in [RAB].
    meaning : str
        What it is, in words.
    of : callable
        The risk of `SortedScores`, shape (..., n) to (...), at a level (0 where it has none).
    has_level : bool
        Whether it needs a quantile level p.
    ssd_consistent, fsd_consistent : bool
        Whether dominance of that order implies a mean − risk at least as large.
    """

    name: str
    symbol: str
    meaning: str
    of: Callable[[SortedScores, float], Floats]
    has_level: bool
    ssd_consistent: bool
    fsd_consistent: bool


# Name, symbol, its words, the function; whether it has a level, and is consistent with SSD and with FSD.
RISKS = {
    row.name: row
    for row in (
        Risk("standard-deviation", "σ", "standard deviation", standard_deviation, False, False, False),
        Risk("semideviation", "δ", "semideviation", semideviation, False, True, True),
        Risk("negative-tvar", "-TVaR", "mean of the worst share", negative_tvar, True, True, True),
        Risk("quantile-deviation", "h", "mean minus TVaR", quantile_deviation, True, True, True),
        Risk("gini-tail", "Γ", "Gini tail", gini_tail, False, True, True),
        Risk("negative-var", "-VaR", "quantile", negative_var, True, False, True),
    )
}
"""All risks, in the order of [RAB] Table 1; the last one is method §5's addition."""


@dataclass(frozen=True)
class RiskColumn:
    """A risk at its level, None where it has none."""

    risk: Risk
    level: float | None

    @property
    def label(self) -> str:
        """The symbol with its level, as in "-TVaR(0.05)"."""
        return self.risk.symbol if self.level is None else f"{self.risk.symbol}({self.level:g})"

    @property
    def model(self) -> str:
        """The mean less the risk, as in "μ−δ"; what is minus something is added."""
        return f"μ−{self.label}".replace("−-", "+")


def risk_columns(
    risks: Sequence[str] | None = None, levels: Sequence[float] = DEFAULT_LEVELS
) -> tuple[RiskColumn, ...]:
    """The columns of a mean–risk study: each risk, those with a level once per level.

    Parameters
    ----------
    risks : sequence of str, optional
        Names from `RISKS`; all by default.
    levels : sequence of float
        Quantile levels in (0, 1].

    Returns
    -------
    tuple of RiskColumn

    Raises
    ------
    UsageError
        If a level lies outside (0, 1].
    """
    for level in levels:
        if not 0 < level <= 1:
            raise UsageError(
                f"quantile level {level:g} is outside (0, 1]",
                found=f"{level:g}",
                hint="give levels as shares, 0.05 for the worst 5 %",
            )
    names = list(dict.fromkeys(risks)) if risks else list(RISKS)
    grid = sorted({float(level) for level in levels})
    columns = []
    for name in names:
        risk = RISKS[name]
        columns += [RiskColumn(risk, level) for level in (grid if risk.has_level else [None])]
    return tuple(columns)
