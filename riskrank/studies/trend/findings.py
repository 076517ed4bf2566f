"""Findings of ``trend`` in order of severity, and their sentences."""

from riskrank.engine.family import Answer
from riskrank.studies.findings import Finding, Sentences
from riskrank.studies.trend.document import (
    BETTER,
    SCORING_CHANGED,
    UNDECIDED,
    WAS_WORSE,
    WORSE,
    TrendDocument,
    TrendLine,
    TrendRow,
)
from riskrank.studies.wording import (
    decimals_from_errors,
    format_fixed,
    format_limit,
    format_percent,
    format_points,
    join_names,
)


def line_sentence(line: TrendLine) -> str:
    """Return a sentence about the last run: an outage if there is one, otherwise its comparison."""
    if line.more_failed is None:
        return answer_sentence(line)
    last = line.last
    return (
        f"{line.model} failed {format_points(line.more_failed)} more often in {last.run} than in the "
        f"baseline on {line.metric} ({last.samples - last.scored:,} of {last.samples:,} have no score)"
    )


def answer_sentence(line: TrendLine) -> str:
    """Return a sentence that compares the last run with the baseline, or with the previous run."""
    subject, last = f"{line.model} is", line.last
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
    """Format the interval of a difference without signs, such as ``0.04 to 0.09``."""
    limits = [getattr(row, f"against_{reference}_{end}") for end in ("low", "high")]
    magnitudes = sorted(abs(end) for end in limits if end is not None)
    if len(magnitudes) < 2:
        return f"about {format_fixed(abs(getattr(row, f'against_{reference}')), 3)}"
    return " to ".join(format_limit(end, _decimals(row, reference)) for end in magnitudes)


def format_difference(row: TrendRow, reference: str) -> str:
    """Format a difference with its interval, such as ``−0.06 (−0.09 to −0.04)``."""
    value, low, high = (getattr(row, f"against_{reference}{end}") for end in ("", "_low", "_high"))
    if value is None:
        return "–"
    decimals = _decimals(row, reference)
    text = f"{'+' if value > 0 else ''}{format_fixed(value, decimals)}"
    if low is None or high is None:
        return text
    return f"{text} ({format_limit(low, decimals)} to {format_limit(high, decimals)})"


def format_mean(row: TrendRow, *, with_interval: bool = True) -> str:
    """Format a mean, optionally with its interval."""
    decimals = decimals_from_errors([(row.high - row.low) / 4])
    if not with_interval:
        return format_fixed(row.mean, decimals)
    low, high = (format_fixed(limit, decimals) for limit in (row.low, row.high))
    return f"{format_fixed(row.mean, decimals)} ({low} to {high})"


def _decimals(row: TrendRow, reference: str) -> int:
    """Return the decimals that suit the interval of a comparison with a reference."""
    low, high = (getattr(row, f"against_{reference}_{end}") for end in ("low", "high"))
    return 3 if low is None or high is None else decimals_from_errors([(high - low) / 8])


# Smallest proportion of failed scores that is reported.
_FEWEST_FAILED = 0.05
_MORE_FAILED, _DROPPED = "more-failed", "worse-than-before"
# Answer of each kind of finding on a line.
_ANSWERS = {
    WORSE: Answer.CONTRADICTED,
    _DROPPED: Answer.CONTRADICTED,
    WAS_WORSE: Answer.UNDECIDED,
    BETTER: Answer.SIGNIFICANT,
}


def trend_findings(document: TrendDocument) -> list[Finding]:
    """Return the findings: changed scoring, then losses, gains and failed scores of each line."""
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
            parts = {end: getattr(row, f"against_{reference}{end}") for end in ("", "_low", "_high")}
            figures = {f"difference{end}": value for end, value in parts.items() if value is not None}
            answer = _ANSWERS[kind]
            findings.append(Finding(kind, models, on=line.metric, figures=figures, answer=answer))
        if line.more_failed is not None:
            share = {"share": last.failure_rate, "more": line.more_failed, "of": last.samples}
            share["failed"] = last.samples - last.scored
            findings.append(
                Finding(_MORE_FAILED, models, on=line.metric, figures=share, answer=Answer.CONTRADICTED)
            )
        elif last.run == document.runs[-1] and last.failure_rate >= _FEWEST_FAILED:
            findings.append(
                Finding("scores-failed", models, on=line.metric, figures={"share": last.failure_rate})
            )
    is_severe = any(
        finding.kind in (_MORE_FAILED, WORSE, _DROPPED, WAS_WORSE, SCORING_CHANGED) for finding in findings
    )
    return findings if is_severe else [*findings, Finding("level", answer=Answer.UNDECIDED)]


def _line_finding_sentence(finding: Finding, document: TrendDocument) -> str:
    """Return the sentence about one line."""
    sentence = line_sentence if finding.kind == _MORE_FAILED else answer_sentence
    model = document.provenance.models[finding.models[0]]
    line = next(line for line in document.lines if (line.metric, line.model) == (finding.on, model))
    return f"{sentence(line)}."


def _no_change_sentence(_: Finding, document: TrendDocument) -> str:
    """Return a sentence stating that no line has a significant loss."""
    last, better = document.runs[-1], any(line.state == BETTER for line in document.lines)
    or_gain = "" if better else " or gain"
    return f"No significant loss{or_gain} from {document.baseline} to {last}."


def _scoring_change_sentence(finding: Finding, document: TrendDocument) -> str:
    """Return a sentence that names the runs at which the scoring of a metric changed."""
    at = join_names(list(document.scoring_changes[finding.on]))
    return f"The scoring of {finding.on} changed at {at}, as its fixed set shows: no comparison crosses that."


def _failed_scores_sentence(finding: Finding, document: TrendDocument) -> str:
    """Return a sentence that states the percentage of missing scores in the last run."""
    share, model = format_percent(finding.figures["share"]), document.provenance.models[finding.models[0]]
    return f"{share} of the scores of {model} on {finding.on} are missing in {document.runs[-1]}."


SENTENCES: Sentences[TrendDocument] = Sentences(
    dict.fromkeys((_MORE_FAILED, WORSE, _DROPPED, WAS_WORSE, BETTER), _line_finding_sentence)
    | {
        SCORING_CHANGED: _scoring_change_sentence,
        "scores-failed": _failed_scores_sentence,
        "level": _no_change_sentence,
    }
)
"""Sentence of each kind of finding."""
