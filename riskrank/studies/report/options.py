"""Options of ``report``."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

from riskrank.options.inference import RANDOM, LimitedSettings, StatisticSettings, SuiteSettings
from riskrank.options.option import METHOD, param, switch
from riskrank.studies.copa.options import CopaSettings
from riskrank.studies.dominance.options import DIRECT, DominanceSettings
from riskrank.studies.gsd.options import GsdSettings
from riskrank.studies.mrm.options import MeanRiskSettings
from riskrank.studies.portfolio.options import PortfolioSettings
from riskrank.studies.rank.options import RankSettings

# Settings that several parts share: how to combine metrics, and how to test differences.
_PORTFOLIO = ("copula", "tasks", "task_scale")
_TESTS = ("resamples", "alpha", "seed", "correction", "paper_exact", "no_test", "work_limit")
# Number of resamples for parts with intervals but no tests.
_INTERVAL_RESAMPLES = 1000


@dataclass(frozen=True, kw_only=True)
class ReportSettings(StatisticSettings, PortfolioSettings, LimitedSettings, SuiteSettings):
    """Options of ``report``: its contents and tests."""

    PANEL: ClassVar[str] = METHOD

    gsd: bool = switch("Add a section on generalized stochastic dominance, which also works for few samples.")
    copa: bool = switch("Add a section on COPA, a choice by metrics without a common unit.")
    title: str | None = param("Title of the page.", metavar="TEXT")

    def __post_init__(self) -> None:
        """Validate the options, including those derived for the ranking and the pairwise tests."""
        super().__post_init__()
        _ = self.ranking, self.pairs  # validate the settings of the parts early

    @property
    def ranking(self) -> RankSettings:
        """Settings of ``rank`` for the report."""
        return RankSettings(**self._values(_PORTFOLIO), **self._values(_TESTS))

    @property
    def pairs(self) -> DominanceSettings:
        """Settings of ``dominance`` for the report."""
        return DominanceSettings(**self._values(_PORTFOLIO), **self._values(_TESTS), test=DIRECT)

    @property
    def risks(self) -> MeanRiskSettings:
        """Settings of ``mrm`` for the report."""
        resamples = self.resamples if isinstance(self.resamples, int) else _INTERVAL_RESAMPLES
        shared = self._values((*_PORTFOLIO, "alpha", "seed", "no_test"))
        return MeanRiskSettings(**shared, resamples=resamples)

    @property
    def relation(self) -> GsdSettings:
        """Settings of ``gsd`` for the report."""
        tasks = RANDOM if self.tasks == RANDOM else None
        return GsdSettings(**self._values(("alpha", "seed", "no_test")), tasks=tasks)

    @property
    def choice(self) -> CopaSettings:
        """Settings of ``copa`` for the report."""
        if self.no_test:
            return CopaSettings(no_test=True)
        return CopaSettings(**self._values(("alpha", "seed", "correction", "tasks")))

    def _values(self, names: Iterable[str]) -> dict[str, Any]:
        """Return the values of the named options as a dictionary of keyword arguments."""
        return {name: getattr(self, name) for name in names}
