"""What to rank by, and how sure to be."""

from dataclasses import dataclass
from typing import ClassVar

from riskrank.errors import UsageError, option
from riskrank.options.option import METHOD, ask, rare, several, switch
from riskrank.options.suites import SuiteSettings, TaskTableSettings
from riskrank.studies.dominance.options import DominanceTestSettings
from riskrank.studies.portfolio.options import PortfolioSettings

AGGREGATORS = ("kemeny", "footrule", "pearson", "borda")


@dataclass(frozen=True, kw_only=True)
class RankSettings(DominanceTestSettings, PortfolioSettings, SuiteSettings, TaskTableSettings):
    """What to rank by, and how sure to be."""

    PANEL: ClassVar[str] = METHOD

    per_metric: bool = switch(
        "Rank by every metric on its own instead of the portfolio.", against=("method", "all_methods")
    )
    on: tuple[str, ...] = rare(
        f"With {option('per_metric', True)}: rank by cost-per-success:COST/SUCCESS, all costs over all "
        "successes.",
        (),
        metavar="STATISTIC",
        needs="per_metric",
    )
    aggregate: str | None = rare(
        "Aggregate the rankings of the metrics, exactly: RA(R-SSD@M) and so on.",
        choices=AGGREGATORS,
        unset="kemeny",
    )
    method: tuple[str, ...] = several(
        "Only this method: R-SSD, SSD(0.25)@P(EC), RA(R-SSD@M), RA(MRM@P(IC)), MWR...",
        metavar="NAME",
        against=("all_methods", "order"),
    )
    rank_by: str = rare(
        "Order by violation ratio, or by significant wins (Borda), as the paper does.",
        "ratio",
        choices=("ratio", "wins"),
    )
    top: int | None = ask("Only the N best models by each method.", metavar="N", least=1)
    all_methods: bool = rare(
        "Both portfolios, aggregation over metrics, mean-risk models.", False, against=("copula",)
    )
    stability: tuple[int, ...] = rare("Repeat on random subsamples of these sizes.", (), metavar="N,...")
    stability_repeats: int | None = rare(
        f"Subsamples a size of {option('stability')}.", metavar="R", unset="5", needs="stability"
    )

    @property
    def folds_metrics(self) -> bool:
        """Whether metrics are folded or aggregated, instead of each being ranked on its own alone."""
        return not self.per_metric or self.aggregate is not None

    def __post_init__(self) -> None:
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
        """Distance of rank aggregation."""
        return self.aggregate or "kemeny"
