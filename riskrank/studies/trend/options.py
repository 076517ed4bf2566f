"""Which run others are compared with, how sure answers have to be, and what fails a build."""

from dataclasses import dataclass
from typing import ClassVar

from riskrank.errors import UsageError, option
from riskrank.options.option import METHOD, TESTS, ask, rare, several
from riskrank.options.resampling import LevelSettings


@dataclass(frozen=True, kw_only=True)
class TrendSettings(LevelSettings):
    """What runs are compared with, and how sure answers have to be."""

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
        for one in self.anchor:
            metric, _, path = one.partition("=")
            if not metric or not path or len(self.anchors) < len(self.anchor):
                raise UsageError(
                    f"{option('anchor', one)} names no metric and its file, or a metric twice",
                    found=one,
                    hint=f"write {option('anchor', 'METRIC=FILE')}, a metric once",
                )

    @property
    def anchors(self) -> dict[str, str]:
        """Files of fixed sets by their metrics."""
        return {metric: path for metric, _, path in (one.partition("=") for one in self.anchor)}
