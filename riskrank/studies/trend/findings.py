"""Findings of a trend in order of severity, and their sentences."""

from riskrank.engine.family import Side
from riskrank.studies.findings import Finding, Sentences
from riskrank.studies.trend.document import TrendDocument, TrendLine, TrendRow
from riskrank.studies.trend.states import BETTER, SCORING_CHANGED, UNDECIDED, WAS_WORSE, WORSE
from riskrank.studies.wording import decimals_of, names, percent, rounded, rounded_beside_zero


def line_sentence(line: TrendLine) -> str:
    """Return a sentence about the last run of a line: an outage if there is one, else its comparison."""
    if line.more_failed is None:
        return answer_sentence(line)
    last = line.last
    return (
        f"{line.model} failed on {percent(line.more_failed)} more of {line.metric} in {last.run} than in the "
        f"baseline ({last.samples - last.scored:,} of {last.samples:,} have no score)"
    )


def answer_sentence(line: TrendLine) -> str:
    """Return a sentence that compares the last run with the baseline, or with the previous run."""
    subject, last = f"{line.model} is", line.last
    if line.state == WORSE and line.last_worse is not None:
        when = f"since {line.since}" if line.since != line.last_worse.run else f"in {line.since}"
        return f"{subject} shown worse on {line.metric} {when}, by {format_amount(line.last_worse)}"
    if line.drop:
        by = format_amount(last, "last")
        return f"{subject} shown worse on {line.metric} in {last.run} than in the run before, by {by}"
    if line.state == WAS_WORSE and line.last_worse is not None:
        first = "" if line.since == line.last_worse.run else f" since {line.since}, and last"
        by = format_amount(line.last_worse)
        return (
            f"{line.model} was shown worse on {line.metric}{first} in {line.last_worse.run}, by {by}; "
            f"whether {last.run} still is, is open"
        )
    if line.state == BETTER:
        return f"{subject} shown better on {line.metric} in {last.run}, by {format_amount(last)}"
    if line.state == SCORING_CHANGED:
        return f"the ruler of {line.metric} moved, so nothing is claimed of {line.model} across it"
    return f"{line.model} on {line.metric}: neither worse nor better is shown"


def format_amount(row: TrendRow, reference: str = "baseline") -> str:
    """Return the interval of a difference without signs, as in ``0.04 to 0.09``."""
    limits = [getattr(row, f"against_{reference}_{end}") for end in ("low", "high")]
    magnitudes = sorted(abs(end) for end in limits if end is not None)
    if len(magnitudes) < 2:
        return f"about {rounded(abs(getattr(row, f'against_{reference}')), 3)}"
    return " to ".join(rounded_beside_zero(end, _decimals(row, reference)) for end in magnitudes)


def format_difference(row: TrendRow, reference: str) -> str:
    """Return a difference with its interval, as in ``−0.06 (−0.09 to −0.04)``."""
    value, low, high = (getattr(row, f"against_{reference}{end}") for end in ("", "_low", "_high"))
    if value is None:
        return "–"
    decimals = _decimals(row, reference)
    text = f"{'+' if value > 0 else ''}{rounded(value, decimals)}"
    if low is None or high is None:
        return text
    return f"{text} ({rounded_beside_zero(low, decimals)} to {rounded_beside_zero(high, decimals)})"


def format_mean(row: TrendRow, *, with_interval: bool = True) -> str:
    """Return a mean, optionally with its interval."""
    decimals = decimals_of([(row.high - row.low) / 4])
    if not with_interval:
        return rounded(row.mean, decimals)
    return f"{rounded(row.mean, decimals)} ({rounded(row.low, decimals)} to {rounded(row.high, decimals)})"


def _decimals(row: TrendRow, reference: str) -> int:
    low, high = (getattr(row, f"against_{reference}_{end}") for end in ("low", "high"))
    return 3 if low is None or high is None else decimals_of([(high - low) / 8])


# Smallest share of failed scores that is reported.
_FEWEST_FAILED = 0.05
_MORE_FAILED, _DROPPED = "more-failed", "worse-than-before"
# Answer of each kind of finding on a line.
_ANSWERS = {
    WORSE: Side.REFUTED,
    _DROPPED: Side.REFUTED,
    WAS_WORSE: Side.OPEN,
    BETTER: Side.SHOWN,
}


def trend_findings(document: TrendDocument) -> list[Finding]:
    """Return findings: changed scoring, then for each line losses or gains and failed scores."""
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
            share = {"share": last.failed, "more": line.more_failed, "of": last.samples}
            share["failed"] = last.samples - last.scored
            findings.append(Finding(_MORE_FAILED, models, on=line.metric, figures=share, answer=Side.REFUTED))
        elif last.run == document.runs[-1] and last.failed >= _FEWEST_FAILED:
            findings.append(Finding("scores-failed", models, on=line.metric, figures={"share": last.failed}))
    is_severe = any(
        finding.kind in (_MORE_FAILED, WORSE, _DROPPED, WAS_WORSE, SCORING_CHANGED) for finding in findings
    )
    return findings if is_severe else [*findings, Finding("level", answer=Side.OPEN)]


def _line_finding_sentence(finding: Finding, document: TrendDocument) -> str:
    sentence = line_sentence if finding.kind == _MORE_FAILED else answer_sentence
    model = document.provenance.models[finding.models[0]]
    line = next(line for line in document.lines if (line.metric, line.model) == (finding.on, model))
    return f"{sentence(line)}."


def _no_change_sentence(_: Finding, document: TrendDocument) -> str:
    last, better = document.runs[-1], any(line.state == BETTER for line in document.lines)
    or_better = "" if better else " or better"
    return f"Nothing is shown to be worse{or_better} in {last} than in {document.baseline}."


def _scoring_change_sentence(finding: Finding, document: TrendDocument) -> str:
    at = names(list(document.scoring_changes[finding.on]))
    return f"The ruler of {finding.on} moved at {at}, as its fixed set shows: nothing is claimed across that."


def _failed_scores_sentence(finding: Finding, document: TrendDocument) -> str:
    share, model = percent(finding.figures["share"]), document.provenance.models[finding.models[0]]
    return f"{share} of the scores of {model} on {finding.on} failed in {document.runs[-1]}."


SENTENCES: Sentences[TrendDocument] = Sentences(
    dict.fromkeys((_MORE_FAILED, WORSE, _DROPPED, WAS_WORSE, BETTER), _line_finding_sentence)
    | {
        SCORING_CHANGED: _scoring_change_sentence,
        "scores-failed": _failed_scores_sentence,
        "level": _no_change_sentence,
    }
)
"""Sentence of each kind of finding."""
