"""Options of ``trend``: the baseline, the significance level, and the conditions that fail a build."""

from dataclasses import dataclass
from typing import ClassVar

from riskrank.errors import UsageError, option
from riskrank.options.inference import LevelSettings
from riskrank.options.option import METHOD, TESTS, param, rare, several


@dataclass(frozen=True, kw_only=True)
class TrendSettings(LevelSettings):
    """Options of ``trend``: baseline, fixed sets and decision rules."""

    PANEL: ClassVar[str] = METHOD

    baseline: str | None = param(
        "The run to compare the others with, or a file of scores from before all runs.",
        metavar="RUN",
        unset="the first run",
    )
    anchor: tuple[str, ...] = several(
        "Fixed set that was scored in each run, with a column run. If its scores change, the scoring of "
        "the metric changed, and runs before and after it are not compared.",
        metavar="METRIC=FILE",
    )
    cases: int | None = param(
        "Number of cases to show among those that flip or have failed for good.",
        metavar="N",
        unset="as many as fit",
        least=0,
    )
    fail_on: str | None = param(
        "Exit as a gate does: with 1 if the last run is significantly worse or has more failed calls, with "
        "4 if a loss is undecided or the scoring changed.",
        choices=("worse",),
        unset="never fail",
        panel=TESTS,
    )
    inconclusive: str | None = rare(
        f"With {option('fail_on', 'worse')}: outcome of an undecided loss.",
        choices=("pass", "fail"),
        unset="inconclusive, with exit status 4",
        panel=TESTS,
        needs="fail_on",
    )
    most_failed: float = rare(
        "Fail the last run if its share of calls without a score is higher than the baseline's by at least "
        "this much.",
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
        """Files of fixed sets, by metric."""
        return {metric: path for metric, _, path in (anchor.partition("=") for anchor in self.anchor)}
