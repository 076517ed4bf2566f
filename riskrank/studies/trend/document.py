"""The document of ``trend``: runs, lines per metric and model, flipping cases, and findings."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from riskrank.engine.family import Answer, Family
from riskrank.studies import wording
from riskrank.studies.document import GatedDocument, computed
from riskrank.studies.findings import Finding, Sentences
from riskrank.studies.gate.verdicts import FAIL, INCONCLUSIVE, PASS

# States of runs and lines.
WORSE, BETTER, UNDECIDED, SCORING_CHANGED = "worse", "better", "undecided", "scoring-changed"
# State of a line with an earlier run that was significantly worse, and no significant recovery.
WAS_WORSE = "worse-in-earlier-run"
# State of a line without scores in the last run.
NOT_SCORED = "not-scored"


class RunComparison(NamedTuple):
    """Difference between two runs on shared samples, in the units of the file; None if not compared."""

    difference: float | None = None
    low: float | None = None
    high: float | None = None
    answer: str | None = None
    shared: int | None = None


@dataclass(frozen=True, slots=True)
class TrendRow:
    """Mean of one model on one metric in one run, and its changes, in the units of the input file."""

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
    scored: int = computed(lambda column: column.counts[0])
    samples: int = computed(lambda column: column.counts[1])
    samples_shared: int | None = computed(lambda baseline, last: baseline.shared or last.shared)
    direction: str = computed(lambda mean: "lower" if mean.lower_is_better else "higher")

    @property
    def failure_rate(self) -> float:
        """Proportion of samples without a score."""
        return 1 - self.scored / self.samples

    @property
    def loss(self) -> float:
        """Loss relative to the baseline; negative if the run is better."""
        change = self.against_baseline or 0.0
        return change if self.direction == "lower" else -change


@dataclass(frozen=True, slots=True)
class TrendCase:
    """A sample that passes in some runs of a model and fails in others, or fails since some run."""

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
    state : {"worse", "worse-in-earlier-run", "better", "undecided", "scoring-changed", "not-scored"}
        State of the last run compared with the baseline.
    drop : bool
        True if the last run is significantly worse than the previous run.
    since : str or None
        First significantly worse run in the final sequence of runs below the baseline, or first run of the
        final sequence of runs without scores.
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
        """Row of the last run with scores."""
        return self.rows[-1]

    @property
    def verdict(self) -> str:
        """Verdict on the last run: "pass", "fail" or "inconclusive".

        The run fails if it has a significant loss or more failed calls. An undecided loss, changed
        scoring or the absence of scores is inconclusive.
        """
        if self.state == WORSE or self.drop or self.more_failed is not None:
            return FAIL
        return INCONCLUSIVE if self.state in (WAS_WORSE, SCORING_CHANGED, NOT_SCORED) else PASS

    def entry(self) -> dict[str, Any]:
        """Return the history, without its rows, as a dictionary for the JSON object ``meta``."""
        fields = {name: getattr(self, name) for name in self.__slots__ if name not in ("rows", "last_worse")}
        return fields | {"last_shown": None if self.last_worse is None else self.last_worse.run}


@dataclass(frozen=True, kw_only=True)
class TrendDocument(GatedDocument[TrendRow], schema="trend"):
    """Means of all runs, significant changes, and the runs since which they persist.

    The outcome is "fail" if the last run of some model and metric is significantly worse or has far more
    failures. It is "inconclusive" if it is undecided after a loss, its scoring changed, or
    the last run lacks its scores.

    Attributes
    ----------
    runs : sequence of str
        Runs in order.
    baseline : str
        Name of the baseline run.
    lines : sequence of TrendLine
        Results over all runs, one per metric and group.
    changed_cases : sequence of TrendCase
        Cases that flip or are lost permanently, the most significant first.
    n_cases : int
        Number of cases to show.
    scoring_changes : mapping of str to sequence of str
        Runs at which the scoring changed, for each metric with a fixed set.
    family : Family
        Level and correction for multiple tests.
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
        """Question that the document answers, used as its heading."""
        return f"What changed from {self.baseline} to {self.runs[-1]}?"

    def meta(self) -> Mapping[str, Any]:
        """Return the runs, the histories and the changed cases for the JSON object ``meta``."""
        return {
            "outcome": self.outcome,
            "runs": list(self.runs),
            "baseline": self.baseline,
            "ruler_moved": {metric: list(runs) for metric, runs in self.scoring_changes.items()},
            "lines": [line.entry() for line in self.lines],
            "cases": [asdict(case) for case in self.changed_cases],
        }


