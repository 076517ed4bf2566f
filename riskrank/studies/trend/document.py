"""The document of ``trend``: one row per run, one line per metric and model, and flipping cases."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from riskrank.engine.family import Family
from riskrank.studies.document import GatedDocument, computed
from riskrank.studies.gate.verdicts import FAIL, INCONCLUSIVE, PASS

# States of runs and lines.
WORSE, BETTER, UNDECIDED, SCORING_CHANGED = "worse", "better", "undecided", "scoring-changed"
WAS_WORSE = "worse-in-earlier-run"
"""State of a line with an earlier run that was significantly worse, and no significant recovery."""


class RunComparison(NamedTuple):
    """Difference between two runs on shared samples, in the units of the file; None if not compared."""

    difference: float | None = None
    low: float | None = None
    high: float | None = None
    answer: str | None = None
    shared: int | None = None


@dataclass(frozen=True, slots=True)
class TrendRow:
    """Mean of one model on one metric in one run, and its changes, in the units and direction of the file.

    A row is built from the run, its score column, the means, and the comparisons with the baseline and the
    previous run.
    """

    run: str = computed(lambda run: run)
    metric: str = computed(lambda column: column.spec.name)
    model: str = computed(lambda column: column.table.models[column.model])
    mean: float = computed(lambda column, mean: float(mean.mean[column.model]))
    low: float = computed(lambda column, mean: float(mean.intervals[0][column.model]))
    high: float = computed(lambda column, mean: float(mean.intervals[1][column.model]))
    against_baseline: float | None = computed(lambda baseline: baseline.difference)
    against_baseline_low: float | None = computed(lambda baseline: baseline.low)
    against_baseline_high: float | None = computed(lambda baseline: baseline.high)
    against_baseline_answer: str | None = computed(lambda baseline: baseline.answer)
    against_last: float | None = computed(lambda last: last.difference)
    against_last_low: float | None = computed(lambda last: last.low)
    against_last_high: float | None = computed(lambda last: last.high)
    against_last_answer: str | None = computed(lambda last: last.answer)
    scored: int = computed(lambda column: column.scored_and_total[0])
    samples: int = computed(lambda column: column.scored_and_total[1])
    samples_shared: int | None = computed(lambda baseline, last: baseline.shared or last.shared)
    direction: str = computed(lambda mean: "lower" if mean.lower_is_better else "higher")

    @property
    def failure_rate(self) -> float:
        """Proportion of samples without a score."""
        return 1 - self.scored / self.samples

    @property
    def loss(self) -> float:
        """Loss relative to the baseline, which is negative if the run is better."""
        change = self.against_baseline or 0.0
        return change if self.direction == "lower" else -change


@dataclass(frozen=True, slots=True)
class TrendCase:
    """A case that flips between runs of one model, or that fails permanently since some run."""

    metric: str
    model: str
    sample: str
    runs: int
    passed: int
    flips: int
    lost_since: str | None
    p_value: float
    p_adjusted: float = 1.0
    significant: bool = False


@dataclass(frozen=True, slots=True)
class TrendLine:
    """History of one model on one metric over all runs.

    Attributes
    ----------
    state : {"worse", "worse-in-earlier-run", "better", "undecided", "scoring-changed"}
        State of the last run compared with the baseline.
    drop : bool
        True if the last run is significantly worse than the previous run.
    since : str or None
        First significantly worse run in the final sequence of runs below the baseline.
    last_worse : TrendRow or None
        Last significantly worse run in that sequence.
    cases, flaky, lost : int or None
        Numbers of cases: in total, flipping at least twice, and significantly lost. None unless all scores
        are 0 or 1.
    flip_share : float or None
        Proportion of cases that flip between consecutive runs, excluding steps at which the model changed
        significantly.
    more_failed : float or None
        Increase of the failure rate from the baseline to the last run, or None if acceptable.
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
        """Row of the last run."""
        return self.rows[-1]

    @property
    def verdict(self) -> str:
        """Verdict on the last run: "pass", "fail" or "inconclusive".

        A significant loss or an outage fails. An undecided loss or changed scoring is inconclusive.
        """
        if self.state == WORSE or self.drop or self.more_failed is not None:
            return FAIL
        return INCONCLUSIVE if self.state in (WAS_WORSE, SCORING_CHANGED) else PASS

    def entry(self) -> dict[str, Any]:
        """Return the line as a ``meta`` entry."""
        fields = {name: getattr(self, name) for name in self.__slots__ if name not in ("rows", "last_worse")}
        return fields | {"last_shown": None if self.last_worse is None else self.last_worse.run}


@dataclass(frozen=True, kw_only=True)
class TrendDocument(GatedDocument[TrendRow], schema="trend"):
    """Means of all runs, significant changes, and the runs since which they persist.

    The outcome is "fail" if the last run of a line is significantly worse or has far more failures. It is
    "inconclusive" if a line is undecided after a loss, or its scoring changed.

    Attributes
    ----------
    runs : sequence of str
        Runs in order.
    baseline : str
    lines : sequence of TrendLine
    changed_cases : sequence of TrendCase
        Cases that flip or are lost permanently, the most significant first.
    n_cases : int
        Number of cases to show.
    scoring_changes : mapping of str to sequence of str
        Runs at which the scoring changed, for each metric with a fixed set.
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
        """Return the ``meta`` entries: runs, lines and cases."""
        return {
            "outcome": self.outcome,
            "runs": list(self.runs),
            "baseline": self.baseline,
            "ruler_moved": {metric: list(runs) for metric, runs in self.scoring_changes.items()},
            "lines": [line.entry() for line in self.lines],
            "cases": [asdict(case) for case in self.changed_cases],
        }
