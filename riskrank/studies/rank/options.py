"""What to rank by, and how sure to be."""

from dataclasses import dataclass
from typing import ClassVar

from riskrank.asked.option import METHOD, ask, rare, several, switch
from riskrank.asked.suites import SuiteSettings, TaskTableSettings
from riskrank.errors import UsageError, option
from riskrank.studies.dominance.options import RELATIVE, DominanceTestSettings
from riskrank.studies.portfolio.options import PortfolioSettings

AGGREGATORS = ("kemeny", "footrule", "pearson", "borda")


@dataclass(frozen=True, kw_only=True)
class RankSettings(DominanceTestSettings, PortfolioSettings, SuiteSettings, TaskTableSettings):
    """What to rank by, and how sure to be."""

    PANEL: ClassVar[str] = METHOD

    default_kinds: ClassVar[tuple[str, ...]] = (RELATIVE,)

    per_metric: bool = switch("Rank by every metric on its own instead of the portfolio.")
    on: tuple[str, ...] = rare(
        f"With {option('per_metric', True)}: rank by cost-per-success:COST/SUCCESS, all costs over all "
        "successes.",
        (),
        metavar="STATISTIC",
    )
    aggregate: str | None = rare(
        "Aggregate the rankings of the metrics, exactly: RA(R-SSD@M) and so on.",
        choices=AGGREGATORS,
        unset="kemeny",
    )
    method: tuple[str, ...] = several(
        "Only this method: R-SSD, SSD(0.25)@P(EC), RA(R-SSD@M), RA(MRM@P(IC)), MWR...", metavar="NAME"
    )
    rank_by: str = rare(
        "Order by violation ratio, or by significant wins (Borda), as the paper does.",
        "ratio",
        choices=("ratio", "wins"),
    )
    top: int | None = ask("Only the N best models by each method.", metavar="N", least=1)
    all_methods: bool = rare("Both portfolios, aggregation over metrics, mean-risk models.", False)
    stability: tuple[int, ...] = rare("Repeat on random subsamples of these sizes.", (), metavar="N,...")
    stability_repeats: int | None = rare(
        f"Subsamples a size of {option('stability')}.", metavar="R", unset="5"
    )

    @property
    def folds_metrics(self) -> bool:
        """Whether metrics are folded or aggregated, instead of each being ranked on its own alone."""
        return not self.per_metric or self.aggregate is not None

    def __post_init__(self) -> None:
        super().__post_init__()
        self._refuse_two_ways_to_rank()
        if self.on and not self.per_metric:
            raise UsageError(
                f"{option('on')} ranks by a statistic of its own, and not by the portfolio",
                found=f"{option('on', self.on[0])} without {option('per_metric', True)}",
                hint=f"add {option('per_metric', True)}",
            )
        if self.stability_repeats is not None and not self.stability:
            raise UsageError(
                f"{option('stability_repeats')} goes with {option('stability')}",
                found=option("stability_repeats", self.stability_repeats),
                hint=f"add {option('stability', '100,500')}",
            )

    def _refuse_two_ways_to_rank(self) -> None:
        chosen = [
            option(name, None if name == "method" else True)
            for name in ("per_metric", "method", "all_methods")
            if getattr(self, name)
        ]
        if len(chosen) > 1:
            raise UsageError(
                f"{chosen[0]} and {chosen[1]} both say what to rank by",
                found="both",
                hint="use one of them",
            )
        if self.all_methods and self.copula == "empirical":
            raise UsageError(
                f"{option('all_methods', True)} uses both copulas",
                found=option("copula", "empirical"),
                hint=f"leave {option('copula')} out",
            )
        if self.method and (self.threshold or self.test is not None or self.order != "both"):
            raise UsageError(
                f"{option('method')} names its own order, test and threshold",
                found=f"{option('method', self.method[0])} with {option('order')}, {option('test')} or "
                f"{option('threshold')}",
                hint=f"write the threshold into the method, e.g. {option('method', 'SSD(0.25)')}",
            )
        if self.aggregate and not chosen:
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
