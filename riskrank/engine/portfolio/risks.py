"""Risk measures and their levels ([RAB] Table 1).

Each risk is a function of sorted scores and, for some risks, of a level. Q is the quantile function, F its
integral and μ the mean. The code uses plain sums and einsum instead of matrix products. The arrays are too
small for BLAS threads: on a busy machine, waiting for them takes a hundred times as long as the sum.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from riskrank.engine.portfolio.quantiles import SortedScores
from riskrank.engine.types import Floats
from riskrank.errors import UsageError


def standard_deviation(scores: SortedScores, _level: float) -> Floats:
    """Return the standard deviation √E(X − μ)² of each sample. The level is ignored."""
    return np.sqrt(scores.mean_square_of(scores.deviations))


def semideviation(scores: SortedScores, _level: float) -> Floats:
    """Return the lower semideviation E(μ − X)₊ of each sample. The level is ignored.

    It is half the mean absolute deviation.
    """
    return scores.mean_of(np.abs(scores.deviations)) / 2


def negative_tvar(scores: SortedScores, level: float) -> Floats:
    """Return the negative Tail Value at Risk, −F(p)/p, of each sample at p = `level`."""
    return -scores.worst_mean(level)


def quantile_deviation(scores: SortedScores, level: float) -> Floats:
    """Return the mean minus the Tail Value at Risk, μ − F(p)/p, of each sample at p = `level`."""
    return scores.mean - scores.worst_mean(level)


def gini_tail(scores: SortedScores, _level: float) -> Floats:
    """Return the Gini tail measure 2∫(μp − F(p))dp of each sample. The level is ignored.

    It is half of Gini's mean difference, and is computed as μ − 2∫(1 − t)Q(t)dt.
    """
    slices = scores.gini_weights
    if slices.ndim == 1:
        return scores.mean - np.einsum("...i,i->...", scores.ordered, slices)
    return scores.mean - np.einsum("...i,...i->...", scores.ordered, slices)


def negative_var(scores: SortedScores, level: float) -> Floats:
    """Return the negative Value at Risk, −Q(p), of each sample at p = `level`."""
    return -scores.quantile(level)


DEFAULT_LEVELS = (0.05, 0.1, 0.25)


@dataclass(frozen=True)
class Risk:
    """A risk measure.

    Attributes
    ----------
    name : str
        Name on the command line.
    symbol : str
        Symbol in [RAB].
    meaning : str
        Short description.
    compute : callable
        Maps `SortedScores` of shape (..., n) and a level to risks of shape (...). Measures without a level
        ignore it.
    has_level : bool
        True if the risk needs a quantile level p.
    ssd_consistent, fsd_consistent : bool
        True if second-order or first-order stochastic dominance implies mean − risk at least as large.
    """

    name: str
    symbol: str
    meaning: str
    compute: Callable[[SortedScores, float], Floats]
    has_level: bool
    ssd_consistent: bool
    fsd_consistent: bool


# Name, symbol, meaning, function; has a level, is consistent with SSD, is consistent with FSD.
# All risks in the order of [RAB] Table 1; method §5 adds the last one.
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


@dataclass(frozen=True)
class RiskColumn:
    """A risk measure with its level, which is None for measures without a level."""

    risk: Risk
    level: float | None

    @property
    def label(self) -> str:
        """Symbol with its level, as in "-TVaR(0.05)"."""
        return self.risk.symbol if self.level is None else f"{self.risk.symbol}({self.level:g})"

    @property
    def model(self) -> str:
        """Formula of the criterion mean − risk, such as "μ−δ"; two minus signs are written as a plus."""
        return f"μ−{self.label}".replace("−-", "+")


def risk_columns(
    risks: Sequence[str] | None = None, levels: Sequence[float] = DEFAULT_LEVELS
) -> tuple[RiskColumn, ...]:
    """Return the columns of a mean–risk study: each risk measure once, or once per level if it has levels.

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
            hint = "write levels as proportions: 0.05 for the worst 5 %"
            raise UsageError(f"quantile level {level:g} is outside (0, 1]", found=f"{level:g}", hint=hint)
    names = list(dict.fromkeys(risks)) if risks else list(RISKS)
    grid = sorted({float(level) for level in levels})
    columns = []
    for name in names:
        risk = RISKS[name]
        columns += [RiskColumn(risk, level) for level in (grid if risk.has_level else [None])]
    return tuple(columns)
