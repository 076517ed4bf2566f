"""Options of ``trend``: the baseline, the significance level, and the conditions that fail a build."""

from dataclasses import dataclass
from typing import ClassVar

from riskrank.errors import UsageError, option
from riskrank.options.inference import LevelSettings
from riskrank.options.option import METHOD, TESTS, param, rare, several


@dataclass(frozen=True, kw_only=True)
class TrendSettings(LevelSettings):
    """Options of ``trend``: baseline, sets of answers that every run rescores, and when to fail."""

    PANEL: ClassVar[str] = METHOD

    baseline: str | None = param(
        "Run that the others are compared with, or a file of scores from before the first run.",
        metavar="RUN",
        unset="the first run",
    )
    anchor: tuple[str, ...] = several(
        "Fixed set of answers that was scored again in each run; its file has a column run. If its scores "
        "change, the scoring of the metric changed, and no run is compared across the change.",
        metavar="METRIC=FILE",
    )
    cases: int | None = param(
        "Number of cases to show: those that switch between pass and fail, and those that stopped passing.",
        metavar="N",
        unset="as many as fit",
        least=0,
    )
    fail_on: str | None = param(
        "Set the exit status as gate does: 1 if the last run is significantly worse or has more failed "
        "calls, 4 if a loss is undecided, a metric has no scores or the scoring changed.",
        choices=("worse",),
        unset="never fail",
        panel=TESTS,
    )
    inconclusive: str | None = rare(
        f"With {option('fail_on', 'worse')}: outcome if it is undecided whether the last run is worse.",
        choices=("pass", "fail"),
        unset="inconclusive, with exit status 4",
        panel=TESTS,
        needs="fail_on",
    )
    most_failed: float = rare(
        "Fail if the share of missing scores is higher in the last run than in the baseline by this much or "
        "more.",
        0.05,
        metavar="SHARE",
        least=0,
        below=1,
        panel=TESTS,
    )

    def __post_init__(self) -> None:
        """Validate the options, and raise UsageError unless each fixed set names one metric and its file."""
        super().__post_init__()
        for anchor in self.anchor:
            metric, _, path = anchor.partition("=")
            if not metric or not path or len(self.anchors) < len(self.anchor):
                problem = f"{option('anchor', anchor)} must name one metric and its file, each metric once"
                hint = f"write {option('anchor', 'METRIC=FILE')} once for each metric"
                raise UsageError(problem, found=anchor, hint=hint)

    @property
    def anchors(self) -> dict[str, str]:
        """Files with answers that every run rescores, by metric."""
        return {metric: path for metric, _, path in (anchor.partition("=") for anchor in self.anchor)}
