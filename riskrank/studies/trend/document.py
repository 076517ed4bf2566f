"""What a trend says: a row a run, metric and model; a line a metric and model; cases that flip."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from riskrank.engine.family import Family
from riskrank.studies.document import Gated, of
from riskrank.studies.gate.verdicts import FAIL, INCONCLUSIVE, PASS
from riskrank.studies.trend.states import MOVED, WAS_WORSE, WORSE


class Against(NamedTuple):
    """A run compared with another on the samples they share, in the units of the file; None without any."""

    difference: float | None = None
    low: float | None = None
    high: float | None = None
    answer: str | None = None
    shared: int | None = None


@dataclass(frozen=True, slots=True)
class TrendRow:
    """One model on one metric in one run; numbers in the units and the direction of the file.

    Made of a run, its column of scores, means, and what it is against the baseline and the run before.
    """

    run: str = of(lambda run: run)
    metric: str = of(lambda column: column.spec.name)
    model: str = of(lambda column: column.table.models[column.model])
    mean: float = of(lambda column, mean: float(mean.mean[column.model]))
    low: float = of(lambda column, mean: float(mean.ends[0][column.model]))
    high: float = of(lambda column, mean: float(mean.ends[1][column.model]))
    against_baseline: float | None = of(lambda baseline: baseline.difference)
    against_baseline_low: float | None = of(lambda baseline: baseline.low)
    against_baseline_high: float | None = of(lambda baseline: baseline.high)
    against_baseline_answer: str | None = of(lambda baseline: baseline.answer)
    against_last: float | None = of(lambda last: last.difference)
    against_last_low: float | None = of(lambda last: last.low)
    against_last_high: float | None = of(lambda last: last.high)
    against_last_answer: str | None = of(lambda last: last.answer)
    scored: int = of(lambda column: column.counted[0])
    samples: int = of(lambda column: column.counted[1])
    samples_shared: int | None = of(lambda baseline, last: baseline.shared or last.shared)
    direction: str = of(lambda mean: "lower" if mean.lower else "higher")

    @property
    def failed(self) -> float:
        """Share of the samples that have no score."""
        return 1 - self.scored / self.samples

    @property
    def loss(self) -> float:
        """How much worse than the baseline it is, below 0 where better."""
        change = self.against_baseline or 0.0
        return change if self.direction == "lower" else -change


@dataclass(frozen=True, slots=True)
class TrendCase:
    """A case that flips between runs of one model, or was lost for good since a run."""

    metric: str
    model: str
    sample: str
    runs: int
    passed: int
    flips: int
    lost_since: str | None
    p_value: float
    p_adjusted: float = 1.0
    shown: bool = False


@dataclass(frozen=True, slots=True)
class TrendLine:
    """All runs of one model on one metric.

    Attributes
    ----------
    state : {"worse", "was-worse", "better", "open", "ruler-moved"}
        Of the last run against the baseline.
    drop : bool
        Whether the last run is shown to be worse than the run before.
    since : str or None
        The first of the runs, each below the baseline, that was shown to be worse.
    shown : TrendRow or None
        The last of these that was shown.
    cases, flaky, lost : int or None
        Cases; those that flip twice or more; those shown to be lost for good. None where scores are not all
        0 or 1.
    flip_share : float or None
        Share of cases that flip from a run to the next, where the model is not shown to have changed.
    more_failed : float or None
        How much larger the share of failures is in the last run than in the baseline, where that is too much.
    """

    metric: str
    model: str
    state: str
    drop: bool
    rows: Sequence[TrendRow]
    since: str | None = None
    shown: TrendRow | None = None
    cases: int | None = None
    flaky: int | None = None
    lost: int | None = None
    flip_share: float | None = None
    more_failed: float | None = None

    @property
    def last(self) -> TrendRow:
        """The last run that has it."""
        return self.rows[-1]

    @property
    def verdict(self) -> str:
        """What a gate says of it: a shown loss or an outage fails, a loss that is open is inconclusive."""
        if self.state == WORSE or self.drop or self.more_failed is not None:
            return FAIL
        return INCONCLUSIVE if self.state in (WAS_WORSE, MOVED) else PASS

    def entry(self) -> dict[str, Any]:
        """The line as an entry of ``meta``."""
        found = {name: getattr(self, name) for name in self.__slots__ if name not in ("rows", "shown")}
        return found | {"last_shown": None if self.shown is None else self.shown.run}


@dataclass(frozen=True, kw_only=True)
class TrendDocument(Gated[TrendRow], schema="trend"):
    """Means of all runs, what changed, and since when.

    The outcome is a fail where the last run is shown to be worse on a line or far more of it failed,
    inconclusive where a line is open after a loss, or as its ruler moved.

    Attributes
    ----------
    runs : sequence of str
        In their order.
    baseline : str
    lines : sequence of TrendLine
    found_cases : sequence of TrendCase
        Those that flip or were lost for good, the surest first.
    cases : int
        How many to show.
    moved : mapping of str to sequence of str
        By metric with a fixed set the runs at which its ruler moved.
    family : Family
    """

    runs: Sequence[str]
    baseline: str
    lines: Sequence[TrendLine]
    found_cases: Sequence[TrendCase]
    cases: int
    moved: Mapping[str, Sequence[str]]
    family: Family

    @property
    def question(self) -> str:
        """What it answers."""
        return f"What changed from {self.baseline} to {self.runs[-1]}?"

    def meta(self) -> Mapping[str, Any]:
        """Runs, lines and cases."""
        return {
            "outcome": self.outcome,
            "runs": list(self.runs),
            "baseline": self.baseline,
            "ruler_moved": {metric: list(runs) for metric, runs in self.moved.items()},
            "lines": [line.entry() for line in self.lines],
            "cases": [asdict(case) for case in self.found_cases],
        }
