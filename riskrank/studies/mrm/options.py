"""Options of ``mrm``."""

from dataclasses import dataclass

from riskrank.errors import option
from riskrank.options.inference import ResamplingSettings, SuiteSettings
from riskrank.options.option import TESTS, rare, several, switch
from riskrank.studies.portfolio.options import PortfolioSettings
from riskrank.studies.rank.options import AGGREGATORS


@dataclass(frozen=True, kw_only=True)
class MeanRiskSettings(PortfolioSettings, SuiteSettings, ResamplingSettings):
    """Options of ``mrm``: the risks to subtract from the mean, and the scores to use."""

    no_test: bool = switch("Show only statistics, without resampling and intervals.", panel=TESTS)
    per_metric: bool = switch("Analyse each metric separately instead of the combined score.")
    with_portfolio: bool = rare(
        f"With {option('per_metric')}: analyse the combined score as well.", False, needs="per_metric"
    )
    risk: tuple[str, ...] = several(
        "Risk measure to use, such as semideviation, negative-tvar or gini-tail.", metavar="NAME", unset="all"
    )
    level: tuple[float, ...] = several("Levels of the tail risks.", metavar="P,...", unset="0.05, 0.1, 0.25")
    aggregate: str = rare(
        "Distance to minimise when rankings by risk are aggregated.", "kemeny", choices=AGGREGATORS
    )
