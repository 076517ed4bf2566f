"""What goes into the report, and how to test."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

from riskrank.options.option import METHOD, ask, switch
from riskrank.options.resampling import LimitedSettings
from riskrank.options.suites import RANDOM, SuiteSettings
from riskrank.studies.copa.options import CopaSettings
from riskrank.studies.dominance.options import DIRECT, DominanceSettings
from riskrank.studies.gsd.options import GsdSettings
from riskrank.studies.mrm.options import MeanRiskSettings
from riskrank.studies.portfolio.options import PortfolioSettings
from riskrank.studies.rank.options import RankSettings

# Settings that several of its studies share: how metrics are folded, and how differences are tested.
_PORTFOLIO = ("copula", "copula_scope", "tasks", "task_scale")
_TESTS = ("resamples", "alpha", "seed", "correction", "paper_exact", "no_test", "work_limit")
# Resamples of what needs intervals only, whatever the tests take.
_INTERVAL_RESAMPLES = 1000


@dataclass(frozen=True, kw_only=True)
class ReportSettings(PortfolioSettings, LimitedSettings, SuiteSettings):
    """What goes into the report, and how to test."""

    PANEL: ClassVar[str] = METHOD

    gsd: bool = switch("A chapter on generalized stochastic dominance, for few samples.")
    copa: bool = switch("A chapter on COPA, for metrics without a common unit.")
    title: str | None = ask("Head of the page.", metavar="TEXT")

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.ranking, self.pairs  # what they refuse is refused at the door

    @property
    def ranking(self) -> RankSettings:
        """Settings of the ranking itself."""
        return RankSettings(**self._of(_PORTFOLIO), **self._of(_TESTS))

    @property
    def pairs(self) -> DominanceSettings:
        """Settings of the comparison pair by pair."""
        return DominanceSettings(**self._of(_PORTFOLIO), **self._of(_TESTS), test=DIRECT)

    @property
    def risks(self) -> MeanRiskSettings:
        """Settings of the mean-risk models."""
        drawn = self.resamples if isinstance(self.resamples, int) else _INTERVAL_RESAMPLES
        shared = self._of((*_PORTFOLIO, "alpha", "seed", "no_test"))
        return MeanRiskSettings(**shared, resamples=drawn)

    @property
    def relation(self) -> GsdSettings:
        """Settings of generalized stochastic dominance."""
        tasks = RANDOM if self.tasks == RANDOM else None
        return GsdSettings(**self._of(("alpha", "seed", "no_test")), tasks=tasks)

    @property
    def choice(self) -> CopaSettings:
        """Settings of the choice without a common unit."""
        if self.no_test:
            return CopaSettings(no_test=True)
        return CopaSettings(**self._of(("alpha", "seed", "correction", "tasks")))

    def _of(self, names: Iterable[str]) -> dict[str, Any]:
        return {name: getattr(self, name) for name in names}
