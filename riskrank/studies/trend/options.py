"""Options of ``trend``: reference run, level of the tests, and conditions that fail a build."""

from dataclasses import dataclass
from typing import ClassVar

from riskrank.errors import UsageError, option
from riskrank.options.option import METHOD, TESTS, ask, rare, several
from riskrank.options.resampling import LevelSettings


@dataclass(frozen=True, kw_only=True)
class TrendSettings(LevelSettings):
    """Reference run, fixed sets and decision rules of a trend."""

    PANEL: ClassVar[str] = METHOD

    baseline: str | None = ask(
        "The run that others are compared with, or a file of scores that stand before all runs.",
        metavar="RUN",
        unset="the first run",
    )
    anchor: tuple[str, ...] = several(
        "A fixed set that was scored in each run, with a column run: where its scores change, the ruler of "
        "the metric moved, and nothing is claimed across it.",
        metavar="METRIC=FILE",
    )
    cases: int | None = ask(
        "Cases to show that flip, or were lost for good.", metavar="N", unset="what has room", least=0
    )
    fail_on: str | None = ask(
        "Exit as a gate does: 1 if the last run is shown to be worse, or more of it failed, 4 if a loss is "
        "open, or the ruler moved.",
        choices=("worse",),
        unset="never fail",
        panel=TESTS,
    )
    inconclusive: str | None = rare(
        f"With {option('fail_on', 'worse')}: what counts as open.",
        choices=("pass", "fail"),
        unset="an outcome of its own: exit status 4",
        panel=TESTS,
        needs="fail_on",
    )
    most_failed: float = rare(
        "Share of calls without a score: from so much more than the baseline's on the last run fails.",
        0.05,
        metavar="SHARE",
        least=0,
        below=1,
        panel=TESTS,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for anchor in self.anchor:
            metric, _, path = anchor.partition("=")
            if not metric or not path or len(self.anchors) < len(self.anchor):
                raise UsageError(
                    f"{option('anchor', anchor)} names no metric and its file, or a metric twice",
                    found=anchor,
                    hint=f"write {option('anchor', 'METRIC=FILE')}, a metric once",
                )

    @property
    def anchors(self) -> dict[str, str]:
        """Files of fixed sets, by metric."""
        return {metric: path for metric, _, path in (anchor.partition("=") for anchor in self.anchor)}