def line_sentence(line: TrendLine) -> str:
    """Return a sentence about the last run of a model on a metric.

    It is about more failed calls if there are any, and otherwise about the means.
    """
    if line.more_failed is None:
        return comparison_sentence(line)
    last = line.last
    return (
        f"{line.model} failed {wording.format_points(line.more_failed)} more often in {last.run} than in the "
        f"baseline on {line.metric} ({last.samples - last.scored:,} of {last.samples:,} have no score)"
    )


def comparison_sentence(line: TrendLine) -> str:
    """Return a sentence that compares the last run's mean with the baseline or the previous run."""
    subject, last = f"{line.model} is", line.last
    if line.state == NOT_SCORED:
        since = f"since {line.since} (last scored in {last.run})"
        return f"{line.model} has had no scores on {line.metric} {since}"
    if line.state == WORSE and line.last_worse is not None:
        when = f"since {line.since}" if line.since != line.last_worse.run else f"in {line.since}"
        return f"{subject} significantly worse on {line.metric} {when}, by {format_amount(line.last_worse)}"
    if line.drop:
        by = format_amount(last, "last")
        scope = f"on {line.metric} in {last.run}"
        return f"{subject} significantly worse {scope} than in the previous run, by {by}"
    if line.state == WAS_WORSE and line.last_worse is not None:
        first = "" if line.since == line.last_worse.run else f" since {line.since}, most recently"
        by = format_amount(line.last_worse)
        return (
            f"{line.model} was significantly worse on {line.metric}{first} in {line.last_worse.run}, by "
            f"{by}; whether it still is in {last.run} is undecided"
        )
    if line.state == BETTER:
        return f"{subject} significantly better on {line.metric} in {last.run}, by {format_amount(last)}"
    if line.state == SCORING_CHANGED:
        return f"the scoring of {line.metric} changed, so {line.model} is not compared across the change"
    return f"{line.model} on {line.metric}: no significant change"


def format_amount(row: TrendRow, reference: str = "baseline") -> str:
    """Format the interval of a difference without signs, such as ``0.04 to 0.09``.

    `reference` is "baseline", or "last" for the previous run.
    """
    limits = [getattr(row, f"against_{reference}_{end}") for end in ("low", "high")]
    magnitudes = sorted(abs(end) for end in limits if end is not None)
    if len(magnitudes) < 2:
        return f"about {wording.format_fixed(abs(getattr(row, f'against_{reference}')), 3)}"
    return " to ".join(wording.format_limit(end, _decimals(row, reference)) for end in magnitudes)


def format_difference(row: TrendRow, reference: str) -> str:
    """Format a difference with its interval, such as ``−0.06 (−0.09 to −0.04)``.

    `reference` is "baseline", or "last" for the previous run.
    """
    value, low, high = (getattr(row, f"against_{reference}{end}") for end in ("", "_low", "_high"))
    if value is None:
        return "–"
    decimals = _decimals(row, reference)
    text = f"{'+' if value > 0 else ''}{wording.format_fixed(value, decimals)}"
    if low is None or high is None:
        return text
    return f"{text} ({wording.format_limit(low, decimals)} to {wording.format_limit(high, decimals)})"


def format_mean(row: TrendRow, *, with_interval: bool = True) -> str:
    """Format a mean, optionally with its interval."""
    decimals = wording.decimals_from_errors([(row.high - row.low) / 4])
    if not with_interval:
        return wording.format_fixed(row.mean, decimals)
    low, high = (wording.format_fixed(limit, decimals) for limit in (row.low, row.high))
    return f"{wording.format_fixed(row.mean, decimals)} ({low} to {high})"


def _decimals(row: TrendRow, reference: str) -> int:
    """Return the number of decimals for a difference, from the width of its interval.

    `reference` is "baseline", or "last" for the previous run.
    """
    low, high = (getattr(row, f"against_{reference}_{end}") for end in ("low", "high"))
    return 3 if low is None or high is None else wording.decimals_from_errors([(high - low) / 8])


