"""Options of ``portfolio``, and of other commands that combine metrics."""

from dataclasses import dataclass

from riskrank.errors import UsageError
from riskrank.options.option import Settings, rare, several, switch


@dataclass(frozen=True, kw_only=True)
class PortfolioSettings(Settings):
    """Options for combining metrics into one score."""

    copula: str = rare(
        "Copula that combines the metrics into one score: independent, called P(IC), or empirical, P(EC).",
        "independent",
        choices=("independent", "empirical"),
    )


@dataclass(frozen=True, kw_only=True)
class CombinationSettings(PortfolioSettings):
    """Options of ``portfolio``: how to combine metrics, and what to report."""

    summary: bool = switch("Show one row per model: mean, standard deviation, quantiles and TVaR.")
    level: tuple[float, ...] = several(
        "Levels of the quantiles and of TVaR (tail value at risk, the mean of the worst scores).",
        metavar="P,...",
        unset="0.01, 0.05, 0.1, 0.25, 0.5, 0.75",
        needs="summary",
    )

    def __post_init__(self) -> None:
        """Validate the options, and raise UsageError for a quantile level outside (0, 1]."""
        super().__post_init__()
        outside = [level for level in self.level if not 0 < level <= 1]
        if outside:
            problem = "a quantile level must be above 0 and at most 1"
            raise UsageError(problem, found=f"{outside[0]:g}", hint="give levels such as 0.05 or 0.5")
