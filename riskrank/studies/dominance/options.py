"""Options of ``dominance``."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from riskrank.errors import option
from riskrank.options.inference import LimitedSettings, SuiteSettings, TaskTableSettings
from riskrank.options.option import METHOD, TESTS, param, rare, switch
from riskrank.options.values import contradict
from riskrank.studies.portfolio.options import PortfolioSettings

DIRECT, ABSOLUTE, RELATIVE = "direct", "absolute", "relative"


def refuse_threshold(test: str | None, threshold: Sequence[float]) -> None:
    """Raise an error if a threshold is given without an absolute test.

    Raises
    ------
    UsageError
        If `threshold` is not empty and `test` is not absolute.
    """
    if threshold and test in (DIRECT, RELATIVE):
        hint = f"use {option('test', ABSOLUTE)}, or leave out {option('threshold')}"
        contradict(option("test", test), option("threshold", f"{threshold[0]:g}"), hint)


@dataclass(frozen=True, kw_only=True)
class DominanceTestSettings(LimitedSettings):
    """Options that select dominance tests and control their computation."""

    order: str | int = param("Order of stochastic dominance to test.", "both", choices=("1", "2", "both"))

    @property
    def kinds(self) -> tuple[str, ...]:
        """Kinds of dominance tests: direct, absolute or relative."""
        return (RELATIVE,)

    @property
    def threshold(self) -> tuple[float, ...]:
        """Thresholds of the violation ratio in absolute tests. If empty, the paper's thresholds are used."""
        return ()

    @property
    def variance(self) -> str:
        """Method for computing p-values: "bootstrap" or "clt"."""
        return "bootstrap"

    @property
    def orders(self) -> tuple[int, ...]:
        """Orders of dominance to test: 1, 2 or both."""
        return (1, 2) if self.order == "both" else (int(self.order),)


@dataclass(frozen=True, kw_only=True)
class DominanceSettings(DominanceTestSettings, PortfolioSettings, SuiteSettings, TaskTableSettings):
    """Options of ``dominance``: the tests, and the scores to use."""

    PANEL: ClassVar[str] = METHOD

    test: str | None = rare(
        "Claims to test: one model against another (direct), one against all others (relative), or a "
        f"violation ratio below {option('threshold')} (absolute).",
        choices=(DIRECT, ABSOLUTE, RELATIVE, "all"),
        unset="direct and absolute",
        panel=TESTS,
    )
    threshold: tuple[float, ...] = rare(
        "Violation ratio that an absolute test compares with.",
        (),
        metavar="TAU",
        unset="0.08, 0.25, 0.4",
        example="0.25",
        panel=TESTS,
    )
    variance: str = rare(
        "Method for p-values: resampling (bootstrap), or the central limit theorem (clt), which is faster.",
        "bootstrap",
        choices=("bootstrap", "clt"),
        against=("paper_exact", "no_test"),
        panel=TESTS,
    )
    per_metric: bool = switch("Test each metric separately instead of the combined score.")

    @property
    def combines_metrics(self) -> bool:
        """True if metrics are combined into one score; otherwise, each metric is tested separately."""
        return not self.per_metric

    def __post_init__(self) -> None:
        """Validate the options, and raise UsageError for a threshold without an absolute test."""
        super().__post_init__()
        refuse_threshold(self.test, self.threshold)

    @property
    def kinds(self) -> tuple[str, ...]:
        """Kinds of dominance tests: direct, absolute or relative."""
        if self.test == "all":
            return (DIRECT, ABSOLUTE, RELATIVE)
        return (DIRECT, ABSOLUTE) if self.test is None else (self.test,)
