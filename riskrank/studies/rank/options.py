"""Options of ``rank``."""

from dataclasses import dataclass
from typing import Any, ClassVar

from riskrank.errors import UsageError, option
from riskrank.options.inference import StatisticSettings, SuiteSettings, TaskTableSettings
from riskrank.options.option import METHOD, rare, several, switch
from riskrank.studies.dominance.options import DominanceTestSettings
from riskrank.studies.portfolio.options import PortfolioSettings

AGGREGATORS = ("kemeny", "footrule", "pearson", "borda")


@dataclass(frozen=True, kw_only=True)
class RankSettings(
    StatisticSettings, DominanceTestSettings, PortfolioSettings, SuiteSettings, TaskTableSettings
):
    """Options of ``rank``: the ranking methods and their tests."""

    PANEL: ClassVar[str] = METHOD

    per_metric: bool = switch(
        "Rank by each metric separately instead of the combined score.", against=("method", "all_methods")
    )
    aggregate: str | None = rare(
        "Distance to minimise when the rankings by each metric are aggregated, as in RA(R-SSD@M).",
        choices=AGGREGATORS,
        unset="kemeny",
    )
    method: tuple[str, ...] = several(
        "Ranking method to use: R-SSD, MWR, SSD(0.25)@P(EC), RA(R-SSD@M), ... (see docs/rank.md).",
        metavar="NAME",
        against=("all_methods", "order"),
    )
    rank_by: str = rare(
        "Order the models by their violation ratios, or by their numbers of significant wins (Borda count).",
        "ratio",
        choices=("ratio", "wins"),
    )
    top: int | None = rare("Show only the N best models of each method.", metavar="N", least=1)
    all_methods: bool = rare(
        "Show all ranking methods, including aggregation and mean-risk models.", False, against=("copula",)
    )
    stability: tuple[int, ...] = rare(
        "Repeat the ranking on random subsamples of these sizes.", (), metavar="N,..."
    )

    @property
    def needs(self) -> dict[str, Any]:
        """Requirements for reading the table, by name. With ``on``, a single model is enough."""
        return super().needs | ({"min_models": 1} if self.on else {})

    @property
    def combines_metrics(self) -> bool:
        """True if metrics are combined in one score, or rankings by several metrics are aggregated."""
        return not self.per_metric or self.aggregate is not None

    def __post_init__(self) -> None:
        """Validate the options, and raise UsageError if only one ranking is to be aggregated."""
        super().__post_init__()
        if self.aggregate and not (self.per_metric or self.method or self.all_methods):
            raise UsageError(
                f"{option('aggregate')} needs several rankings",
                found="one portfolio",
                hint=f"add {option('per_metric', True)}, {option('all_methods', True)}, or a "
                f"{option('method')} such as RA(R-SSD@M)",
            )

    @property
    def aggregator(self) -> str:
        """Distance between rankings that rank aggregation minimises; "kemeny" by default."""
        return self.aggregate or "kemeny"
