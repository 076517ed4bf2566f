"""What changed over the runs, the gravest first, and how each kind of finding is said."""

from riskrank.engine.family import Side
from riskrank.studies.findings import Finding, Sentences
from riskrank.studies.trend.document import TrendDocument, TrendLine, TrendRow
from riskrank.studies.trend.states import BETTER, MOVED, OPEN, WAS_WORSE, WORSE
from riskrank.studies.wording import decimals_of, names, percent, rounded, rounded_beside_zero


def line_sentence(line: TrendLine) -> str:
    """What the last run comes to: that far more of it failed, else what is shown of its scores."""
    if line.more_failed is None:
        return answer_sentence(line)
    last = line.last
    return (
        f"{line.model} failed on {percent(line.more_failed)} more of {line.metric} in {last.run} than in the "
        f"baseline ({last.samples - last.scored:,} of {last.samples:,} have no score)"
    )


def answer_sentence(line: TrendLine) -> str:
    """What the last run is against the baseline, or against the run before, and since when."""
    who, last = f"{line.model} is", line.last
    if line.state == WORSE and line.shown is not None:
        when = f"since {line.since}" if line.since != line.shown.run else f"in {line.since}"
        return f"{who} shown worse on {line.metric} {when}, by {amount(line.shown)}"
    if line.drop:
        by = amount(last, "last")
        return f"{who} shown worse on {line.metric} in {last.run} than in the run before, by {by}"
    if line.state == WAS_WORSE and line.shown is not None:
        first = "" if line.since == line.shown.run else f" since {line.since}, and last"
        by = amount(line.shown)
        return (
            f"{line.model} was shown worse on {line.metric}{first} in {line.shown.run}, by {by}; "
            f"whether {last.run} still is, is open"
        )
    if line.state == BETTER:
        return f"{who} shown better on {line.metric} in {last.run}, by {amount(last)}"
    if line.state == MOVED:
        return f"the ruler of {line.metric} moved, so nothing is claimed of {line.model} across it"
    return f"{line.model} on {line.metric}: neither worse nor better is shown"


def amount(row: TrendRow, of: str = "baseline") -> str:
    """From how much to how much a run is better or worse, without a sign: ``0.04 to 0.09``."""
    ends = [getattr(row, f"against_{of}_{end}") for end in ("low", "high")]
    known = sorted(abs(end) for end in ends if end is not None)
    if len(known) < 2:
        return f"about {rounded(abs(getattr(row, f'against_{of}')), 3)}"
    return " to ".join(rounded_beside_zero(end, _decimals(row, of)) for end in known)


def difference(row: TrendRow, of: str) -> str:
    """A difference with its interval: ``−0.06 (−0.09 to −0.04)``."""
    value, low, high = (getattr(row, f"against_{of}{end}") for end in ("", "_low", "_high"))
    if value is None:
        return "–"
    decimals = _decimals(row, of)
    said = f"{'+' if value > 0 else ''}{rounded(value, decimals)}"
    if low is None or high is None:
        return said
    return f"{said} ({rounded_beside_zero(low, decimals)} to {rounded_beside_zero(high, decimals)})"


def mean_words(row: TrendRow, *, ends: bool = True) -> str:
    """A mean, with its interval."""
    decimals = decimals_of([(row.high - row.low) / 4])
    if not ends:
        return rounded(row.mean, decimals)
    return f"{rounded(row.mean, decimals)} ({rounded(row.low, decimals)} to {rounded(row.high, decimals)})"


def _decimals(row: TrendRow, of: str) -> int:
    low, high = (getattr(row, f"against_{of}_{end}") for end in ("low", "high"))
    return 3 if low is None or high is None else decimals_of([(high - low) / 8])


# From this share on failures are told.
_FAILED = 0.05
_MORE_FAILED, _DROPPED = "more-failed", "worse-than-before"
# The answer that each kind of finding on a line is.
_ANSWERS = {
    WORSE: Side.REFUTED,
    _DROPPED: Side.REFUTED,
    WAS_WORSE: Side.OPEN,
    BETTER: Side.SHOWN,
}


def trend_findings(document: TrendDocument) -> list[Finding]:
    """Losses first, then rulers that moved, gains, and scores that failed."""
    number = {model: at for at, model in enumerate(document.provenance.models)}
    found = [
        Finding(MOVED, on=metric, figures={"times": len(runs)})
        for metric, runs in document.moved.items()
        if runs
    ]
    for line in document.lines:
        last, models = line.last, (number[line.model],)
        kind = _DROPPED if line.drop and line.state != WORSE else line.state
        if kind not in (OPEN, MOVED):
            row, of = line.shown or last, "last" if kind == _DROPPED else "baseline"
            parts = {end: getattr(row, f"against_{of}{end}") for end in ("", "_low", "_high")}
            figures = {f"difference{end}": value for end, value in parts.items() if value is not None}
            answer = _ANSWERS[kind]
            found.append(Finding(kind, models, on=line.metric, figures=figures, answer=answer))
        if line.more_failed is not None:
            share = {"share": last.failed, "more": line.more_failed, "of": last.samples}
            share["failed"] = last.samples - last.scored
            found.append(Finding(_MORE_FAILED, models, on=line.metric, figures=share, answer=Side.REFUTED))
        elif last.run == document.runs[-1] and last.failed >= _FAILED:
            found.append(Finding("scores-failed", models, on=line.metric, figures={"share": last.failed}))
    grave = any(one.kind in (_MORE_FAILED, WORSE, _DROPPED, WAS_WORSE, MOVED) for one in found)
    return found if grave else [*found, Finding("level", answer=Side.OPEN)]


def _of_line(finding: Finding, document: TrendDocument) -> str:
    sentence = line_sentence if finding.kind == _MORE_FAILED else answer_sentence
    model = document.provenance.models[finding.models[0]]
    line = next(line for line in document.lines if (line.metric, line.model) == (finding.on, model))
    return f"{sentence(line)}."


def _level(_: Finding, document: TrendDocument) -> str:
    last, better = document.runs[-1], any(line.state == BETTER for line in document.lines)
    rest = "" if better else " or better"
    return f"Nothing is shown to be worse{rest} in {last} than in {document.baseline}."


def _moved(finding: Finding, document: TrendDocument) -> str:
    at = names(list(document.moved[finding.on]))
    return f"The ruler of {finding.on} moved at {at}, as its fixed set shows: nothing is claimed across that."


def _failed(finding: Finding, document: TrendDocument) -> str:
    share, model = percent(finding.figures["share"]), document.provenance.models[finding.models[0]]
    return f"{share} of the scores of {model} on {finding.on} failed in {document.runs[-1]}."


SENTENCES: Sentences[TrendDocument] = Sentences(
    dict.fromkeys((_MORE_FAILED, WORSE, _DROPPED, WAS_WORSE, BETTER), _of_line)
    | {MOVED: _moved, "scores-failed": _failed, "level": _level}
)
"""How each kind of finding is said."""