# Smallest proportion of failed scores that is reported.
_FEWEST_FAILED = 0.05
_MORE_FAILED, _DROPPED = "more-failed", "worse-than-before"
# Answer of each kind of finding on a line.
_ANSWERS = {
    WORSE: Answer.CONTRADICTED,
    _DROPPED: Answer.CONTRADICTED,
    WAS_WORSE: Answer.UNDECIDED,
    NOT_SCORED: Answer.UNDECIDED,
    BETTER: Answer.SIGNIFICANT,
}


def trend_findings(document: TrendDocument) -> list[Finding]:
    """Return the findings: changed scoring, then losses, gains and failed calls by metric and model.

    Without a severe finding, the last one is that nothing changed significantly.
    """
    model_indices = {model: at for at, model in enumerate(document.provenance.models)}
    findings = [
        Finding(SCORING_CHANGED, on=metric, figures={"times": len(runs)})
        for metric, runs in document.scoring_changes.items()
        if runs
    ]
    for line in document.lines:
        last, models = line.last, (model_indices[line.model],)
        kind = _DROPPED if line.drop and line.state != WORSE else line.state
        if kind not in (UNDECIDED, SCORING_CHANGED):
            row, reference = line.last_worse or last, "last" if kind == _DROPPED else "baseline"
            ends = () if kind == NOT_SCORED else ("", "_low", "_high")
            parts = {end: getattr(row, f"against_{reference}{end}") for end in ends}
            figures = {f"difference{end}": value for end, value in parts.items() if value is not None}
            answer = _ANSWERS[kind]
            findings.append(Finding(kind, models, on=line.metric, figures=figures, answer=answer))
        if line.more_failed is not None:
            share = {"share": last.failure_rate, "more": line.more_failed, "of": last.samples}
            share["failed"], answer = last.samples - last.scored, Answer.CONTRADICTED
            findings.append(Finding(_MORE_FAILED, models, on=line.metric, figures=share, answer=answer))
        elif line.state != NOT_SCORED and last.failure_rate >= _FEWEST_FAILED:
            share = {"share": last.failure_rate}
            findings.append(Finding("scores-failed", models, on=line.metric, figures=share))
    severe = {_MORE_FAILED, WORSE, _DROPPED, WAS_WORSE, SCORING_CHANGED, NOT_SCORED}
    is_severe = not severe.isdisjoint(finding.kind for finding in findings)
    return findings if is_severe else [*findings, Finding("level", answer=Answer.UNDECIDED)]


def _line_finding_sentence(finding: Finding, document: TrendDocument) -> str:
    """Return the sentence for a finding about the last run of one metric and model."""
    sentence = line_sentence if finding.kind == _MORE_FAILED else comparison_sentence
    model = document.provenance.models[finding.models[0]]
    line = next(line for line in document.lines if (line.metric, line.model) == (finding.on, model))
    return f"{sentence(line)}."


def _no_change_sentence(_: Finding, document: TrendDocument) -> str:
    """Return the sentence that no model has a significant loss on any metric."""
    or_gain = "" if any(line.state == BETTER for line in document.lines) else " or gain"
    return f"No significant loss{or_gain} from {document.baseline} to {document.runs[-1]}."


# Sentence of each kind of finding.
SENTENCES: Sentences[TrendDocument] = Sentences(
    dict.fromkeys((_MORE_FAILED, WORSE, _DROPPED, WAS_WORSE, BETTER, NOT_SCORED), _line_finding_sentence)
    | {
        SCORING_CHANGED: lambda finding, document: (
            f"The scoring of {finding.on} changed at "
            f"{wording.join_names([*document.scoring_changes[finding.on]])}, as its fixed set shows: "
            "comparisons stop there."
        ),
        "scores-failed": lambda finding, document: (
            f"{wording.format_percent(finding.figures['share'])} of the scores of "
            f"{document.provenance.models[finding.models[0]]} on {finding.on} are missing in "
            f"{document.runs[-1]}."
        ),
        "level": _no_change_sentence,
    }
)
