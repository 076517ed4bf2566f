"""Which dominance to test."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from riskrank.errors import option
from riskrank.options.option import METHOD, TESTS, ask, rare, switch
from riskrank.options.resampling import LimitedSettings
from riskrank.options.suites import SuiteSettings, TaskTableSettings
from riskrank.options.values import contradict
from riskrank.studies.portfolio.options import PortfolioSettings

DIRECT, ABSOLUTE, RELATIVE = "direct", "absolute", "relative"


def refuse_threshold(test: str | None, threshold: Sequence[float]) -> None:
    """Refuse a threshold where no absolute test is asked for.

    Raises
    ------
    UsageError
    """
    if threshold and test in (DIRECT, RELATIVE):
        hint = f"use {option('test', ABSOLUTE)}, or leave out {option('threshold')}"
        contradict(option("test", test), option("threshold", f"{threshold[0]:g}"), hint)


@dataclass(frozen=True, kw_only=True)
class DominanceTestSettings(LimitedSettings):
    """Which dominance to test, and how."""

    order: str | int = ask("Order of dominance.", "both", choices=("1", "2", "both"))

    @property
    def kinds(self) -> tuple[str, ...]:
        """Kinds of claims to test."""
        return (RELATIVE,)

    @property
    def threshold(self) -> tuple[float, ...]:
        """Largest violation ratios of absolute tests; none for those of the paper."""
        return ()

    @property
    def variance(self) -> str:
        """How p-values are found."""
        return "bootstrap"

    @property
    def orders(self) -> tuple[int, ...]:
        """Orders of dominance to test."""
        return (1, 2) if self.order == "both" else (int(self.order),)


@dataclass(frozen=True, kw_only=True)
class DominanceSettings(DominanceTestSettings, PortfolioSettings, SuiteSettings, TaskTableSettings):
    """What to test."""

    PANEL: ClassVar[str] = METHOD

    test: str | None = rare(
        f"Claims: one model against the other alone, a ratio below {option('threshold')}, against the field.",
        choices=(DIRECT, ABSOLUTE, RELATIVE, "all"),
        unset="direct and absolute",
        panel=TESTS,
    )
    threshold: tuple[float, ...] = rare(
        "Largest violation ratio of absolute tests.",
        (),
        metavar="TAU",
        unset="0.08, 0.25, 0.4",
        example="0.25",
        panel=TESTS,
    )
    variance: str = rare(
        "P-values from resampling, or asymptotic ones from influence functions.",
        "bootstrap",
        choices=("bootstrap", "clt"),
        against=("paper_exact", "no_test"),
        panel=TESTS,
    )
    per_metric: bool = switch("Test every metric on its own instead of the portfolio.")
    ratios: bool = rare("Also show the full matrix of ratios of every test.", False)

    @property
    def folds_metrics(self) -> bool:
        """Whether metrics are folded, instead of each being tested on its own."""
        return not self.per_metric

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse_threshold(self.test, self.threshold)

    @property
    def kinds(self) -> tuple[str, ...]:
        """Kinds of claims to test."""
        if self.test == "all":
            return (DIRECT, ABSOLUTE, RELATIVE)
        return (DIRECT, ABSOLUTE) if self.test is None else (self.test,)
