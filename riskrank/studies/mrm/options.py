"""Options of ``mrm``."""

from dataclasses import dataclass

from riskrank.errors import option
from riskrank.options.option import rare, several, switch
from riskrank.options.resampling import ResamplingSettings
from riskrank.options.suites import SuiteSettings
from riskrank.studies.portfolio.options import PortfolioSettings
from riskrank.studies.rank.options import AGGREGATORS


@dataclass(frozen=True, kw_only=True)
class IntervalSettings(ResamplingSettings):
    """Settings of bootstrap intervals."""

    no_test: bool = switch("Statistics only: no resampling, no intervals.")


@dataclass(frozen=True, kw_only=True)
class MeanRiskSettings(PortfolioSettings, SuiteSettings, IntervalSettings):
    """Risks to subtract from the mean, and the scores to use."""

    per_metric: bool = switch("Every metric on its own instead of the portfolio.")
    with_portfolio: bool = rare(
        f"With {option('per_metric')}: the portfolio as well.", False, needs="per_metric"
    )
    risk: tuple[str, ...] = several(
        "Only this risk, such as semideviation, negative-tvar or gini-tail.", metavar="NAME", unset="all"
    )
    level: tuple[float, ...] = several("Levels of the tail risks.", metavar="P,...", unset="0.05, 0.1, 0.25")
    aggregate: str = rare(
        "Distance by which the rankings of consistent risks become one.", "kemeny", choices=AGGREGATORS
    )
