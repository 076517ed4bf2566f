"""Result of ``trend``: rows per run, lines per metric and model, and cases that flip."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from riskrank.engine.family import Family
from riskrank.studies.document import Gated, of
from riskrank.studies.gate.verdicts import FAIL, INCONCLUSIVE, PASS
from riskrank.studies.trend.states import SCORING_CHANGED, WAS_WORSE, WORSE


class Comparison(NamedTuple):
    """Comparison of a run with another on shared samples, in the units of the file; None if not compared."""

    difference: float | None = None
    low: float | None = None
    high: float | None = None
    answer: str | None = None
    shared: int | None = None


@dataclass(frozen=True, slots=True)
class TrendRow:
    """One model on one metric in one run, in the units and the direction of the file.

    It is built from the run, its column of scores, the means, and the comparisons with the baseline and with
    the previous run.
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
    scored: int = of(lambda column: column.scored_and_total[0])
    samples: int = of(lambda column: column.scored_and_total[1])
    samples_shared: int | None = of(lambda baseline, last: baseline.shared or last.shared)
    direction: str = of(lambda mean: "lower" if mean.lower else "higher")

    @property
    def failed(self) -> float:
        """Share of the samples without a score."""
        return 1 - self.scored / self.samples

    @property
    def loss(self) -> float:
        """Loss against the baseline, negative if the run is better."""
        change = self.against_baseline or 0.0
        return change if self.direction == "lower" else -change


@dataclass(frozen=True, slots=True)
class TrendCase:
    """A case that flips between runs of one model, or is lost for good since a run."""

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
        State of the last run relative to the baseline.
    drop : bool
        Whether the last run is significantly worse than the previous run.
    since : str or None
        First significantly worse run among the latest runs that are all below the baseline.
    last_worse : TrendRow or None
        Last significantly worse run among them.
    cases, flaky, lost : int or None
        Number of cases, of cases that flip at least twice, and of cases that are significantly lost. None
        unless all scores are 0 or 1.
    flip_share : float or None
        Share of cases that flip from one run to the next, without steps at which the model changed
        significantly.
    more_failed : float or None
        Increase of the share of failures from the baseline to the last run, if it is too large.
    """

    metric: str
    model: str
    state: str
    drop: bool
    rows: Sequence[TrendRow]
    since: str | None = None
    last_worse: TrendRow | None = None
    cases: int | None = None
    flaky: int | None = None
    lost: int | None = None
    flip_share: float | None = None
    more_failed: float | None = None

    @property
    def last(self) -> TrendRow:
        """Last run of the line."""
        return self.rows[-1]

    @property
    def verdict(self) -> str:
        """Verdict for a gate.

        A significant loss or an outage fails; an undecided loss or changed scoring is inconclusive.
        """
        if self.state == WORSE or self.drop or self.more_failed is not None:
            return FAIL
        return INCONCLUSIVE if self.state in (WAS_WORSE, SCORING_CHANGED) else PASS

    def entry(self) -> dict[str, Any]:
        """Return the line as an entry of ``meta``."""
        fields = {name: getattr(self, name) for name in self.__slots__ if name not in ("rows", "last_worse")}
        return fields | {"last_shown": None if self.last_worse is None else self.last_worse.run}


@dataclass(frozen=True, kw_only=True)
class TrendDocument(Gated[TrendRow], schema="trend"):
    """Means of all runs, what changed, and since when.

    The outcome is a fail if the last run of a line is significantly worse or has far more failures. It is
    inconclusive if a line is undecided after a loss or its scoring changed.

    Attributes
    ----------
    runs : sequence of str
        Runs in order.
    baseline : str
    lines : sequence of TrendLine
    changed_cases : sequence of TrendCase
        Cases that flip or are lost for good, the most significant first.
    n_cases : int
        Number of cases to show.
    scoring_changes : mapping of str to sequence of str
        Runs at which the scoring changed, by metric with a fixed set.
    family : Family
    """

    runs: Sequence[str]
    baseline: str
    lines: Sequence[TrendLine]
    changed_cases: Sequence[TrendCase]
    n_cases: int
    scoring_changes: Mapping[str, Sequence[str]]
    family: Family

    @property
    def question(self) -> str:
        """The question that the study answers."""
        return f"What changed from {self.baseline} to {self.runs[-1]}?"

    def meta(self) -> Mapping[str, Any]:
        """Return runs, lines and cases."""
        return {
            "outcome": self.outcome,
            "runs": list(self.runs),
            "baseline": self.baseline,
            "ruler_moved": {metric: list(runs) for metric, runs in self.scoring_changes.items()},
            "lines": [line.entry() for line in self.lines],
            "cases": [asdict(case) for case in self.changed_cases],
        }
