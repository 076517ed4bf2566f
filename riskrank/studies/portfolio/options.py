"""Options of ``portfolio``, and of all commands that combine metrics."""

from dataclasses import dataclass

from riskrank.errors import UsageError
from riskrank.options.option import Settings, rare, several, switch


@dataclass(frozen=True, kw_only=True)
class PortfolioSettings(Settings):
    """Settings that combine metrics into one score."""

    copula: str = rare(
        "Fold the metrics by the independent, P(IC), or the empirical copula, P(EC).",
        "independent",
        choices=("independent", "empirical"),
    )
    copula_scope: str = rare(
        "P(EC) compares a sample with those of all models, or of its own.",
        "pooled",
        choices=("pooled", "model"),
        needs="copula",
    )


@dataclass(frozen=True, kw_only=True)
class FoldingSettings(PortfolioSettings):
    """Settings of ``portfolio``: how to combine metrics, and what to report."""

    summary: bool = switch("One row a model: mean, sd, quantiles, Tail Value at Risk.")
    level: tuple[float, ...] = several(
        "Levels of quantiles and TVaR.",
        metavar="P,...",
        unset="0.01, 0.05, 0.1, 0.25, 0.5, 0.75",
        needs="summary",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        outside = [level for level in self.level if not 0 < level <= 1]
        if outside:
            raise UsageError(
                "a quantile level must lie above 0 and at most at 1",
                found=f"{outside[0]:g}",
                hint="give levels such as 0.05 or 0.5",
            )
